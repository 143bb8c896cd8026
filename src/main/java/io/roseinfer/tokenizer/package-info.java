/**
 * Text to token ids and back: byte-level BPE as GPT-2 introduced it, with the ids of Hugging Face {@code tokenizers}, and a
 * detokenizer that streams.
 *
 * <p>The way of a text: {@link io.roseinfer.tokenizer.Tokenizer#encode} cuts out added tokens ({@code AddedTokenMatcher}), cuts
 * the rest into words by GPT-2's regular expression ({@code WordSplitter}), and merges each word's bytes
 * ({@code BytePairMerger} over a {@code MergeTable}, in {@code tokenizer.bpe}). The way back:
 * {@link io.roseinfer.tokenizer.Vocabulary} gives an id's bytes, {@code Utf8Decoder} turns bytes into text and never emits half a
 * character.
 *
 * <p>Invariants:
 * <ul>
 *   <li>A tokenizer is immutable; any thread may use it at any time. A call's own state lives in that call.
 *   <li>Time is O(n log n) in the text, whatever the text: no backtracking, no recursion, no rescanning.
 *   <li>One decoder: {@code decode(ids)} is a {@link io.roseinfer.tokenizer.Detokenizer} fed at once, so a stream's pieces
 *       always add up to the whole.
 *   <li>A file that asks for what this package cannot do is refused by name when it is loaded, never ignored. The exceptions,
 *       {@code truncation} and {@code padding}, are properties of a batch that the caller sets, as in transformers.
 * </ul>
 *
 * <p>Files that say different things about one tokenizer are put together as transformers 5 does, since the model was trained on
 * the ids it gave: GPT-2's own class takes no more than vocabulary and merges from {@code tokenizer.json}, any other class all of
 * it; special tokens that only a configuration names are tokens; and added tokens get their ids in a row. A test holds this
 * against a table of directories and the ids that transformers gives in each.
 *
 * <p>Why not jtokkit's encoder: it knows neither a directory's own files nor added tokens; here it is the source of GPT-2's
 * ranks and nothing else, so that every vocabulary takes one path. Why not Hugging Face's native library: it is the oracle of
 * the tests, but a library that must load its own binary on every platform is a poor thing to need for a few table look-ups.
 */
@NullMarked
package io.roseinfer.tokenizer;

import org.jspecify.annotations.NullMarked;

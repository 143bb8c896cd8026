/**
 * Text to token ids and back: BPE over bytes, as GPT-2 introduced it, or over code points, as SentencePiece has it; with the ids of
 * Hugging Face {@code tokenizers}, and a detokenizer that streams.
 *
 * <p>The way of a text: {@link io.roseinfer.tokenizer.Tokenizer#encode} cuts out added tokens ({@code AddedTokenMatcher}), normalizes
 * the rest ({@code Normalizer}), cuts out those added tokens that are looked for in normalized text, cuts the rest into words
 * ({@code PreTokenizer} with a {@code WordSplitter}), and merges each word's symbols ({@code Symbols}, {@code BytePairMerger} over a {@code
 * MergeTable}); {@link io.roseinfer.tokenizer.Tokenizer#encodePrompt} puts the tokens of the {@code PostProcessor}
 * around. The way back: {@link io.roseinfer.tokenizer.Vocabulary} gives an id's bytes, {@code Utf8Decoder} turns bytes into text and
 * never emits half a character, {@code ByteRun} does the same for byte fallback, whose runs are text or not as a whole.
 *
 * <p>Invariants:
 * <ul>
 *   <li>A tokenizer is immutable; any thread may use it at any time. A call's own state lives in that call.
 *   <li>Time is O(n log n) in the text, whatever the text, also if the whole text is one word: no backtracking, no recursion, no
 *       rescanning. Added tokens are found with a trie, and runs of combining marks are sorted ({@code NormalizationFormC}).
 *   <li>An interrupt ends a call. {@link io.roseinfer.base.Steps} counts its work and checks the interrupt status; a test compares the
 *       counts for texts made to be slow.
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
 * <p>transformers 5 builds the tokenizer of a Llama's own class anew, too, with another normalizer than the file's; transformers 4, vLLM
 * and the {@code tokenizers} library take the file as it is, and so does this package, but for {@code add_bos_token} and {@code
 * add_eos_token}. Normalization has the JDK's tables (Unicode 16); the oracle's is of Unicode 9, and a test lists the marks that differ.
 *
 * <p>Unicode: the character classes are those of the JDK (Unicode 16 in JDK 25), which for every code point are those of the
 * regular-expression engine inside {@code tokenizers} 0.21 (Oniguruma 6.9.10, Unicode 16 as well); a test compares both with
 * each other and with a checksum. Builds of {@code tokenizers} with an older Oniguruma cut letters and digits differently
 * that Unicode assigned later, and so will a later JDK: the checksum test then fails.
 *
 * <p>Why not {@link java.util.regex}: by hand the expressions are a few loops with switches ({@code WordRules}), whose cost on any
 * text can be read off them, while it backtracks, and reads {@code \s}, {@code (?i)} and {@code \h} otherwise than Oniguruma. The
 * price is that an expression must be known: it is recognized by its exact spelling.
 *
 * <p>Why not jtokkit's encoder: it knows neither a directory's own files nor added tokens; here it is the source of GPT-2's
 * ranks and nothing else, so that every vocabulary takes one path. Why not Hugging Face's native library: it is the oracle of
 * the tests, but a library that must load its own binary on every platform is a poor thing to need for a few table look-ups.
 */
@NullMarked
package io.roseinfer.tokenizer;

import org.jspecify.annotations.NullMarked;

/**
 * Tokenizers: BPE over bytes, as in GPT-2, or over code points, as in SentencePiece, with the ids of Hugging Face {@code tokenizers},
 * and a streaming detokenizer.
 *
 * <p>Encoding: {@link io.roseinfer.tokenizer.Tokenizer#encode} matches added tokens ({@code AddedTokenMatcher}), normalizes the rest
 * ({@code Normalizer}), and matches the added tokens for normalized text. The rest is split into words ({@code PreTokenizer} with a
 * {@code WordSplitter}), whose symbols are merged ({@code Symbols}, {@code BytePairMerger} over a {@code MergeTable}).
 * {@link io.roseinfer.tokenizer.Tokenizer#encodePrompt} adds the tokens of the {@code PostProcessor}. Decoding:
 * {@link io.roseinfer.tokenizer.Vocabulary} has an id's bytes, {@code Utf8Decoder} converts bytes to text and never emits part of a
 * character, and {@code ByteRun} does the same for byte fallback, whose runs are valid or invalid as a whole.
 *
 * <p>Invariants:
 * <ul>
 *   <li>A tokenizer is immutable and thread-safe. The state of a call is local to it.
 *   <li>Time is O(n log n) for every text, even if it is one word: no backtracking, no recursion, no rescanning. Added tokens are
 *       found with a trie, and runs of combining marks are sorted ({@code NormalizationFormC}).
 *   <li>An interrupt ends a call. {@link io.roseinfer.base.WorkCounter} counts its work and checks the interrupt status; a test compares the
 *       counts for adversarial texts.
 *   <li>There is one decoder: {@code decode(ids)} uses a {@link io.roseinfer.tokenizer.Detokenizer}, so the pieces of a stream always
 *       add up to the whole text.
 *   <li>A file that needs an unsupported feature is rejected by name when it is loaded, never ignored. The exceptions,
 *       {@code truncation} and {@code padding}, are properties of a batch that the caller sets, as in transformers.
 * </ul>
 *
 * <p>Contradictory files of one tokenizer are combined like in transformers 5, since the model was trained on its ids. GPT-2's class
 * uses only vocabulary and merges of {@code tokenizer.json}, other classes all of it. Special tokens that only a configuration names
 * are tokens, and added tokens get consecutive ids. A test compares this with a table of directories and the ids that transformers
 * gives for each.
 *
 * <p>transformers 5 also rebuilds the tokenizer of Llama's class with another normalizer than the file's; transformers 4, vLLM and the
 * {@code tokenizers} library use the file, and so does this package, except for {@code add_bos_token} and {@code add_eos_token}.
 * Normalization uses the JDK's tables (Unicode 16); those of {@code tokenizers} are of Unicode 9, and a test lists the marks that
 * differ.
 *
 * <p>Unicode: the character classes are those of the JDK (Unicode 16 in JDK 25), which for every code point equal those of the
 * regular-expression engine inside {@code tokenizers} 0.21 (Oniguruma 6.9.10, Unicode 16 as well); a test compares both with
 * each other and with a checksum. Builds of {@code tokenizers} with an older Oniguruma split letters and digits that Unicode assigned
 * later differently, and so will a later JDK: the checksum test then fails.
 *
 * <p>Why not {@link java.util.regex}: it backtracks, and interprets {@code \s}, {@code (?i)} and {@code \h} differently than
 * Oniguruma. Handwritten, the expressions are a few loops with options ({@code WordRules}) of obvious cost. But an expression must be
 * known: it is recognized by its exact text.
 *
 * <p>Why not jtokkit's encoder: it supports neither a directory's files nor added tokens; it is only the source of GPT-2's ranks, so
 * that every vocabulary takes the same path. Why not Hugging Face's native library: the tests compare with it, but it must load a
 * native binary on every platform.
 */
@NullMarked
package io.roseinfer.tokenizer;

import org.jspecify.annotations.NullMarked;

/**
 * The arithmetic of BPE: text cut into words ({@link io.roseinfer.tokenizer.bpe.WordSplitter}), words as symbols, which are bytes
 * ({@link io.roseinfer.tokenizer.bpe.ByteSymbols}, spelt in {@link io.roseinfer.tokenizer.bpe.ByteAlphabet}) or code points
 * ({@link io.roseinfer.tokenizer.bpe.CodePointSymbols}), and neighbours merged by rank
 * ({@link io.roseinfer.tokenizer.bpe.BytePairMerger} over a {@link io.roseinfer.tokenizer.bpe.MergeTable}).
 *
 * <p>Invariants: it knows no files, no added tokens and no tokenizer; time is O(n log n) in the text, whatever the text; a table
 * is read-only once it is filled, and a merger belongs to one call.
 *
 * <p>Unicode: the character classes are those of the JDK (Unicode 16 in JDK 25), which for every code point are those of the
 * regular-expression engine inside {@code tokenizers} 0.21 (Oniguruma 6.9.10, Unicode 16 as well); a test holds both against
 * each other and against a checksum. Builds of {@code tokenizers} with an older Oniguruma cut letters and digits differently
 * that Unicode assigned later, and so will a later JDK: the checksum test then says so.
 *
 * <p>Why not {@link java.util.regex}: by hand the expressions are a few loops with switches ({@link
 * io.roseinfer.tokenizer.bpe.WordRules}), whose cost on any text can be read off them, while it backtracks, and reads {@code \s}, {@code
 * (?i)} and {@code \h} otherwise than Oniguruma. The price is that an expression must be known: it is recognised by its exact spelling.
 */
@NullMarked
package io.roseinfer.tokenizer.bpe;

import org.jspecify.annotations.NullMarked;

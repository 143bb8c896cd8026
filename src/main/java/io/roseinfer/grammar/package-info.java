/**
 * Constrained decoding: a {@link io.roseinfer.grammar.Grammar} (context-free, its terminals regular languages) is
 * compiled against a model's vocabulary, and a {@link io.roseinfer.grammar.GrammarCursor} gives, before each token, the
 * mask of tokens that may come next. {@code GenerationRequest.withGrammar} restricts a completion to a grammar's texts.
 *
 * <p>The language is exact: a token is allowed if and only if the text so far and the token's bytes are a prefix of a
 * text of the grammar. No maximal munch is applied where terminals overlap.
 *
 * <p>Terminals are scanned by derivatives of regular expressions over bytes ({@code ByteRegexTable}). A generalized
 * parser follows every end of a terminal ({@code ParseTable}). Both are automata whose visited states are cached. Masks
 * come from walking the vocabulary's prefix tree with these states ({@code MaskBuilder}).
 */
@NullMarked
package io.roseinfer.grammar;

import org.jspecify.annotations.NullMarked;

package io.roseinfer.grammar;

import io.roseinfer.base.TokenMask;

/**
 * The tokens of a number of plain characters. If a lexeme allows any {@code max} plain characters, its mask contains
 * the slice's, and the slice's tree need not be walked. Immutable.
 *
 * @param min the minimum number of characters of a token
 * @param max the maximum number
 * @param trie the tokens
 * @param mask the tokens, not to be changed
 */
record PlainSlice(int min, int max, FlatTrie trie, TokenMask mask) {}

package io.roseinfer.grammar;

/**
 * The languages after one plain character of a language; see {@link PlainSlice}. Immutable.
 *
 * @param next the languages after the characters that are allowed, distinct
 * @param all whether all plain characters are allowed
 */
record PlainStep(ByteRegex[] next, boolean all) {}

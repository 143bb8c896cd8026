package io.roseinfer.grammar;

/**
 * A grammar in Backus–Naur form, in flat arrays. A position is an index into {@link #symbol}: a production with a dot
 * before one of its symbols, or at its {@link #END}. Immutable; every symbol derives a text.
 *
 * <p>Nonterminals are numbered from 0. Terminal {@code t} is the symbol {@code ~t}.
 */
final class Productions {
    /** The symbol at the end of a production. */
    static final int END = Integer.MIN_VALUE;

    private final int[] symbols;
    private final int[][] starts;
    private final boolean[] nullable;
    private final ByteRegex[] lexemes;
    private final int[] tokens;

    /**
     * Creates productions.
     *
     * @param symbols all productions, each ended by {@link #END}; the first is the start
     * @param starts first positions of productions by nonterminal
     * @param nullable whether a nonterminal derives the empty text
     * @param lexemes languages of the first terminals; none is empty or only the empty text
     * @param tokens token ids of the other terminals
     */
    Productions(int[] symbols, int[][] starts, boolean[] nullable, ByteRegex[] lexemes, int[] tokens) {
        this.symbols = symbols;
        this.starts = starts;
        this.nullable = nullable;
        this.lexemes = lexemes;
        this.tokens = tokens;
    }

    int symbol(int position) {
        return symbols[position];
    }

    int[] starts(int nonterminal) {
        return starts[nonterminal];
    }

    /** Returns whether a symbol, which is not {@link #END}, derives the empty text. */
    boolean isNullable(int symbol) {
        return symbol >= 0 ? nullable[symbol] : ~symbol < lexemes.length && lexemes[~symbol].nullable;
    }

    /** Returns whether a terminal symbol is one special token. */
    boolean isToken(int terminal) {
        return ~terminal >= lexemes.length;
    }

    int token(int terminal) {
        return tokens[~terminal - lexemes.length];
    }

    ByteRegex lexeme(int terminal) {
        return lexemes[~terminal];
    }
}

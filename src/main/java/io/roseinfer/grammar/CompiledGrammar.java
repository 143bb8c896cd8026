package io.roseinfer.grammar;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.TokenMask;

/**
 * A grammar compiled for a vocabulary. Parser states and masks are computed when a cursor needs them, and cached for all
 * cursors, up to {@link GrammarLimits#bytes}. Thread-safe.
 */
public final class CompiledGrammar {
    private final ByteRegexTable regexes;
    private final ByteClasses classes;
    private final ParseTable table;
    private final TokenTrie trie;
    private final int[] plainBytes;

    private CompiledGrammar(
            ByteRegexTable regexes, ByteClasses classes, ParseTable table, TokenTrie trie, int[] plainBytes) {
        this.regexes = regexes;
        this.classes = classes;
        this.table = table;
        this.trie = trie;
        this.plainBytes = plainBytes;
    }

    /**
     * Compiles a grammar, in time about linear in its size; it may take milliseconds, so not on an engine's thread.
     *
     * @throws BadInput if the grammar has no text, exceeds a limit or names an unknown special token
     */
    public static CompiledGrammar compile(Grammar grammar, TokenTrie trie, GrammarLimits limits) {
        ByteRegexTable regexes = new ByteRegexTable(limits.states(), trie.maxBytes());
        Runnable checkSize = () -> {
            if (regexes.permanentSize() > limits.bytes() / 2) {
                throw new BadInput("the grammar's regular expressions take more than " + limits.bytes() / 2
                        + " bytes (half of the limit); simplify them");
            }
        };
        ProductionsBuilder builder = new ProductionsBuilder(grammar, trie.vocabulary(), regexes, limits, checkSize);
        Productions productions = GrammarWork.compiling(limits.steps(), builder::build);
        ByteClasses classes = regexes.classes();
        ParseTable table = new ParseTable(productions, regexes, classes, limits);
        checkSize.run();
        return new CompiledGrammar(regexes, classes, table, trie, trie.plain().representatives(classes));
    }

    /** Returns a cursor before the first token. */
    public GrammarCursor newCursor() {
        return new GrammarCursor(table, classes, trie, new MaskBuilder(table, regexes, classes, trie, plainBytes));
    }

    /** Returns a mask over the vocabulary that allows no token. */
    public TokenMask newMask() {
        return trie.newMask();
    }

    /** Returns the approximate size of the caches, in bytes. */
    public long cachedBytes() {
        return table.size();
    }
}

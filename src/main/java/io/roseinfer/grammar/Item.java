package io.roseinfer.grammar;

/**
 * A production that has been matched up to a position, and where to go on once it is complete. {@link ParseTable} has
 * at most one item for a pair.
 */
final class Item {
    final long id;
    final int position;
    final Return target;

    /** The last traversal that reached the item; used under the table's lock. */
    long visit;

    Item(long id, int position, Return target) {
        this.id = id;
        this.position = position;
        this.target = target;
    }

    /**
     * The items that go on when a nonterminal that began at some point of the text is complete. The graph of returns is
     * the stack of a generalized parser; left recursion makes it cyclic.
     */
    static final class Return {
        final long id;

        /** Items after the nonterminal; empty for the end of the start symbol. */
        Item[] waiting = {};

        Return(long id) {
            this.id = id;
        }
    }
}

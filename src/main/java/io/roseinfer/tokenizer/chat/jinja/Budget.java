package io.roseinfer.tokenizer.chat.jinja;

import io.roseinfer.base.WorkCounter;

/** Limits the steps, text and depth of one rendering. Values are paid for before they are created. */
final class Budget {
    /**
     * Maximum of evaluations plus items and characters created; a conversation of a million characters takes a tenth of
     * it.
     */
    static final long MAX_STEPS = 100_000_000;

    /** Maximum characters of one string, somewhat more than a prompt may have. */
    static final int MAX_CHARS = 16_000_000;

    private static final int MAX_DEPTH = 400;

    private final WorkCounter work = new WorkCounter();
    private int depth;

    void spend(long cost) {
        work.add(Math.max(1, cost));
        if (work.count() > MAX_STEPS) {
            throw new TemplateError("the template takes more than " + MAX_STEPS + " steps");
        }
    }

    /** Pays for a string. */
    void text(long chars) {
        append(0, chars);
    }

    /** Pays for an addition to a string of some length. */
    void append(long length, long added) {
        if (length + added > MAX_CHARS) {
            throw new TemplateError("a string has more than " + MAX_CHARS + " characters");
        }
        spend(added);
    }

    void enter() {
        if (++depth > MAX_DEPTH) {
            throw new TemplateError("calls and expressions are nested more than " + MAX_DEPTH + " deep");
        }
    }

    void leave() {
        depth--;
    }
}

package io.roseinfer.tokenizer.chat.jinja;

import io.roseinfer.base.Steps;

/** The steps, text and depth that one rendering may take. Whatever a template makes is paid for before it is made. */
final class Budget {
    /** Evaluations, and items and characters made on the way: a conversation of a million characters takes a tenth of it. */
    static final long MAX_STEPS = 100_000_000;

    /** Characters of one text: as many as a prompt may have, and then some. */
    static final int MAX_CHARS = 16_000_000;

    private static final int MAX_DEPTH = 400;

    private final Steps steps = new Steps();
    private int depth;

    void spend(long cost) {
        steps.take(Math.max(1, cost));
        if (steps.taken() > MAX_STEPS) {
            throw new TemplateError("it takes more than " + MAX_STEPS + " steps");
        }
    }

    /** Pays for a text. */
    void text(long chars) {
        append(0, chars);
    }

    /** Pays for what is added to a text of some length. */
    void append(long length, long added) {
        if (length + added > MAX_CHARS) {
            throw new TemplateError("a text of it has more than " + MAX_CHARS + " characters");
        }
        spend(added);
    }

    void enter() {
        if (++depth > MAX_DEPTH) {
            throw new TemplateError("it is more than " + MAX_DEPTH + " calls and expressions deep");
        }
    }

    void leave() {
        depth--;
    }
}

package io.roseinfer.tokenizer.chat.jinja;

import io.roseinfer.base.Steps;

/** The steps, text and depth that one rendering may take. Whatever a template makes is paid for before it is made. */
final class Budget {
    /** Evaluations, and items and characters made on the way: a conversation of a million characters takes a tenth of it. */
    static final long MOST_STEPS = 100_000_000;

    /** Characters of one text: as many as a prompt may have, and then some. */
    static final int MOST_CHARS = 16_000_000;

    private static final int MOST_DEPTH = 400;

    private final Steps steps = new Steps();
    private int depth;

    void spend(long cost) {
        steps.take(Math.max(1, cost));
        if (steps.taken() > MOST_STEPS) {
            throw new TemplateError("it takes more than " + MOST_STEPS + " steps");
        }
    }

    /** Pays for a text. */
    void text(long chars) {
        append(0, chars);
    }

    /** Pays for what is added to a text of some length. */
    void append(long length, long added) {
        if (length + added > MOST_CHARS) {
            throw new TemplateError("a text of it has more than " + MOST_CHARS + " characters");
        }
        spend(added);
    }

    void enter() {
        if (++depth > MOST_DEPTH) {
            throw new TemplateError("it is more than " + MOST_DEPTH + " calls and expressions deep");
        }
    }

    void leave() {
        depth--;
    }
}

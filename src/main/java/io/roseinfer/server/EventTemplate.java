package io.roseinfer.server;

import io.roseinfer.engine.GeneratedToken;
import io.roseinfer.server.http.ByteSink;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * An event of a stream with holes where events differ, so that telling a token is copying bytes. It is made of an event as JSON that
 * has marks in those places, so the event is spelt in one place alone.
 */
final class EventTemplate {
    /** What events differ in. */
    enum Hole {
        /** The text, within its quotes. */
        TEXT,
        /** The ids of tokens, in a list. */
        IDS,
        /** How many tokens of the call have been told. */
        COMPLETION_TOKENS,
        /** How many tokens the call has with those of its prompts. */
        TOTAL_TOKENS;

        /** Nobody can guess it, so no name that a client makes up holds it. */
        private final String mark = UUID.randomUUID().toString();

        /** The string to put there; what is no text replaces its quotes, too. */
        String mark() {
            return mark;
        }

        private String quoted() {
            return this == TEXT ? mark : '"' + mark + '"';
        }
    }

    private static final byte[] COMMA = {','};

    private final List<byte[]> fixed = new ArrayList<>();
    private final List<Hole> holes = new ArrayList<>();

    /** A template of an event as it is written, with marks; each at most once. */
    EventTemplate(String marked) {
        int from = 0;
        while (true) {
            int at = marked.length();
            Hole next = null;
            for (Hole hole : Hole.values()) {
                int found = marked.indexOf(hole.quoted(), from);
                if (found >= 0 && found < at) {
                    at = found;
                    next = hole;
                }
            }
            fixed.add(marked.substring(from, at).getBytes(StandardCharsets.UTF_8));
            if (next == null) {
                return;
            }
            holes.add(next);
            from = at + next.quoted().length();
        }
    }

    /** Appends an event of some tokens. */
    void append(ByteSink bytes, String text, List<GeneratedToken> tokens, int completionTokens, int promptTokens) {
        bytes.put(fixed.getFirst());
        for (int i = 0; i < holes.size(); i++) {
            switch (holes.get(i)) {
                case TEXT -> bytes.putJson(text);
                case IDS -> putIds(bytes, tokens);
                case COMPLETION_TOKENS -> bytes.putNumber(completionTokens);
                case TOTAL_TOKENS -> bytes.putNumber(promptTokens + completionTokens);
            }
            bytes.put(fixed.get(i + 1));
        }
    }

    private static void putIds(ByteSink bytes, List<GeneratedToken> tokens) {
        for (int i = 0; i < tokens.size(); i++) {
            if (i > 0) {
                bytes.put(COMMA);
            }
            bytes.putNumber(tokens.get(i).id());
        }
    }
}

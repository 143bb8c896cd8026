package io.roseinfer.server;

import io.roseinfer.engine.GeneratedToken;
import io.roseinfer.server.http.ByteSink;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * A stream event with gaps for the variable parts, so that sending a token copies bytes instead of building JSON. It is
 * made from a JSON event with placeholders, so the event's format is defined in one place.
 */
final class EventTemplate {
    /** The varying parts of events. */
    enum Hole {
        /** The text, inside its quotes. */
        TEXT,
        /** The ids of tokens, in a list. */
        IDS,
        /** The number of the call's tokens sent so far. */
        COMPLETION_TOKENS,
        /** That number plus the tokens of the prompts. */
        TOTAL_TOKENS;

        /** Random, so that no text of a client can contain it. */
        private final String mark = UUID.randomUUID().toString();

        /** Returns the placeholder; if it is not text, the value also replaces the quotes. */
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

    /** Creates a template from an event with marks, each at most once. */
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

    /** Appends an event with some tokens. */
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

package io.roseinfer.bench.http;

import io.roseinfer.bench.load.OfferedRequest;
import java.util.Arrays;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/**
 * One request on its way, and what has come back of it. The thread that sends writes the times before, the thread that reads writes the
 * rest; nobody else looks at it before it has ended.
 */
final class Call {
    final int id;
    final OfferedRequest request;

    /** When it was to be sent; when nothing of the load's own held it back any more; just before its first byte was written. */
    long dueNanos;

    long readyNanos;
    long sentNanos;
    /** When the last event with a choice came, and the last byte of the answer. */
    long lastChoiceNanos;

    long endNanos;

    int promptTokens = CompletionEvent.UNKNOWN;
    int completionTokens = CompletionEvent.UNKNOWN;
    int totalTokens = CompletionEvent.UNKNOWN;
    int cachedTokens = CompletionEvent.UNKNOWN;
    String error = "";

    /** Whether any event had a choice, and any of these a reason for the end. */
    boolean hasChoice;

    boolean hasFinish;

    /** Whether the stream ended without {@code [DONE]}. */
    boolean withoutDone;

    /** Whether the connection ended before the first byte of a response; whether the request was sent again for that. */
    boolean unanswered;

    boolean resent;

    /** What the other side says of its own times, and the same as it came over the wire. */
    Optional<ServerStamps> server = Optional.empty();

    Optional<JsonNode> rawStamps = Optional.empty();

    /** The whole answer, if an engine in this process gave it. */
    Optional<EngineAnswer> engine = Optional.empty();

    /** What an event with a choice says of tokens that are neither listed nor counted in it. */
    enum Content {
        /** It has text, so at least one token. */
        TEXT,
        /** It has none: a token whose text comes with the next, or a server that only shows that it is alive. */
        EMPTY,
        /** It has none and names the role, as chat does before the first token. */
        ROLE,
        /** It ends the stream. */
        END
    }

    /** For each event with a choice: its time, its ids, the usage so far, and what else it says. */
    long[] eventNanos;

    int[] eventIds;
    int[] eventUsage;
    Content[] eventContent;
    int events;

    Call(int id, OfferedRequest request) {
        this.id = id;
        this.request = request;
        int room = request.outputTokens() + 4;
        eventNanos = new long[room];
        eventIds = new int[room];
        eventUsage = new int[room];
        eventContent = new Content[room];
    }

    /** Takes in an event of the answer. */
    void add(CompletionEvent event, long nanos) {
        if (event.completionTokens >= 0) {
            completionTokens = event.completionTokens;
            promptTokens = event.promptTokens;
            totalTokens = event.totalTokens;
            cachedTokens = Math.max(cachedTokens, event.cachedTokens);
        }
        if (event.stamps.isPresent()) {
            rawStamps = event.stamps;
        }
        if (event.hasChoice) {
            hasChoice = true;
            hasFinish |= event.hasFinish;
            lastChoiceNanos = nanos;
            Content content = content(event);
            if (content != Content.END || event.ids > 0 || event.completionTokens >= 0) {
                add(nanos, event.ids, event.completionTokens, content);
            }
        }
    }

    private static Content content(CompletionEvent event) {
        if (event.hasText) {
            return Content.TEXT;
        }
        if (event.hasFinish) {
            return Content.END;
        }
        return event.hasRole ? Content.ROLE : Content.EMPTY;
    }

    /** Takes in tokens whose number is known. */
    void addTokens(long nanos, int count) {
        lastChoiceNanos = nanos;
        add(nanos, count, CompletionEvent.UNKNOWN, Content.TEXT);
    }

    private void add(long nanos, int ids, int usage, Content content) {
        if (events == eventNanos.length) {
            int room = 2 * events;
            eventNanos = Arrays.copyOf(eventNanos, room);
            eventIds = Arrays.copyOf(eventIds, room);
            eventUsage = Arrays.copyOf(eventUsage, room);
            eventContent = Arrays.copyOf(eventContent, room);
        }
        eventNanos[events] = nanos;
        eventIds[events] = ids;
        eventUsage[events] = usage;
        eventContent[events] = content;
        events++;
    }

    /** Keeps the first thing that went wrong. */
    void fail(String why) {
        if (error.isEmpty()) {
            error = why;
        }
    }
}

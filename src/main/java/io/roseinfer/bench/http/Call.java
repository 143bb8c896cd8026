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
    String error = "";

    /** What the other side says of its own times, and the same as it came over the wire. */
    Optional<ServerStamps> server = Optional.empty();

    Optional<JsonNode> rawStamps = Optional.empty();

    /** For each event with a choice: its time, its ids, the usage so far, and whether it has text. */
    long[] eventNanos;

    int[] eventIds;
    int[] eventUsage;
    boolean[] eventText;
    int events;

    Call(int id, OfferedRequest request) {
        this.id = id;
        this.request = request;
        int room = request.outputTokens() + 4;
        eventNanos = new long[room];
        eventIds = new int[room];
        eventUsage = new int[room];
        eventText = new boolean[room];
    }

    /** Takes in an event of the answer. */
    void add(CompletionEvent event, long nanos) {
        if (event.completionTokens >= 0) {
            completionTokens = event.completionTokens;
            promptTokens = event.promptTokens;
            totalTokens = event.totalTokens;
        }
        if (event.stamps.isPresent()) {
            rawStamps = event.stamps;
        }
        if (event.hasChoice) {
            lastChoiceNanos = nanos;
            boolean onlyEnd = event.hasFinish && !event.hasText && event.ids <= 0;
            if (!onlyEnd || event.completionTokens >= 0) {
                add(nanos, event.ids, event.completionTokens, event.hasText || !event.hasFinish);
            }
        }
    }

    /** Takes in tokens whose number is known. */
    void addTokens(long nanos, int count) {
        lastChoiceNanos = nanos;
        add(nanos, count, CompletionEvent.UNKNOWN, true);
    }

    private void add(long nanos, int ids, int usage, boolean text) {
        if (events == eventNanos.length) {
            int room = 2 * events;
            eventNanos = Arrays.copyOf(eventNanos, room);
            eventIds = Arrays.copyOf(eventIds, room);
            eventUsage = Arrays.copyOf(eventUsage, room);
            eventText = Arrays.copyOf(eventText, room);
        }
        eventNanos[events] = nanos;
        eventIds[events] = ids;
        eventUsage[events] = usage;
        eventText[events] = text;
        events++;
    }

    /** Keeps the first thing that went wrong. */
    void fail(String why) {
        if (error.isEmpty()) {
            error = why;
        }
    }
}

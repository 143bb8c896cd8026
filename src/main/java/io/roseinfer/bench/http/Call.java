package io.roseinfer.bench.http;

import io.roseinfer.bench.load.OfferedRequest;
import io.roseinfer.engine.Prompt;
import java.util.Arrays;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/**
 * A request in flight and its response so far. The sending thread writes the send times, the reading thread everything else; other
 * threads do not access a call before it has ended.
 */
final class Call {
    final int id;
    /** The request; of a later turn, its whole prompt is known after the previous turn. */
    OfferedRequest request;

    /** The next turn of its conversation. */
    Optional<Call> next = Optional.empty();

    /** Whether it was sent, or failed because the previous turn did; and whether it has a slot of the limit on requests in flight. */
    boolean hasBegun;

    boolean hasSlot;

    /** The request's scheduled time, the end of its wait for a concurrency limit, and the time just before its first byte was written. */
    long dueNanos;

    long readyNanos;
    long sentNanos;
    /** The time of the last event with a choice, and of the last byte of the response. */
    long lastChoiceNanos;

    long endNanos;

    int promptTokens = CompletionEvent.UNKNOWN;
    int completionTokens = CompletionEvent.UNKNOWN;
    int totalTokens = CompletionEvent.UNKNOWN;
    int cachedTokens = CompletionEvent.UNKNOWN;
    String error = "";

    /** Whether any event had a choice, and any choice a finish reason. */
    boolean hasChoice;

    boolean hasFinish;

    /** Whether the stream ended without {@code [DONE]}. */
    boolean withoutDone;

    /** Whether the connection ended before the first byte of a response, and whether the request was therefore sent again. */
    boolean unanswered;

    boolean resent;

    /** The server's timestamps, and the same as received. */
    Optional<ServerStamps> server = Optional.empty();

    Optional<JsonNode> rawStamps = Optional.empty();

    /** Ids of the generated tokens from events, kept only for a next turn. */
    private int[] answer = {};

    private int answerLength;

    /** The response of an in-process engine. */
    Optional<EngineResponse> engine = Optional.empty();

    /** The content of an event with a choice that has neither token ids nor usage. */
    enum Content {
        /** Text, so at least one token. */
        TEXT,
        /** No text: a token whose text follows with the next one, or a keep-alive. */
        EMPTY,
        /** No text but the role, as before the first token of a chat. */
        ROLE,
        /** The end of the stream. */
        END
    }

    /** For each event with a choice: its time, number of token ids, completion tokens so far by usage, and content. */
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

    /** Completes the prompt of this turn, or fails it, because the previous turn has ended. */
    void continueAfter(Call previous) {
        int[] generated = previous.engine
                .map(EngineResponse::ids)
                .orElseGet(() -> Arrays.copyOf(previous.answer, previous.answerLength));
        if (!previous.error.isEmpty()) {
            fail("the previous turn of its conversation failed");
        } else if (generated.length == 0) {
            fail("the server sent no token ids of the previous answer, which this turn's prompt contains");
        } else if (previous.request.prompt() instanceof Prompt.Tokens before) {
            request = request.after(before.ids(), generated);
        } else {
            fail("the previous turn of its conversation has a text prompt");
        }
    }

    /** Adds an event of the response. */
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
        if (next.isPresent() && event.ids > 0) {
            answer = Arrays.copyOf(answer, answerLength + event.ids);
            System.arraycopy(event.tokenIds, 0, answer, answerLength, event.ids);
            answerLength += event.ids;
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

    /** Adds an event with a known number of tokens. */
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

    /** Sets the error, unless there is one. */
    void fail(String why) {
        if (error.isEmpty()) {
            error = why;
        }
    }
}

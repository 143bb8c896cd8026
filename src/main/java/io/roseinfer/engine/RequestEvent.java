package io.roseinfer.engine;

import io.roseinfer.metrics.RequestTimeline;
import io.roseinfer.scheduler.FinishReason;
import java.util.Locale;
import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;
import org.jspecify.annotations.Nullable;

/**
 * A request in a flight recording, from being accepted to its ending; what its duration has beyond queue, prefill and decode is
 * tokenizing. A request that was accepted before the recording began is left out.
 */
@Name("roseinfer.Request")
@Label("Request")
@Category("roseinfer")
@Description("A request, from being accepted to its ending")
@StackTrace(false)
final class RequestEvent extends Event {
    private static final RequestEvent PROBE = new RequestEvent();

    @Label("Request")
    long request;

    @Label("Prompt Tokens")
    int promptTokens;

    @Label("Cached Tokens")
    @Description("Tokens of the prompt that were found in the prefix cache")
    int cachedTokens;

    @Label("Completion Tokens")
    int completionTokens;

    @Label("Queue")
    @Description("From tokenized to admitted")
    @Timespan(Timespan.NANOSECONDS)
    long queueNanos;

    @Label("Prefill")
    @Description("From admitted to the first token")
    @Timespan(Timespan.NANOSECONDS)
    long prefillNanos;

    @Label("Decode")
    @Description("From the first token to the ending")
    @Timespan(Timespan.NANOSECONDS)
    long decodeNanos;

    @Label("Finish Reason")
    @Nullable
    String finishReason;

    /** An event that begins now, or null when no recording wants it. */
    static @Nullable RequestEvent begun() {
        if (!PROBE.isEnabled()) {
            return null;
        }
        RequestEvent event = new RequestEvent();
        event.begin();
        return event;
    }

    /** Ends the event, with what became of the request. Where there is no memory for it, the recording goes without. */
    void commit(long id, FinishReason reason, TokenBuffer buffer) {
        end();
        if (!shouldCommit()) {
            return;
        }
        try {
            fill(id, reason, buffer);
            commit();
        } catch (OutOfMemoryError full) {
            // The request's ending is not to suffer for its record.
        }
    }

    private void fill(long id, FinishReason reason, TokenBuffer buffer) {
        RequestTimeline timeline = buffer.timeline();
        long[] tokens = timeline.tokenNanos();
        long firstToken = tokens.length == 0 ? timeline.finishedNanos() : tokens[0];
        request = id;
        promptTokens = buffer.promptIds().length;
        cachedTokens = buffer.cachedTokens();
        completionTokens = tokens.length;
        if (promptTokens > 0) {
            queueNanos = timeline.admittedNanos() - timeline.tokenizedNanos();
            prefillNanos = firstToken - timeline.admittedNanos();
            decodeNanos = timeline.finishedNanos() - firstToken;
        }
        finishReason = reason.name().toLowerCase(Locale.ROOT);
    }
}

package io.roseinfer.bench.http;

import java.util.List;

/**
 * Events of a run that are not errors but belong beside its results.
 *
 * @param openedLate connections that had to be opened while requests were due
 * @param resent requests that were sent again because the server had closed an idle connection
 * @param unanswered requests that were not sent, or ended early, because the run was interrupted
 * @param withoutDone responses that ended with a finish reason but without {@code [DONE]}
 */
public record Oddities(int openedLate, long resent, long unanswered, long withoutDone) {
    /** None, as of a run on simulated time. */
    public static final Oddities NONE = new Oddities(0, 0, 0, 0);

    /** Returns the oddities of calls that have ended. */
    static Oddities of(List<Call> calls, int openedLate, long unanswered) {
        return new Oddities(
                openedLate,
                calls.stream().filter(call -> call.resent).count(),
                unanswered,
                calls.stream().filter(call -> call.withoutDone).count());
    }
}

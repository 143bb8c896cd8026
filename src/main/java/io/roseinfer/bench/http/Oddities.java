package io.roseinfer.bench.http;

import java.util.List;

/**
 * Events of a run that are not errors but should be reported with its results.
 *
 * @param openedLate connections opened while requests were scheduled
 * @param resent requests resent because the server had closed an idle connection
 * @param unanswered requests not sent or ended early because the run was interrupted
 * @param withoutDone responses that ended with a finish reason but without {@code [DONE]}
 */
public record Oddities(int openedLate, long resent, long unanswered, long withoutDone) {
    /** No oddities, for runs in simulated time. */
    public static final Oddities NONE = new Oddities(0, 0, 0, 0);

    /** Counts the oddities of ended calls. */
    static Oddities of(List<Call> calls, int openedLate, long unanswered) {
        return new Oddities(
                openedLate,
                calls.stream().filter(call -> call.resent).count(),
                unanswered,
                calls.stream().filter(call -> call.withoutDone).count());
    }
}

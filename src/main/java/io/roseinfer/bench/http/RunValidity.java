package io.roseinfer.bench.http;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;

/**
 * The validity of a run.
 *
 * @param reasons reasons why the run is invalid; empty if it is valid
 * @param remedies remedies for the next run; empty if the run is valid or none are known
 * @param notes further information about the results
 * @param extrapolatedShare share of simulated time in steps whose costs are extrapolated, 0 to 1; empty without measured costs
 */
@JsonPropertyOrder("valid")
public record RunValidity(
        List<String> reasons,
        List<String> remedies,
        List<String> notes,
        @JsonInclude(JsonInclude.Include.NON_ABSENT) OptionalDouble extrapolatedShare) {
    /** The smallest share of extrapolated time that is noted, which rounds to 0.1 %. */
    public static final double MIN_NOTED_SHARE = 0.0005;

    /** The largest share of extrapolated time of a run that is not marked as extrapolated; no stated error applies beyond it. */
    public static final double MAX_EXTRAPOLATED_SHARE = 0.05;

    public RunValidity {
        reasons = List.copyOf(reasons);
        remedies = List.copyOf(remedies);
        notes = List.copyOf(notes);
    }

    /**
     * The criteria of validity.
     *
     * @param maxLagMillis maximum p99 dispatch lag; 1 % of the median time to first token is always allowed
     * @param maxFailed maximum share of failed requests, 0 to 1; if most requests fail, the metrics of the others do not represent the load
     * @param ignoresEos whether every completion must have the requested length
     * @param hasEngine whether the engine runs, or is simulated, in the client's process
     * @param floor the client baseline, if it was measured
     * @param contextLength the model's context length, if known
     */
    public record Rules(
            double maxLagMillis,
            double maxFailed,
            boolean ignoresEos,
            boolean hasEngine,
            Optional<ClientBaseline> floor,
            OptionalInt contextLength) {
        /** Creates rules for an unknown context length. */
        public Rules(
                double maxLagMillis,
                double maxFailed,
                boolean ignoresEos,
                boolean hasEngine,
                Optional<ClientBaseline> floor) {
            this(maxLagMillis, maxFailed, ignoresEos, hasEngine, floor, OptionalInt.empty());
        }
    }

    @JsonProperty("valid")
    public boolean isValid() {
        return reasons.isEmpty();
    }

    /** Returns the share of extrapolated time in words that follow the verdict, if it is large; otherwise an empty text. */
    public String muchExtrapolated() {
        double share = extrapolatedShare.orElse(0);
        return share <= MAX_EXTRAPOLATED_SHARE
                ? ""
                : String.format(Locale.ROOT, ", but %.1f %% of the simulated time is extrapolated", 100 * share);
    }

    /** Returns the verdict with additional notes, which come first. */
    public RunValidity with(List<String> more) {
        List<String> all = new ArrayList<>(more);
        all.addAll(notes);
        return new RunValidity(reasons, remedies, all, extrapolatedShare);
    }

    /** Returns the verdict of a simulated run with a share of extrapolated time, 0 to 1. */
    public RunValidity withExtrapolated(OptionalDouble share) {
        return new RunValidity(reasons, remedies, notes, share);
    }

    /** Returns the verdict with an additional reason, for which a remedy is known. */
    public RunValidity withReason(String reason, String remedy) {
        List<String> allReasons = new ArrayList<>(reasons);
        allReasons.add(reason);
        List<String> allRemedies = new ArrayList<>(remedies);
        allRemedies.add(remedy);
        return new RunValidity(allReasons, allRemedies, notes, extrapolatedShare);
    }

    /**
     * Judges a run. It is invalid if the client was late, the server's counts contradict the response, or too few requests completed. A
     * missed request rate needs no separate rule: on an absolute schedule it shows as growing lag.
     */
    public static RunValidity of(LoadResult run, Rules rules) {
        List<String> reasons = new ArrayList<>();
        List<String> remedies = new ArrayList<>();
        List<String> notes = new ArrayList<>();
        List<CallResult> completed = run.completed();
        int failures = run.calls().size() - completed.size();
        if (run.oddities().unanswered() > 0) {
            reasons.add("the run was interrupted with " + run.oddities().unanswered() + " requests unanswered");
        }
        if (completed.isEmpty()) {
            reasons.add("no request completed" + firstError(run.calls()));
        } else if (failures > rules.maxFailed() * run.calls().size()) {
            reasons.add(String.format(
                    Locale.ROOT,
                    "%s; at most %.1f %% may fail (--max-failed)",
                    failures(run),
                    100 * rules.maxFailed()));
        }
        DispatchLag lateness = DispatchLag.of(run, rules.maxLagMillis());
        lateness.reason(run, rules.hasEngine()).ifPresent(reason -> {
            reasons.add(reason);
            remedies.addAll(lateness.remedies(run, rules.hasEngine(), rules.floor()));
        });
        List<CallResult> full = new ArrayList<>();
        List<String> wrong = new ArrayList<>();
        for (CallResult call : completed) {
            if (rules.ignoresEos() && endsAtContext(call, rules.contextLength())) {
                full.add(call);
            } else {
                UsageCheck.contradiction(call, rules.ignoresEos()).ifPresent(wrong::add);
            }
        }
        if (!full.isEmpty()) {
            CallResult first = full.getFirst();
            reasons.add(full.size() + " of " + completed.size() + " requests ended at the model's context of "
                    + rules.contextLength().orElse(0) + " tokens: request " + first.id() + " has a prompt of "
                    + first.inputTokens() + " tokens and requested " + first.askedTokens()
                    + "; request fewer, or use a model with a longer context");
        }
        if (!wrong.isEmpty()) {
            reasons.add("the server's counts are wrong for " + wrong.size() + " of " + completed.size() + " requests: "
                    + wrong.getFirst());
        }
        cached(run, completed, rules.hasEngine()).ifPresent(notes::add);
        notes(run, completed, notes);
        return new RunValidity(reasons, remedies, notes, OptionalDouble.empty());
    }

    private static boolean endsAtContext(CallResult call, OptionalInt contextLength) {
        return contextLength.isPresent()
                && call.tokens() < call.askedTokens()
                && call.inputTokens() + call.tokens() >= contextLength.getAsInt();
    }

    private static Optional<String> cached(LoadResult run, List<CallResult> completed, boolean hasEngine) {
        long cached = completed.stream()
                .mapToLong(CallResult::cachedTokens)
                .filter(tokens -> tokens > 0)
                .sum();
        String cache = hasEngine
                ? "prefix cache and not computed; to measure without hits, add --no-prefix-cache"
                : "server's prefix cache and not computed; to measure without hits, disable the cache"
                        + " or give random prompts another --seed";
        return cached == 0
                ? Optional.empty()
                : Optional.of(cached + " of " + run.inputTokens() + " prompt tokens were in the " + cache);
    }

    private static void notes(LoadResult run, List<CallResult> completed, List<String> notes) {
        if (completed.size() < run.calls().size()) {
            notes.add(failures(run));
        }
        long held = run.calls().stream().filter(call -> call.heldNanos() > 0).count();
        if (held > 0) {
            notes.add(held + " requests waited in the client for --max-concurrency: TTFT and E2EL start after"
                    + " that wait, the latencies from scheduled time before it");
        }
        long forced =
                SchedulerCounts.of(run).map(SchedulerCounts::forcedAdmissions).orElse(0L);
        if (forced > 0) {
            notes.add(forced + " admissions were forced by --max-passes, not chosen by the admission policy;"
                    + " --max-passes none lifts the limit");
        }
        long uncounted = completed.stream()
                .filter(call -> call.arrivals().counted() == CallResult.Counted.NOT)
                .count();
        if (uncounted > 0) {
            notes.add("ITL excludes " + uncounted + " requests: the server does not report the tokens of each event");
        }
        Oddities odd = run.oddities();
        if (odd.openedLate() > 0) {
            notes.add(odd.openedLate()
                    + " connections were opened while requests were due; their dispatch lag includes that time");
        }
        if (odd.resent() > 0) {
            notes.add(odd.resent() + " requests were sent again on a new connection: the server had closed an idle one;"
                    + " their latency includes that time");
        }
        if (odd.withoutDone() > 0) {
            notes.add(odd.withoutDone() + " streams ended without [DONE]");
        }
    }

    private static List<CallResult> failed(LoadResult run) {
        return run.calls().stream().filter(call -> !call.isComplete()).toList();
    }

    private static String failures(LoadResult run) {
        List<CallResult> failed = failed(run);
        return failed.size() + " of " + run.calls().size() + " requests failed" + firstError(failed);
    }

    /** Returns the first error as the end of a message; empty if there is none. */
    private static String firstError(List<CallResult> calls) {
        return calls.stream()
                .flatMap(call -> call.error().stream())
                .findFirst()
                .map(why -> ", first error: " + why)
                .orElse("");
    }
}

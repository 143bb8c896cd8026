package io.roseinfer.bench.report;

import io.roseinfer.backend.KvGeometry;
import io.roseinfer.backend.StepProfile;
import io.roseinfer.bench.RunResult;
import io.roseinfer.bench.http.CallResult;
import io.roseinfer.bench.http.ClientCost;
import io.roseinfer.bench.http.EngineResponse;
import io.roseinfer.bench.http.LoadResult;
import io.roseinfer.bench.http.Oddities;
import io.roseinfer.bench.load.OfferedRequest;
import io.roseinfer.engine.EngineStats;
import io.roseinfer.engine.RequestCounts;
import io.roseinfer.metrics.RequestStamps;
import io.roseinfer.metrics.RequestTimeline;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.scheduler.FinishReason;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/** Handmade results with timestamps in microseconds after a nonzero start. */
final class Results {
    static final long START_NANOS = 5_000_000_000L;

    private Results() {}

    static CallResult request(
            int id, int promptTokens, long startUs, long endUs, long tokenizedUs, long admittedUs, long... tokenUs) {
        long finishUs = tokenUs[tokenUs.length - 1] + 50;
        RequestTimeline timeline = new RequestTimeline(
                nanos(startUs),
                nanos(tokenizedUs),
                nanos(admittedUs),
                LongStream.of(tokenUs).map(Results::nanos).toArray(),
                nanos(finishUs),
                new long[tokenUs.length],
                0);
        int tokens = tokenUs.length;
        return new CallResult(
                id,
                promptTokens,
                tokens,
                times(0, nanos(startUs)),
                new CallResult.Arrived(CallResult.Counted.IDS, new long[] {0}, new int[] {tokens}),
                new CallResult.Usage(promptTokens, tokens, promptTokens + tokens, 3),
                Optional.empty(),
                Optional.empty(),
                Optional.of(new EngineResponse(
                        new RequestStamps(nanos(startUs), nanos(endUs), timeline),
                        FinishReason.LENGTH,
                        IntStream.range(100, 100 + tokens).toArray())),
                OfferedRequest.Traits.NONE);
    }

    private static CallResult.Times times(long lagNanos, long sentNanos) {
        return new CallResult.Times(sentNanos - lagNanos, sentNanos - lagNanos, sentNanos, sentNanos, sentNanos);
    }

    private static CallResult rejected(int id) {
        return new CallResult(
                id,
                1,
                1,
                times(0, START_NANOS),
                new CallResult.Arrived(CallResult.Counted.NOT, new long[0], new int[0]),
                new CallResult.Usage(-1, -1, -1),
                Optional.empty(),
                Optional.of("overloaded"));
    }

    private static CallResult late(CallResult call, long lagNanos) {
        return new CallResult(
                call.id(),
                call.promptTokens(),
                call.askedTokens(),
                times(lagNanos, call.times().sentNanos()),
                call.arrivals(),
                call.usage(),
                call.server(),
                call.error(),
                call.engine(),
                call.traits());
    }

    /** Returns a run whose accepted requests were sent before the rejected ones, each with its lag if lags are given. */
    static RunResult run(List<CallResult> requests, int rejected, long submitWallUs, Long... lagUs) {
        List<Long> lagNanos = Stream.of(lagUs).map(us -> us * 1_000).toList();
        return run(requests, rejected, submitWallUs, lagNanos, List.of(), List.of());
    }

    static RunResult run(
            List<CallResult> requests,
            int rejected,
            long submitWallUs,
            List<Long> lagNanos,
            List<StepRecord> steps,
            List<StepProfile> profile) {
        List<CallResult> calls = new ArrayList<>(requests);
        IntStream.range(0, rejected).mapToObj(i -> rejected(1000 + i)).forEach(calls::add);
        for (int i = 0; i < lagNanos.size(); i++) {
            calls.set(i, late(calls.get(i), lagNanos.get(i)));
        }
        EngineStats after = new EngineStats(
                new KvGeometry(16, 128, 4096),
                0,
                3,
                0,
                0,
                40,
                Map.of(Fact.PREEMPTIONS, 2L),
                new RequestCounts(0, 0, Map.of(), 0, 0));
        return new RunResult(
                new LoadResult(
                        START_NANOS,
                        START_NANOS + 1,
                        !lagNanos.isEmpty(),
                        calls,
                        ClientCost.NONE,
                        Oddities.NONE,
                        steps),
                nanos(submitWallUs),
                after,
                profile);
    }

    static long nanos(long microsAfterStart) {
        return START_NANOS + microsAfterStart * 1_000;
    }
}

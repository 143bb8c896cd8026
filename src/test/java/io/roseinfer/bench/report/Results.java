package io.roseinfer.bench.report;

import io.roseinfer.backend.KvGeometry;
import io.roseinfer.bench.RequestResult;
import io.roseinfer.bench.RunResult;
import io.roseinfer.engine.EngineStats;
import io.roseinfer.engine.RequestCounts;
import io.roseinfer.metrics.RequestStamps;
import io.roseinfer.metrics.RequestTimeline;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.scheduler.FinishReason;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;

/** Hand-made results, stamps in microseconds after a start that is not zero. */
final class Results {
    static final long START_NANOS = 5_000_000_000L;

    private Results() {}

    static RequestResult request(
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
        List<Integer> ids =
                LongStream.range(0, tokenUs.length).mapToObj(i -> 100 + (int) i).toList();
        return new RequestResult(
                id,
                promptTokens,
                3,
                new RequestStamps(nanos(startUs), nanos(endUs), timeline),
                FinishReason.LENGTH,
                ids);
    }

    static RunResult run(List<RequestResult> requests, int rejected, long submitWallUs, Long... lagUs) {
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
                START_NANOS,
                requests,
                rejected,
                submitWallUs * 1_000,
                List.of(lagUs).stream().map(us -> us * 1_000).toList(),
                after,
                List.of(),
                List.of());
    }

    static long nanos(long microsAfterStart) {
        return START_NANOS + microsAfterStart * 1_000;
    }
}

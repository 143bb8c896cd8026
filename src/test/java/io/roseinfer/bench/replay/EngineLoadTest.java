package io.roseinfer.bench.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.bench.http.CallResult;
import io.roseinfer.bench.http.ClientCost;
import io.roseinfer.bench.http.LoadResult;
import io.roseinfer.bench.http.Oddities;
import io.roseinfer.bench.http.ServerStamps;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Requests at 0, 1, … 9 ns. */
class EngineLoadTest {
    private static final int REQUESTS = 10;

    /** Returns a request that waits and is served until the last one is due. */
    private static CallResult call(int due, Optional<Integer> engine) {
        return new CallResult(
                due,
                1,
                1,
                new CallResult.Times(due, due, due, REQUESTS, REQUESTS),
                new CallResult.Arrived(CallResult.Counted.IDS, new long[] {REQUESTS}, new int[] {1}),
                new CallResult.Usage(1, 1, 2),
                engine.map(index -> new ServerStamps(
                        due,
                        due,
                        due,
                        REQUESTS,
                        new long[] {REQUESTS},
                        new long[0],
                        new long[0],
                        new ServerStamps.Served(index, 0))),
                Optional.empty());
    }

    private static EngineLoad load(List<CallResult> calls) {
        return EngineLoad.of(new LoadResult(0, REQUESTS, true, calls, ClientCost.NONE, Oddities.NONE, List.of()), 2);
    }

    @Test
    void load_is_of_the_busiest_engine() {
        List<CallResult> calls = IntStream.range(0, REQUESTS)
                .mapToObj(i -> call(i, Optional.of(i < 4 ? 1 : 0)))
                .toList();
        // The first four requests are there for 9, 8, 7 and 6 ns, the others for 15 ns in all.
        assertThat(load(calls)).isEqualTo(new EngineLoad(30 / 9.0, 30 / 9.0, 1, 1));
    }

    @Test
    void request_without_an_engine_counts_for_all_in_equal_parts() {
        List<CallResult> calls = IntStream.range(0, REQUESTS)
                .mapToObj(i -> call(i, i < 4 ? Optional.empty() : Optional.of(0)))
                .toList();
        assertThat(load(calls)).isEqualTo(new EngineLoad((15 + 30 / 2.0) / 9, 15 / 9.0, 1, 1));
    }
}

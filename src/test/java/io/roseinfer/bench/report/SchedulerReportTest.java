package io.roseinfer.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.bench.SchedulerBenchmark.Mode;
import io.roseinfer.bench.SchedulerRun;
import io.roseinfer.bench.SchedulerRun.RequestTimes;
import java.util.List;
import org.junit.jupiter.api.Test;

class SchedulerReportTest {
    private static final long MS = 1_000_000;

    /** Requests of 4 tokens, added at 0 and 10 ms, first tokens at 10 and 20 ms. */
    private static SchedulerRun run(long decodeMs) {
        long finish = (20 + decodeMs) * MS;
        return new SchedulerRun(
                20 * MS,
                decodeMs * MS,
                6,
                List.of(new RequestTimes(6, 4, 10 * MS, finish), new RequestTimes(2, 4, 10 * MS, finish - 10 * MS)));
    }

    @Test
    void online_text_has_phases_and_latencies() {
        assertThat(SchedulerReport.text(Mode.ONLINE, 1, List.of(run(30), run(60))))
                .isEqualTo("""
                        === online summary ===
                        Warmup runs: 1
                        Measured runs: 2
                        Requests: 2
                        Prompt tokens: 8
                        Completion tokens: 8
                        Prefill time p50/mean: 0.020000/0.020000 s
                        Decode time p50/mean: 0.045000/0.045000 s
                        Total time p50/mean: 0.065000/0.065000 s
                        Throughput(prompt,prefill) p50/mean: 400.00/400.00 tokens/s
                        Throughput(completion,decode) p50/mean: 150.00/150.00 tokens/s
                        Throughput(completion,total) p50/mean: 130.00/130.00 tokens/s
                        TTFT p50/mean: 10.00/10.00 ms
                        TPOT p50/mean: 16.67/16.67 ms/token
                        Latency p50/mean: 60.00/60.00 ms
                        """);
    }

    @Test
    void offline_text_has_only_throughput() {
        assertThat(SchedulerReport.text(Mode.OFFLINE, 0, List.of(run(30)))).isEqualTo("""
                        === offline summary ===
                        Warmup runs: 0
                        Measured runs: 1
                        Requests: 2
                        Prompt tokens: 8
                        Completion tokens: 8
                        Total time p50/mean: 0.050000/0.050000 s
                        Throughput(completion,total) p50/mean: 160.00/160.00 tokens/s
                        Throughput(total,total) p50/mean: 320.00/320.00 tokens/s
                        """);
    }

    @Test
    void requests_of_one_token_have_no_decode_throughput() {
        SchedulerRun run = new SchedulerRun(10 * MS, 0, 0, List.of(new RequestTimes(6, 1, 10 * MS, 10 * MS)));
        assertThat(SchedulerReport.text(Mode.ONLINE, 0, List.of(run)))
                .contains("Throughput(completion,decode) p50/mean: 0.00/0.00 tokens/s");
    }

    @Test
    void tpot_covers_only_requests_with_at_least_two_tokens() {
        SchedulerRun run = new SchedulerRun(
                20 * MS,
                30 * MS,
                3,
                List.of(
                        new RequestTimes(6, 1, 10 * MS, 10 * MS),
                        new RequestTimes(6, 1, 10 * MS, 10 * MS),
                        new RequestTimes(6, 4, 20 * MS, 50 * MS)));
        assertThat(SchedulerReport.text(Mode.ONLINE, 0, List.of(run)))
                .contains("TPOT p50/mean: 10.00/10.00 ms/token\n");
    }
}

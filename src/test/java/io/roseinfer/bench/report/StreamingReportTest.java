package io.roseinfer.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.bench.http.CallResult;
import java.util.List;
import org.junit.jupiter.api.Test;

class StreamingReportTest {
    private static final StreamingReport.Setup SETUP =
            new StreamingReport.Setup("gpt2", "cuda", false, 0, 1, true, true, false);

    /** Two requests: tokenized inside the submit call, and 30 µs after it in a worker. */
    private static final List<CallResult> TWO = List.of(
            Results.request(0, 4, 0, 40, 20, 1_000, 31_000, 36_000, 41_000),
            Results.request(1, 4, 50, 70, 100, 1_000, 31_000, 36_000, 42_000));

    @Test
    void burst_text_has_no_schedule_lines() {
        String text = new StreamingReport(SETUP, "").text(Results.run(TWO, 0, 6_119));
        assertThat(text).isEqualTo("""
                        === streaming benchmark ===
                        Model: gpt2
                        Device: cuda
                        Pretok: False
                        Tokenize workers: 0
                        Stream interval: 1
                        Paged attention: True
                        CUDA Graph: True
                        NVTX: False
                        Requests: 2
                        Prompt tokens (total): 8
                        Completion tokens (total): 6
                        Submit wall: 0.006119 s
                        add_request latency p50/p95/p99: 0.03/0.04/0.04 ms
                        Tokenize p50/p95/p99: 0.02/0.03/0.03 ms
                        Queue wait (post-tok) p50/p95/p99: 0.94/0.98/0.98 ms
                        Prefill->first token p50/p95/p99: 30.00/30.00/30.00 ms
                        TTFT p50/p95/p99: 30.98/31.00/31.00 ms
                        TPOT p50/p95/p99: 5.25/5.48/5.50 ms/token
                        ITL p50/p95/p99: 5.00/5.85/5.97 ms
                        Latency p50/p95/p99: 41.53/41.95/41.99 ms
                        Throughput (completion,total): 142.69 tokens/s
                        """);
    }

    @Test
    void absolute_schedule_prints_interval_and_lag() {
        String text = new StreamingReport(SETUP, "1.000 ms / absolute").text(Results.run(TWO, 0, 1_050, 50L, 70L));
        assertThat(text).contains("""
                        Submit wall: 0.001050 s
                        Submit interval/schedule: 1.000 ms / absolute
                        Submit lag p50/p95/p99: 0.06/0.07/0.07 ms
                        add_request latency""");
    }

    @Test
    void relative_schedule_prints_no_lag() {
        String text = new StreamingReport(SETUP, "0.250 ms / relative").text(Results.run(TWO, 0, 1_050));
        assertThat(text).contains("Submit interval/schedule: 0.250 ms / relative\nadd_request latency");
    }

    @Test
    void rejected_requests_are_counted_after_accepted_ones() {
        String text = new StreamingReport(SETUP, "").text(Results.run(TWO, 5, 1_050));
        assertThat(text).contains("Requests: 2\nRejected: 5\nPrompt tokens (total): 8\n");
    }

    @Test
    void run_of_rejected_requests_prints_zeros() {
        String text = new StreamingReport(SETUP, "").text(Results.run(List.of(), 3, 10));
        assertThat(text)
                .contains("Requests: 0\nRejected: 3\nPrompt tokens (total): 0\n")
                .contains("TTFT p50/p95/p99: 0.00/0.00/0.00 ms\n")
                .endsWith("Throughput (completion,total): 0.00 tokens/s\n");
    }

    @Test
    void single_run_has_no_banner() {
        assertThat(StreamingReport.runBanner(1, 1)).isEmpty();
    }

    @Test
    void banners_of_several_runs_are_numbered_from_one() {
        assertThat(StreamingReport.warmupBanner(1, 1) + StreamingReport.runBanner(2, 3))
                .isEqualTo("=== warmup 1/1 ===\n=== run 2/3 ===\n");
    }
}

package io.roseinfer.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.base.StrictJson;
import io.roseinfer.bench.RunResult;
import io.roseinfer.bench.http.CallResult;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

class StreamingResultTest {
    private static final Environment ENVIRONMENT = new Environment(
            "25.0.3",
            Optional.of("a cpu"),
            OptionalInt.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.of("abc"),
            1_250_000_000L);
    private static final CallResult REQUEST = Results.request(7, 4, 10, 40, 20, 1_000, 31_000, 36_000, 41_000);

    private static JsonNode report(boolean withIds, RunResult run) {
        Map<String, Object> settings = new LinkedHashMap<>();
        settings.put("num_requests", 1);
        return ResultJson.tree(StreamingResult.of(settings, ENVIRONMENT, Optional.empty(), List.of(run), withIds));
    }

    private static JsonNode json(String text) {
        return StrictJson.parse(text.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void result_of_one_request_has_exactly_the_documented_fields() {
        assertThat(report(false, Results.run(List.of(REQUEST), 3, 6_119)))
                .hasToString(json("""
                {"schema":1,"settings":{"num_requests":1},
                 "environment":{"jdk":"25.0.3","cpu":"a cpu","vector_bits":null,"gpu":null,"driver":null,"commit":"abc","warm_up_ns":1250000000},
                 "over_runs":{
                   "add_request_ms":{"p50":{"median":0.03,"min":0.03,"max":0.03},"p95":{"median":0.03,"min":0.03,"max":0.03},"p99":{"median":0.03,"min":0.03,"max":0.03}},
                   "tokenize_ms":{"p50":{"median":0.0,"min":0.0,"max":0.0},"p95":{"median":0.0,"min":0.0,"max":0.0},"p99":{"median":0.0,"min":0.0,"max":0.0}},
                   "queue_wait_ms":{"p50":{"median":0.98,"min":0.98,"max":0.98},"p95":{"median":0.98,"min":0.98,"max":0.98},"p99":{"median":0.98,"min":0.98,"max":0.98}},
                   "prefill_ms":{"p50":{"median":30.0,"min":30.0,"max":30.0},"p95":{"median":30.0,"min":30.0,"max":30.0},"p99":{"median":30.0,"min":30.0,"max":30.0}},
                   "ttft_ms":{"p50":{"median":30.99,"min":30.99,"max":30.99},"p95":{"median":30.99,"min":30.99,"max":30.99},"p99":{"median":30.99,"min":30.99,"max":30.99}},
                   "tpot_ms":{"p50":{"median":5.0,"min":5.0,"max":5.0},"p95":{"median":5.0,"min":5.0,"max":5.0},"p99":{"median":5.0,"min":5.0,"max":5.0}},
                   "itl_ms":{"p50":{"median":5.0,"min":5.0,"max":5.0},"p95":{"median":5.0,"min":5.0,"max":5.0},"p99":{"median":5.0,"min":5.0,"max":5.0}},
                   "latency_ms":{"p50":{"median":41.04,"min":41.04,"max":41.04},"p95":{"median":41.04,"min":41.04,"max":41.04},"p99":{"median":41.04,"min":41.04,"max":41.04}},
                   "throughput_tok_s":{"median":73.09941520467837,"min":73.09941520467837,"max":73.09941520467837}},
                 "runs":[{
                   "summary":{
                     "add_request_ms":{"count":1,"p50":0.03,"p95":0.03,"p99":0.03,"mean":0.03,"max":0.03},
                     "tokenize_ms":{"count":1,"p50":0.0,"p95":0.0,"p99":0.0,"mean":0.0,"max":0.0},
                     "queue_wait_ms":{"count":1,"p50":0.98,"p95":0.98,"p99":0.98,"mean":0.98,"max":0.98},
                     "prefill_ms":{"count":1,"p50":30.0,"p95":30.0,"p99":30.0,"mean":30.0,"max":30.0},
                     "ttft_ms":{"count":1,"p50":30.99,"p95":30.99,"p99":30.99,"mean":30.99,"max":30.99},
                     "tpot_ms":{"count":1,"p50":5.0,"p95":5.0,"p99":5.0,"mean":5.0,"max":5.0},
                     "itl_ms":{"count":2,"p50":5.0,"p95":5.0,"p99":5.0,"mean":5.0,"max":5.0},
                     "latency_ms":{"count":1,"p50":41.04,"p95":41.04,"p99":41.04,"mean":41.04,"max":41.04},
                     "submit_wall_s":0.006119,"prompt_tokens":4,"completion_tokens":3,
                     "throughput_tok_s":73.09941520467837,
                     "host_us":{"count":0,"p50":null,"p95":null,"p99":null,"mean":null,"max":null},
                     "host_exposed_us":{"count":0,"p50":null,"p95":null,"p99":null,"mean":null,"max":null},
                     "host_wait_us":{"count":0,"p50":null,"p95":null,"p99":null,"mean":null,"max":null}},
                   "requests":[{"id":7,"prompt_tokens":4,"cached_tokens":3,"submit_start_ns":10000,"submit_end_ns":40000,
                     "tokenize_ns":20000,"admit_ns":1000000,"token_ns":[31000000,36000000,41000000],
                     "finish_ns":41050000,"finish_reason":"length"}],
                   "host_steps":[],"rejected":3,"cached_tokens":3,"preemptions":2,
                   "kv":{"blocks_total":128,"blocks_in_use_after":3}}]}
                """).toString());
    }

    @Test
    void result_with_ids_has_the_tokens_of_each_request() {
        assertThat(report(true, Results.run(List.of(REQUEST), 0, 10)).at("/runs/0/requests/0/ids"))
                .hasToString("[100,101,102]");
    }

    @Test
    void absolute_schedule_summarizes_the_lag() {
        assertThat(report(false, Results.run(List.of(REQUEST), 1, 10, 20L, 40L))
                        .at("/runs/0/summary/submit_lag_ms/max"))
                .hasToString("0.04");
    }

    @Test
    void result_of_rejected_requests_has_no_measurements() {
        assertThat(report(false, Results.run(List.of(), 2, 10)).at("/runs/0/summary/ttft_ms"))
                .hasToString("{\"count\":0,\"p50\":null,\"p95\":null,\"p99\":null,\"mean\":null,\"max\":null}");
    }
}

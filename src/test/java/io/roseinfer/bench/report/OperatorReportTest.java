package io.roseinfer.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.backend.Operator;
import io.roseinfer.backend.StepProfile;
import io.roseinfer.backend.StepProfile.Kind;
import io.roseinfer.backend.StepProfile.Part;
import io.roseinfer.base.StrictJson;
import io.roseinfer.bench.RunResult;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

class OperatorReportTest {
    private static final Environment NOWHERE = new Environment(
            "25", Optional.empty(), OptionalInt.empty(), Optional.empty(), Optional.empty(), Optional.empty(), 0);

    private static StepProfile decode(long stepNanos, long qkvNanos, long samplingNanos) {
        return new StepProfile(
                Kind.DECODE,
                2,
                2,
                stepNanos,
                List.of(
                        new Part(Operator.QKV, 12, qkvNanos, 20_000_000, 80_000_000),
                        new Part(Operator.SAMPLING, 1, samplingNanos, 0, 0)));
    }

    private static final StepProfile PREFILL =
            new StepProfile(Kind.PREFILL, 1, 256, 1_000_000, List.of(new Part(Operator.LOGITS, 1, 1_000_000, 0, 0)));

    private static final RunResult RUN = Results.run(
            List.of(),
            0,
            10,
            List.of(),
            List.of(),
            List.of(
                    decode(1_010_000, 800_000, 200_000),
                    decode(1_010_000, 600_000, 400_000),
                    PREFILL,
                    decode(1_980_000, 1_600_000, 360_000)));

    @Test
    void text_has_one_table_per_kind_of_step() {
        assertThat(OperatorReport.text(RUN)).isEqualTo("""
                === operators: 1 prefill steps, mean 1.0 rows and 256.0 tokens ===
                operator           calls    mean us     p50 us   share    GB/s  GFLOP/s
                logits                 1     1000.0     1000.0  100.0%       -        -
                sum                          1000.0     1000.0  100.0%
                step                         1000.0     1000.0  100.0%
                Step not in any operator: 0.00%
                === operators: 3 decode steps, mean 2.0 rows and 2.0 tokens ===
                operator           calls    mean us     p50 us   share    GB/s  GFLOP/s
                qkv                   12     1000.0      800.0   75.0%    20.0     80.0
                sampling               1      320.0      360.0   24.0%       -        -
                sum                          1320.0     1000.0   99.0%
                step                         1333.3     1010.0  100.0%
                Step not in any operator: 1.00%
                """);
    }

    @Test
    void text_of_a_run_without_profile_is_empty() {
        assertThat(OperatorReport.text(Results.run(List.of(), 0, 10))).isEmpty();
    }

    @Test
    void json_of_a_profiled_run_equals_the_tables() {
        JsonNode profile = ResultJson.tree(StreamingResult.of(Map.of(), NOWHERE, Optional.empty(), List.of(RUN), false))
                .at("/runs/0/profile/1");
        assertThat(profile.at("/operators/0"))
                .hasToString(
                        StrictJson.parse("""
                        {"name":"qkv","calls":12.0,
                         "time_us":{"count":3,"p50":800.0,"p95":1520.0,"p99":1584.0,"mean":1000.0,"max":1600.0},
                         "share":0.75,"gb_s":20.0,"gflop_s":80.0}
                        """.getBytes(StandardCharsets.UTF_8)).toString());
        assertThat(profile.at("/operators/1/gb_s").isNull()).isTrue();
        assertThat(profile.at("/kind").asString()).isEqualTo("decode");
        assertThat(profile.at("/sum_us/mean").asDouble()).isEqualTo(1320);
    }
}

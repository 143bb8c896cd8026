package io.roseinfer.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.base.StrictJson;
import io.roseinfer.bench.http.FakeServer;
import io.roseinfer.cli.CliRunner;
import io.roseinfer.cli.CliRunner.Outcome;
import io.roseinfer.cli.bench.BackendFlags.Effect;
import io.roseinfer.cli.flags.Choices;
import io.roseinfer.cli.flags.EndpointFlags.Kind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import tools.jackson.databind.JsonNode;

/** Tests of every flag of {@code bench serve} on every backend: honored, without effect, or refused. */
@Tag("process")
@Timeout(120)
class BackendFlagsTest {
    private static final List<Kind> BACKENDS = List.of(Kind.HTTP, Kind.ENGINE, Kind.NULL, Kind.SIM);

    /** The effect of each flag with --backend http, engine, null and sim. */
    private static final String TABLE = """
            --backend                     honored  honored  honored  honored
            --base-url                    honored  without  without  refused
            --endpoint-type               honored  without  without  refused
            --ignore-eos                  honored  honored  honored  honored
            --temperature                 honored  honored  honored  refused
            --chunk-counts                honored  without  honored  refused
            --server-stamps               honored  without  without  refused
            --header                      honored  without  without  refused
            --extra-body                  honored  without  without  refused
            --dataset                     honored  honored  honored  honored
            --dataset-path                honored  honored  honored  honored
            --random-input-len            honored  honored  honored  honored
            --random-output-len           honored  honored  honored  honored
            --random-range-ratio          honored  honored  honored  honored
            --random-prefix-len           honored  honored  honored  honored
            --random-vocab-size           honored  honored  honored  honored
            --random-max-tokens           honored  honored  honored  honored
            --random-prediction-error     honored  honored  honored  honored
            --conversation-turns          honored  honored  honored  honored
            --think-time-s                honored  honored  honored  honored
            --tenant                      honored  honored  honored  honored
            --clip-to                     honored  honored  honored  honored
            --num-prompts                 honored  honored  honored  honored
            --duration                    honored  honored  honored  honored
            --trim-warmup-s               honored  honored  honored  honored
            --trim-cooldown-s             honored  honored  honored  honored
            --max-concurrency             honored  honored  honored  honored
            --seed                        honored  honored  honored  honored
            --warmup-requests             honored  honored  honored  refused
            --stall-timeout-s             honored  honored  honored  refused
            --reader-threads              honored  honored  honored  refused
            --request-rate                honored  honored  honored  honored
            --burstiness                  honored  honored  honored  honored
            --trace-speed                 honored  honored  honored  honored
            --ramp-up-strategy            honored  honored  honored  honored
            --ramp-up-start-rps           honored  honored  honored  honored
            --ramp-up-end-rps             honored  honored  honored  honored
            --goodput                     honored  honored  honored  honored
            --slo                         honored  honored  honored  honored
            --max-dispatch-lag-ms         honored  honored  honored  refused
            --max-failed                  honored  honored  honored  honored
            --step-costs                  without  without  without  honored
            --step-cost-scale             without  without  without  honored
            --step-noise                  without  without  without  honored
            --engine-costs                refused  refused  refused  honored
            --death                       refused  refused  refused  honored
            --view-age                    refused  refused  refused  honored
            --scale-policy                refused  refused  refused  honored
            --scale-interval              refused  refused  refused  honored
            --start-up                    refused  refused  refused  honored
            --prefill-engines             refused  refused  refused  honored
            --kv-transfer                 refused  refused  refused  honored
            --model                       honored  honored  without  honored
            --device                      without  honored  without  refused
            --dtype                       without  honored  without  refused
            --kv-cache-dtype              without  honored  without  refused
            --threads                     without  honored  without  refused
            --max-model-len               without  honored  without  honored
            --offline                     without  honored  without  honored
            --paged-attn                  without  honored  without  refused
            --cuda-graph                  without  honored  without  refused
            --nvtx                        without  honored  without  refused
            --batch-invariant             without  honored  without  refused
            --memory-plan                 without  honored  without  honored
            --replicas                    without  honored  without  honored
            --routing                     without  honored  without  honored
            --max-inflight-requests       without  honored  without  refused
            --stream-interval             without  honored  without  refused
            --tokenize-workers            without  honored  without  refused
            --max-batch-size              without  honored  without  honored
            --prefill-max-batch-size      without  honored  without  honored
            --prefill-max-tokens          without  honored  without  honored
            --prefill-admission-policy    without  honored  without  honored
            --prefill-admission-lookahead without  honored  without  honored
            --prefill-force-fifo-every    without  honored  without  honored
            --preemption-policy           without  honored  without  honored
            --kv-eviction-policy          without  honored  without  honored
            --step-policy                 without  honored  without  honored
            --max-passes                  without  honored  without  honored
            --speculate                   without  honored  without  honored
            --decode-first                without  honored  without  honored
            --max-active-requests         without  honored  without  honored
            --no-prefix-cache             without  honored  without  honored
            --chunked-prefill             without  honored  without  honored
            --kv-blocks                   without  honored  without  honored
            --block-size                  without  honored  without  honored
            """;

    /** A nondefault value for each flag that some backend does not honor. */
    private static final Map<String, String> VALUES = Map.ofEntries(
            Map.entry("--base-url", "http://127.0.0.1:1"),
            Map.entry("--endpoint-type", "chat"),
            Map.entry("--header", "X=1"),
            Map.entry("--extra-body", "{\"top_k\":5}"),
            Map.entry("--temperature", "0.5"),
            Map.entry("--warmup-requests", "3"),
            Map.entry("--stall-timeout-s", "7"),
            Map.entry("--reader-threads", "2"),
            Map.entry("--max-dispatch-lag-ms", "9"),
            Map.entry("--step-costs", "step:1"),
            Map.entry("--step-cost-scale", "2"),
            Map.entry("--step-noise", "0.1"),
            Map.entry("--engine-costs", "0:step:1"),
            Map.entry("--death", "1:0"),
            Map.entry("--view-age", "50"),
            Map.entry("--scale-policy", "Mine"),
            Map.entry("--scale-interval", "1"),
            Map.entry("--start-up", "1"),
            Map.entry("--prefill-engines", "1"),
            Map.entry("--kv-transfer", "50"),
            Map.entry("--model", "random:gpt2"),
            Map.entry("--device", "cpu"),
            Map.entry("--dtype", "bf16"),
            Map.entry("--kv-cache-dtype", "fp8"),
            Map.entry("--max-model-len", "300"),
            Map.entry("--threads", "1"),
            Map.entry("--replicas", "4"),
            Map.entry("--routing", "prefix"),
            Map.entry("--max-inflight-requests", "5"),
            Map.entry("--stream-interval", "4"),
            Map.entry("--tokenize-workers", "2"),
            Map.entry("--max-batch-size", "5"),
            Map.entry("--prefill-max-batch-size", "3"),
            Map.entry("--prefill-max-tokens", "99"),
            Map.entry("--prefill-admission-policy", "pack"),
            Map.entry("--prefill-admission-lookahead", "9"),
            Map.entry("--prefill-force-fifo-every", "9"),
            Map.entry("--preemption-policy", "Mine"),
            Map.entry("--kv-eviction-policy", "Mine"),
            Map.entry("--step-policy", "Mine"),
            Map.entry("--max-passes", "9"),
            Map.entry("--speculate", "Mine"),
            Map.entry("--max-active-requests", "5"),
            Map.entry("--kv-blocks", "77"),
            Map.entry("--block-size", "32"));

    @TempDir
    private Path directory;

    private static Map<String, Map<Kind, Effect>> table() {
        Map<String, Map<Kind, Effect>> table = new LinkedHashMap<>();
        TABLE.lines().map(line -> line.strip().split(" +")).forEach(cells -> {
            Map<Kind, Effect> effects = new LinkedHashMap<>();
            for (int i = 0; i < BACKENDS.size(); i++) {
                effects.put(BACKENDS.get(i), effect(cells[i + 1]));
            }
            table.put(cells[0], effects);
        });
        return table;
    }

    private static Effect effect(String word) {
        return switch (word) {
            case "honored" -> Effect.HONORED;
            case "without" -> Effect.WITHOUT_EFFECT;
            default -> Effect.REFUSED;
        };
    }

    private static List<OptionSpec> options() {
        return CommandSpec.forAnnotatedObject(new BenchServeFlags()).options();
    }

    @Test
    void every_flag_of_every_backend_is_classified() {
        Map<String, Map<Kind, Effect>> effects = options().stream()
                .collect(Collectors.toMap(
                        option -> option.names()[0],
                        option -> BACKENDS.stream()
                                .collect(Collectors.toMap(
                                        backend -> backend, backend -> BackendFlags.effect(option, backend)))));
        assertThat(effects).containsExactlyInAnyOrderEntriesOf(table());
    }

    private static Stream<String> named(Kind backend, Effect effect) {
        return table().entrySet().stream()
                .filter(flag -> flag.getValue().get(backend) == effect)
                .map(Map.Entry::getKey);
    }

    private static String argument(String flag) {
        OptionSpec option =
                CommandSpec.forAnnotatedObject(new BenchServeFlags()).findOption(flag);
        if (option.arity().max() > 0) {
            return flag + "=" + VALUES.get(flag);
        }
        return option.negatable() && Boolean.TRUE.equals(option.getValue()) ? "--no-" + flag.substring(2) : flag;
    }

    static Stream<String> refusedOnSimulatedTime() {
        return named(Kind.SIM, Effect.REFUSED);
    }

    @ParameterizedTest
    @MethodSource("refusedOnSimulatedTime")
    void flag_that_is_not_simulated_is_rejected_by_name(String flag) {
        Outcome outcome = CliRunner.run(
                "bench", "serve", "--backend=sim", "--step-costs=step:1", "--num-prompts=1", argument(flag));
        assertThat(outcome.code()).as(outcome.err()).isEqualTo(2);
        assertThat(outcome.err())
                .startsWith("roseinfer: --backend sim does not simulate " + flag)
                .hasLineCount(1);
    }

    static Stream<Arguments> refusedInRealTime() {
        return real().flatMap(backend ->
                named(backend, Effect.REFUSED).map(flag -> Arguments.of(Choices.word(backend), flag)));
    }

    @ParameterizedTest
    @MethodSource("refusedInRealTime")
    void flag_of_a_simulated_fleet_is_rejected_by_name(String backend, String flag) {
        Outcome outcome = CliRunner.run("bench", "serve", "--backend=" + backend, "--num-prompts=1", argument(flag));
        assertThat(outcome.code()).as(outcome.err()).isEqualTo(2);
        assertThat(outcome.err())
                .startsWith("roseinfer: --backend " + backend + " has no simulated fleet: leave " + flag)
                .hasLineCount(1);
    }

    @Test
    void simulated_time_accepts_several_replicas_and_the_sim_device() {
        Outcome outcome = CliRunner.run(
                "bench",
                "serve",
                "--backend=sim",
                "--step-costs=step:1",
                "--num-prompts=2",
                "--replicas=3",
                "--device=sim",
                "--routing=pull",
                "--stream-interval=1",
                "--temperature=0",
                "--warmup-requests=0");
        assertThat(outcome.code()).as(outcome.err()).isZero();
    }

    static Stream<Kind> real() {
        return Stream.of(Kind.HTTP, Kind.ENGINE, Kind.NULL);
    }

    @ParameterizedTest
    @MethodSource("real")
    void flag_without_effect_is_noted_omitted_and_not_varied(Kind backend) throws IOException {
        List<String> without = named(backend, Effect.WITHOUT_EFFECT).toList();
        Path file = directory.resolve("run.json");
        try (FakeServer server = new FakeServer(FakeServer.tokens(5, 7, 5))) {
            List<String> base =
                    switch (backend) {
                        case HTTP -> List.of("--base-url=" + server.uri(), "--model=m");
                        case ENGINE -> List.of("--backend=engine", "--device=sim", "--model=random:gpt2");
                        default -> List.of("--backend=null");
                    };
            Stream<String> flags = Stream.of(
                            List.of("bench", "serve", "--num-prompts=1", "--max-dispatch-lag-ms=600000"),
                            List.of("--random-input-len=7", "--random-output-len=5", "--json=" + file),
                            base,
                            without.stream()
                                    .map(BackendFlagsTest::argument)
                                    .filter(flag -> !flag.startsWith("--base-url"))
                                    .toList())
                    .flatMap(List::stream);
            Outcome outcome = CliRunner.run(flags.toArray(String[]::new));
            assertThat(outcome.code()).as(outcome.err()).isZero();
            assertThat(without)
                    .filteredOn(flag -> !flag.equals("--base-url"))
                    .isNotEmpty()
                    .allSatisfy(flag -> assertThat(outcome.err()).contains("roseinfer: " + flag + " has no effect: "));
            JsonNode settings =
                    StrictJson.parse(Files.readAllBytes(file)).get("roseinfer").get("settings");
            assertThat(settings.propertyNames())
                    .doesNotContainAnyElementsOf(without.stream()
                            .map(flag -> flag.substring(2).replace('-', '_'))
                            .toList())
                    .contains("backend", "num_prompts", "seed");
            for (String flag : without) {
                String varied = VALUES.getOrDefault(flag, "true");
                Stream<String> sweep = Stream.of(
                                List.of("bench", "sweep"), base, List.of("--vary=" + flag.substring(2) + "=" + varied))
                        .flatMap(List::stream);
                Outcome refused = CliRunner.run(sweep.toArray(String[]::new));
                assertThat(refused.code()).as(refused.err()).isEqualTo(2);
                assertThat(refused.err())
                        .contains("--vary has " + flag + ", which has no effect")
                        .hasLineCount(1);
            }
        }
    }
}

package io.roseinfer.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.base.StrictJson;
import io.roseinfer.cli.CliRunner.Outcome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Tests of {@code bench fleet} and its flags. */
class FleetCommandTest {
    private static final List<String> LOAD = List.of(
            "--step-costs=step:2,token:0.1",
            "--num-prompts=60",
            "--request-rate=40",
            "--random-input-len=64",
            "--random-output-len=16");

    @TempDir
    private Path directory;

    private static Outcome run(List<String> command, String... flags) {
        return CliRunner.run(
                Stream.of(command, LOAD, List.of(flags)).flatMap(List::stream).toArray(String[]::new));
    }

    private JsonNode results(List<String> command, String... flags) throws IOException {
        Path file = directory.resolve("run.json");
        Outcome outcome = run(
                command,
                Stream.concat(Stream.of(flags), Stream.of("--json=" + file)).toArray(String[]::new));
        assertThat(outcome.code()).as(outcome.err()).isZero();
        return StrictJson.parse(Files.readAllBytes(file));
    }

    private static JsonNode measured(JsonNode results) {
        ObjectNode own = (ObjectNode) results.get("roseinfer");
        var unused = own.remove(List.of("command", "environment"));
        return results.get("errors").isNull() ? results : own;
    }

    @Test
    void comparison_prints_the_common_flags_and_failed_requests_only_if_a_request_failed() {
        List<String> command = List.of("bench", "ab", "--backend=sim", "--pairs=10", "--b=--prefill-max-batch-size=1");
        Outcome failing = run(command, "--engines=3", "--max-failed=100", "--death=0.25:1");
        assertThat(failing.out())
                .contains("Both: --backend=sim --step-costs=step:2,token:0.1 --num-prompts=60")
                .containsPattern("\nfailed_requests +[0-9.]+ +[0-9.]+ ");
        assertThat(run(command, "--engines=3").out()).doesNotContain("failed_requests");
    }

    @Test
    void page_has_a_row_for_each_engine_and_marks_failures() throws IOException {
        Path page = directory.resolve("fleet.html");
        Outcome outcome =
                run(List.of("bench", "fleet"), "--engines=3", "--max-failed=100", "--death=0.25:1", "--report=" + page);
        assertThat(outcome.code()).as(outcome.err()).isZero();
        assertThat(Files.readString(page))
                .containsPattern("<th[^>]*>engine 0</th>(<td>[^<]*</td>){7}<td>–</td>")
                .containsPattern("<th[^>]*>engine 1</th>(<td>[^<]*</td>){7}<td>0.250</td>")
                .contains("engine seconds", "an engine fails", ">engine 1</text>");
    }

    @Test
    void fleet_is_bench_serve_in_simulated_time() throws IOException {
        String[] flags = {"--death=0.5:1", "--view-age=20", "--routing=vllm", "--max-failed=1"};
        JsonNode fleet = results(
                List.of("bench", "fleet"),
                Stream.concat(Stream.of("--engines=3"), Stream.of(flags)).toArray(String[]::new));
        JsonNode serve = results(
                List.of("bench", "serve", "--backend=sim"),
                Stream.concat(Stream.of("--replicas=3"), Stream.of(flags)).toArray(String[]::new));
        assertThat(fleet.get("roseinfer").get("fleet").get("engines")).hasSize(3);
        assertThat(fleet.get("roseinfer")
                        .get("fleet")
                        .get("engines")
                        .get(1)
                        .get("failed_s")
                        .asDouble())
                .isEqualTo(0.5);
        assertThat(measured(fleet)).isEqualTo(measured(serve));
    }

    @Test
    void scaling_policy_is_compiled_from_a_file_and_its_hash_is_in_the_results() throws IOException {
        Path file = directory.resolve("Two.java");
        Files.writeString(file, """
                import io.roseinfer.engine.routing.FleetView;
                import io.roseinfer.engine.routing.ScalePolicy;

                public final class Two implements ScalePolicy {
                    @Override
                    public int replicas(FleetView fleet) {
                        return fleet.nowNanos() == 0 ? 1 : 2;
                    }
                }
                """);
        JsonNode results = results(
                List.of("bench", "fleet"),
                "--engines=3",
                "--scale-policy=" + file,
                "--scale-interval=0.25",
                "--start-up=0.5");
        JsonNode own = results.get("roseinfer");
        assertThat(own.get("fleet").get("counts").toString())
                .isEqualTo("[{\"s\":0.0,\"serving\":1,\"starting\":0,\"draining\":0},"
                        + "{\"s\":0.25,\"serving\":1,\"starting\":1,\"draining\":0},"
                        + "{\"s\":0.75,\"serving\":2,\"starting\":0,\"draining\":0}]");
        assertThat(own.get("environment").toString()).contains("\"Two\":");
    }

    @Test
    void engine_has_its_own_costs() {
        Outcome outcome = run(List.of("bench", "fleet"), "--engines=2", "--engine-costs=1:step:9");
        assertThat(outcome.code()).as(outcome.err()).isZero();
        assertThat(outcome.out())
                .contains("simulated time, step costs step:2,token:0.1; engine 1: step costs step:9")
                .contains("Engine seconds:");
    }

    @Test
    void studies_vary_the_flags_of_a_fleet() {
        Outcome sweep = run(
                List.of("bench", "sweep", "--backend=sim", "--engines=2", "--routing=least-tokens"),
                "--vary=view-age=0,50:blind");
        assertThat(sweep.code()).as(sweep.err()).isZero();
        Outcome ab = run(
                List.of("bench", "ab", "--backend=sim", "--a=--engines 2", "--b=--engines 3"),
                "--pairs=10",
                "--metric=engine_seconds");
        assertThat(ab.code()).as(ab.err()).isEqualTo(9);
    }

    /** A decode step takes less than 5 ms, and the transfer 20 ms. */
    @Test
    void prefill_engines_compute_the_prompts_and_send_their_keys_and_values() throws IOException {
        JsonNode own = results(
                        List.of("bench", "fleet"),
                        "--engines=3",
                        "--prefill-engines=1",
                        "--kv-transfer=50:20",
                        "--ignore-eos")
                .get("roseinfer");
        assertThat(own.get("fleet").get("engines").findValuesAsString("requests"))
                .first()
                .isEqualTo("60");
        JsonNode stamps = own.get("requests").get(0).get("server");
        assertThat(stamps.get("prefill_engine").asInt()).isZero();
        assertThat(stamps.get("engine").asInt()).isPositive();
        assertThat(stamps.get("token_ns").get(1).asLong()
                        - stamps.get("token_ns").get(0).asLong())
                .isBetween(20_000_000L, 30_000_000L);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            --engines=2 --prefill-engines=1 --kv-transfer=50 | not validated with prefill engines
            --engines=2 --death=0.2:1 --max-failed=100 | not validated with failures
            --engines=2 --routing=vllm --view-age=20   | not validated with --routing vllm, aged views
            """)
    void settings_that_no_validation_run_had_take_the_place_of_the_stated_error(String flags, String settings) {
        Outcome outcome = CliRunner.run(
                ("bench fleet --num-prompts=20 --request-rate=20 --random-input-len=64 --random-output-len=16 " + flags)
                        .split(" "));
        assertThat(outcome.code()).as(outcome.err()).isZero();
        assertThat(outcome.out()).contains(settings).doesNotContain("largest error");
    }

    @ParameterizedTest
    @CsvSource({"2, true", "1, false"})
    void age_of_the_views_is_a_setting_of_several_engines(int engines, boolean isSetting) {
        Outcome outcome = CliRunner.run(
                "bench",
                "fleet",
                "--num-prompts=20",
                "--random-input-len=64",
                "--random-output-len=16",
                "--engines=" + engines,
                "--view-age=20",
                "--routing=vllm");
        assertThat(outcome.code()).as(outcome.err()).isZero();
        assertThat(outcome.out().contains(", routing vllm, view age (ms) 20")).isEqualTo(isSetting);
        assertThat(outcome.out().contains("aged views")).isEqualTo(isSetting);
    }

    @Test
    void zero_prefill_engines_are_engines_together() throws IOException {
        JsonNode zero = results(List.of("bench", "fleet"), "--engines=2", "--prefill-engines=0", "--kv-transfer=50");
        JsonNode none = results(List.of("bench", "fleet"), "--engines=2");
        assertThat(zero.get("roseinfer").get("fleet"))
                .isEqualTo(none.get("roseinfer").get("fleet"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            --engines=1 --view-age=20 --routing=vllm  | --view-age has no effect: there is one engine
            --engines=2 --view-age=20                 | --view-age has no effect: no policy uses the state of engines
            --engines=2 --view-age=20 --routing=round-robin | --view-age has no effect: no policy uses
            --engines=1 --scale-policy=One.java       | --scale-policy has no effect: there is one engine
            --engines=2 --death=90:1                  | --death 90.0:1 had no effect: the run ended at
            --engines=3 --death=0.5:1 --death=0.6:1   | --death 0.6:1 had no effect: the engine had failed before
            --engines=2 --view-age=20 --routing=vllm  |
            --engines=2 --view-age=20 --scale-policy=One.java |
            --engines=2 --death=0.5:1                 |
            """)
    void flag_without_effect_is_named_in_a_note(String flags, @Nullable String note) throws IOException {
        Files.writeString(directory.resolve("One.java"), """
                public final class One implements io.roseinfer.engine.routing.ScalePolicy {
                    @Override
                    public int replicas(io.roseinfer.engine.routing.FleetView fleet) {
                        return 1;
                    }
                }
                """);
        Outcome outcome = run(
                List.of("bench", "fleet"),
                ("--max-failed=100 " + flags.replace("One.java", directory.resolve("One.java") + "")).split(" "));
        assertThat(outcome.code()).as(outcome.err()).isZero();
        String all = outcome.out() + outcome.err();
        if (note == null) {
            assertThat(all).doesNotContain("no effect");
        } else {
            assertThat(all).contains(note);
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            --backend=engine    | roseinfer: --backend is engine, but bench fleet is simulated
            --death=x:0         | roseinfer: --death is x:0; it must be seconds and the number of an engine, as in 10:0
            --death=1           | roseinfer: --death is 1; it must be
            --death=-1:0        | roseinfer: --death is -1:0; it must be
            --death=1:2         | roseinfer: --death is 1:2, but the engines are 0 to 1
            --engine-costs=run  | roseinfer: --engine-costs is run; it must be
            --engine-costs=7:step:1 | roseinfer: --engine-costs is 7:step:1, but the engines are 0 to 1
            --engine-costs=0:step:x | roseinfer: --engine-costs has x; it must be milliseconds
            --view-age=soon     | roseinfer: --view-age is soon; it must be milliseconds
            --view-age=-1       | roseinfer: --view-age is -1; it must be milliseconds
            --start-up=1        | roseinfer: --scale-interval and --start-up have no effect without a --scale-policy
            --prefill-engines=2 | roseinfer: --prefill-engines is 2 of 2 engines; leave at least one that decodes
            --prefill-engines=1 | roseinfer: --prefill-engines needs --kv-transfer, the rate in GB/s
            --kv-transfer=50    | roseinfer: --kv-transfer has no effect without --prefill-engines
            --prefill-engines=1 --kv-transfer=0 | roseinfer: --kv-transfer is 0; it must be GB/s above 0 or inf
            --prefill-engines=1 --kv-transfer=50: | roseinfer: --kv-transfer is 50:; it must be
            --prefill-engines=1 --kv-transfer=50:0:1 | roseinfer: --kv-transfer is 50:0:1; it must be
            --prefill-engines=1 --kv-transfer=50 --scale-policy=No | roseinfer: --prefill-engines cannot be combined with --scale-policy
            --scale-policy=No   | roseinfer: --scale-policy is 'No'; it must be all or FILE.java
            """)
    void invalid_flag_is_rejected(String flag, String message) {
        Outcome outcome = run(List.of("bench", "fleet", "--engines=2"), flag.split(" "));
        assertThat(outcome.code()).as(outcome.err()).isEqualTo(2);
        assertThat(outcome.err()).startsWith(message).hasLineCount(1);
    }
}

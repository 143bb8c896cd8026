package io.roseinfer.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.data.Percentage.withPercentage;

import io.roseinfer.base.StrictJson;
import io.roseinfer.bench.http.FakeServer;
import io.roseinfer.cli.CliRunner.Outcome;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.core.JsonPointer;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Tests of {@code bench sweep}, {@code bench ab} and {@code bench replay} in simulated time, independent of the machine. */
@Tag("process")
@Timeout(120)
class BenchStudiesTest {
    private static final List<String> SIMULATED = List.of(
            "--backend=sim",
            "--model=random:gpt2",
            "--step-costs=step:2,token:0.1",
            "--num-prompts=60",
            "--random-input-len=32",
            "--random-output-len=8");

    @TempDir
    private Path directory;

    private static Outcome bench(String study, String... flags) {
        return bench(study, SIMULATED, flags);
    }

    private static Outcome bench(String study, List<String> shared, String... flags) {
        return CliRunner.run(Stream.of(List.of("bench", study), shared, List.of(flags))
                .flatMap(List::stream)
                .toArray(String[]::new));
    }

    private String file(String name) {
        return directory.resolve(name).toString();
    }

    private JsonNode read(String name) throws IOException {
        return StrictJson.parse(Files.readAllBytes(directory.resolve(name))).get("roseinfer");
    }

    @Test
    void sweep_measures_every_combination_and_prints_the_knee() throws IOException {
        Outcome outcome = bench(
                "sweep",
                "--vary=request-rate=10,50,5000",
                "--vary=max-batch-size=4,8",
                "--goodput",
                "ttft:100",
                "tpot:50",
                "--json",
                file("sweep.json"),
                "--csv",
                file("sweep.csv"));
        assertThat(outcome.code()).as(outcome.err()).isZero();
        assertThat(outcome.out()).contains("sweep: 6 points", "Knee with max-batch-size=8:", "Highest rate");
        JsonNode own = read("sweep.json");
        assertThat(own.get("points")).hasSize(6);
        assertThat(own.get("settings")).hasSize(2);
        assertThat(own.get("command").valueStream().map(JsonNode::asString))
                .startsWith("bench", "sweep")
                .contains("--vary=request-rate=10,50,5000", "--vary=max-batch-size=4,8");
        assertThat(own.get("shared").valueStream().map(JsonNode::asString))
                .containsSequence("--goodput", "ttft:100", "tpot:50")
                .noneMatch(word -> word.contains("vary") || word.contains("json"));
        double knee = own.get("settings").get(0).get("knee").doubleValue();
        assertThat(knee).isBetween(40.0, 70.0);
        assertThat(directory.resolve("sweep.csv")).content().hasLineCount(7).startsWith("request-rate,max-batch-size,");
    }

    @Test
    void server_sweep_has_different_prompts_at_every_point() throws IOException {
        try (FakeServer server = new FakeServer(FakeServer.tokens(5, 7, 5))) {
            Outcome outcome = CliRunner.run(
                    "bench",
                    "sweep",
                    "--base-url=" + server.uri(),
                    "--model=m",
                    "--num-prompts=4",
                    "--random-input-len=7",
                    "--random-output-len=5",
                    "--max-dispatch-lag-ms=600000",
                    "--vary=max-concurrency=1,2");
            assertThat(outcome.code()).as(outcome.err()).isZero();
            assertThat(server.bodies()).hasSize(9).doesNotHaveDuplicates();
        }
    }

    @Test
    void sweep_resumes_after_an_interruption() throws IOException {
        assertThat(bench("sweep", "--vary=request-rate=10,20", "--json", file("sweep.json"))
                        .code())
                .isZero();
        JsonNode first = read("sweep.json").get("points").get(0);
        Outcome outcome = bench("sweep", "--vary=request-rate=10,20,30", "--resume", "--json", file("sweep.json"));
        assertThat(outcome.code()).as(outcome.err()).isZero();
        assertThat(outcome.err()).contains("request-rate=10:").containsPattern("request-rate=20: .*\\(resumed\\)");
        assertThat(read("sweep.json").get("points")).hasSize(3);
        assertThat(read("sweep.json").get("points").get(0)).isEqualTo(first);
        Outcome other = bench("sweep", "--seed=1", "--vary=request-rate=10", "--resume", "--json", file("sweep.json"));
        assertThat(other.code()).isEqualTo(2);
        assertThat(other.err()).contains("--resume: ", "was measured with").hasLineCount(1);
    }

    @Test
    void failing_point_of_a_sweep_is_named() {
        String vary = "prefill-admission-policy=fifo," + ThrowingPolicyTest.Bad.class.getName();
        Outcome outcome = bench("sweep", "--vary=" + vary, "--vary=request-rate=10");
        assertThat(outcome.code()).isEqualTo(7);
        assertThat(outcome.err())
                .contains("the sweep failed at point prefill-admission-policy=" + ThrowingPolicyTest.Bad.class.getName()
                        + " request-rate=10\n");
    }

    /** Prompts beyond the context are rejected, so the run is invalid. */
    @Test
    void resumed_sweep_measures_invalid_points_again() throws IOException {
        String[] flags = {"--vary=random-input-len=32,5000", "--vary=request-rate=10", "--json", file("sweep.json")};
        Outcome outcome = bench("sweep", flags);
        assertThat(outcome.code()).as(outcome.err()).isEqualTo(8);
        assertThat(outcome.err()).contains("1 of 2 points are invalid; --resume measures them again");
        assertThat(outcome.out())
                .containsPattern("Knee with random-input-len=32: [0-9.]+ requests/s or more\n")
                .contains("Knee with random-input-len=5000: unknown: the point at ", "Invalid: 1 of 2 points\n");
        Outcome again = bench(
                "sweep", Stream.concat(Stream.of(flags), Stream.of("--resume")).toArray(String[]::new));
        assertThat(again.code()).isEqualTo(8);
        assertThat(again.err().lines().filter(line -> line.endsWith("(resumed)")))
                .singleElement()
                .asString()
                .contains("random-input-len=32 ");
        assertThat(read("sweep.json").get("points")).hasSize(2);
    }

    @Test
    void rate_search_brackets_the_objective() throws IOException {
        Outcome outcome = bench(
                "sweep", "--find-rate=20", "--rate-resolution=10", "--goodput=ttft:60", "--json", file("sweep.json"));
        assertThat(outcome.code()).as(outcome.err()).isZero();
        double met = 0;
        double missed = Double.POSITIVE_INFINITY;
        for (JsonNode point : read("sweep.json").get("points")) {
            double rate = point.get("flags").get("request-rate").asDouble();
            met = point.get("meets").booleanValue() ? Math.max(met, rate) : met;
            missed = point.get("meets").booleanValue() ? missed : Math.min(missed, rate);
        }
        assertThat(met).isPositive();
        assertThat(missed / met).isBetween(1.0, 1.1);
    }

    /** The simulated server completes about 100 requests/s, two at a time. */
    @Test
    void rate_search_includes_the_wait_in_the_client_queue() throws IOException {
        Outcome outcome = bench(
                "sweep",
                "--find-rate=20",
                "--max-concurrency=2",
                "--goodput",
                "ttft:50",
                "e2el:200",
                "--json",
                file("sweep.json"));
        assertThat(outcome.code()).as(outcome.err()).isZero();
        assertThat(read("sweep.json").at("/settings/0/highest").doubleValue()).isBetween(20.0, 200.0);
        assertThat(read("sweep.json").at("/settings/0/highest_below").doubleValue())
                .isBetween(20.0, 200.0);
    }

    @Test
    void goodput_counts_from_the_scheduled_time() throws IOException {
        Outcome outcome = bench(
                "serve", "--request-rate=2000", "--max-concurrency=1", "--goodput=ttft:50", "--json", file("run.json"));
        assertThat(outcome.code()).as(outcome.err()).isZero();
        JsonNode root = StrictJson.parse(Files.readAllBytes(directory.resolve("run.json")));
        double all = root.get("request_throughput").doubleValue();
        assertThat(root.get("request_goodput").doubleValue()).isLessThan(all / 2);
        assertThat(root.at("/roseinfer/request_goodput_from_sent").doubleValue())
                .isEqualTo(all);
    }

    @Test
    void sweep_prints_its_points_if_the_server_dies() throws IOException {
        FakeServer.Script tokens = FakeServer.tokens(5, 7, 5);
        FakeServer server = new FakeServer(tokens);
        try (server) {
            Outcome outcome = CliRunner.run(
                    "bench",
                    "sweep",
                    "--base-url=" + server.uri(),
                    "--model=m",
                    "--num-prompts=4",
                    "--random-input-len=7",
                    "--random-output-len=5",
                    "--max-dispatch-lag-ms=600000",
                    "--vary=base-url=" + server.uri() + ",http://127.0.0.1:1");
            assertThat(outcome.code()).as(outcome.err()).isEqualTo(2);
            assertThat(outcome.out()).contains("=== sweep: 1 points ===");
            assertThat(outcome.err()).contains("cannot connect to 127.0.0.1:1");
        }
    }

    @Test
    void slower_arm_exits_with_9_and_equal_arms_with_0() throws IOException {
        Outcome slower = bench(
                "ab", "--request-rate=40", "--pairs=10", "--b", "--step-cost-scale 1.03", "--json", file("ab.json"));
        assertThat(slower.code()).as(slower.err()).isEqualTo(9);
        assertThat(slower.out()).contains("B: --step-cost-scale 1.03", "B is worse: median_e2el_ms changes by");
        assertThat(read("ab.json").get("worse").booleanValue()).isTrue();
        assertThat(read("ab.json").get("pairs")).hasSize(10);
        Outcome allowed =
                bench("ab", "--request-rate=40", "--pairs=10", "--b=--step-cost-scale 1.03", "--no-worse-than=20");
        assertThat(allowed.code()).as(allowed.err()).isZero();
        Outcome equal = bench("ab", "--request-rate=40", "--pairs=10", "--step-noise=0.1");
        assertThat(equal.code()).as(equal.err()).isZero();
        assertThat(equal.out()).contains("No difference shown in median_e2el_ms");
    }

    @Test
    void collapse_of_the_deciding_metric_exits_with_9_and_a_metric_without_a_ratio_with_8() throws IOException {
        String[] collapse = {
            "--request-rate=40",
            "--pairs=10",
            "--goodput=ttft:100",
            "--metric=request_goodput",
            "--json",
            file("ab.json"),
            "--b=--step-cost-scale 1000"
        };
        Outcome collapsed = bench("ab", collapse);
        assertThat(collapsed.code()).as(collapsed.err()).isEqualTo(9);
        assertThat(collapsed.out()).contains("B is worse: request_goodput is 0 in every run of B and in none of A\n");
        assertThat(read("ab.json").get("worse").booleanValue()).isTrue();
        List<String> oneToken = SIMULATED.stream()
                .map(flag -> flag.replaceFirst("^(--random-output-len)=.*", "$1=1"))
                .toList();
        Outcome undecided = bench("ab", oneToken, "--request-rate=40", "--pairs=10", "--metric=median_itl_ms");
        assertThat(undecided.code()).as(undecided.err()).isEqualTo(8);
        assertThat(undecided.out()).contains("Undecided: median_itl_ms was not measured in every run\n");
    }

    @Test
    void comparison_prints_its_pairs_after_too_many_invalid_runs() throws IOException {
        Outcome outcome = bench(
                "ab",
                List.of("--backend=sim", "--model=random:gpt2", "--step-costs=step:2"),
                "--num-prompts=4",
                "--random-output-len=8",
                "--random-input-len=900",
                "--random-range-ratio=0.3",
                "--pairs=10",
                "--json",
                file("ab.json"));
        assertThat(outcome.code()).as(outcome.err()).isEqualTo(8);
        assertThat(outcome.out()).contains("Undecided: ");
        assertThat(read("ab.json").get("worse").isNull()).isTrue();
    }

    @Test
    void replay_of_a_simulated_run_is_identical() throws IOException {
        assertThat(bench("serve", "--request-rate=40", "--json", file("run.json"))
                        .code())
                .isZero();
        Outcome same = bench("replay", List.of(file("run.json")), "--json", file("again.json"));
        assertThat(same.code()).as(same.err()).isZero();
        assertThat(same.out()).containsPattern("TTFT p99 .*[+-]0.0%").doesNotContain("change", "invalid");
        Outcome spelled = bench("replay", List.of(directory + "//./run.json"));
        assertThat(spelled.code()).as(spelled.err()).isZero();
        assertThat(read("again.json").get("requests"))
                .isEqualTo(read("run.json").get("requests"));
        assertThat(read("again.json").get("replay_of").get("changes")).isEmpty();
    }

    @Test
    void error_of_a_replay_is_in_sample_if_its_costs_are_of_the_recording() throws IOException {
        assertThat(bench("serve", "--request-rate=40", "--json", file("run.json"))
                        .code())
                .isZero();
        String[] outputs = {"--json", file("again.json"), "--report", file("again.html")};
        Outcome own = bench("replay", List.of(file("run.json")), outputs);
        assertThat(own.out())
                .containsPattern("ms +recorded +baseline +in-sample\n")
                .contains(
                        "\nin-sample: baseline, replayed",
                        "fitted to the recorded run, so it is no error of a prediction\n")
                .doesNotContain("error:");
        assertThat(read("again.json").at("/replay_of/in_sample").booleanValue()).isTrue();
        assertThat(directory.resolve("again.html"))
                .content()
                .contains("<th>in-sample</th>", "so the error is in-sample: no error of a prediction.")
                .doesNotContain("<th>error</th>");
        ObjectNode whole = (ObjectNode) StrictJson.parse(Files.readAllBytes(directory.resolve("run.json")));
        whole.withObject("roseinfer").putNull("steps");
        Files.writeString(directory.resolve("run.json"), whole.toString());
        Outcome other = bench("replay", List.of(file("run.json"), "--step-costs=step:2,token:0.1"), outputs);
        assertThat(other.out())
                .containsPattern("ms +recorded +baseline +error\n")
                .contains("\nerror: baseline, replayed with the recorded settings, against recorded\n")
                .doesNotContain("in-sample");
        assertThat(read("again.json").at("/replay_of/in_sample").booleanValue()).isFalse();
        assertThat(directory.resolve("again.html"))
                .content()
                .contains("<th>error</th>")
                .doesNotContain("in-sample");
    }

    /** The prediction for a changed setting equals a simulated run with that setting. */
    @Test
    void changed_replay_is_compared_with_baseline_and_recording() throws IOException {
        assertThat(bench("serve", "--request-rate=40", "--metric-percentiles=50,90,99", "--json", file("run.json"))
                        .code())
                .isZero();
        assertThat(bench(
                                "serve",
                                "--request-rate=40",
                                "--metric-percentiles=50,90,99",
                                "--max-batch-size=1",
                                "--json",
                                file("one.json"))
                        .code())
                .isZero();
        Outcome outcome = bench(
                "replay",
                List.of(file("run.json")),
                "--max-batch-size=1",
                "--step-costs=step:2,token:0.1",
                "--step-noise=0",
                "--json",
                file("changed.json"),
                "--report",
                file("changed.html"));
        assertThat(outcome.code()).as(outcome.err()).isZero();
        assertThat(outcome.out())
                .contains("Changed: --max-batch-size=1 --step-costs=step:2,token:0.1\n", "changed     change\n")
                .containsPattern("TTFT p50 +[0-9.]+ +[0-9.]+ +[+-]0\\.0% +[0-9.]+ +\\+[0-9.]+%");
        JsonNode rows = read("changed.json").get("replay_of").get("rows");
        JsonNode recorded = StrictJson.parse(Files.readAllBytes(directory.resolve("run.json")));
        JsonNode one = StrictJson.parse(Files.readAllBytes(directory.resolve("one.json")));
        assertThat(rows).hasSize(12).allSatisfy(row -> {
            String key = "p" + row.get("percentile").intValue() + "_"
                    + row.get("metric").asString() + "_ms";
            assertThat(row.get("recorded_ms")).isEqualTo(recorded.get(key));
            assertThat(row.get("replayed_ms").doubleValue())
                    .isCloseTo(recorded.get(key).doubleValue(), withPercentage(0.01));
            assertThat(row.get("changed_ms").doubleValue())
                    .isCloseTo(one.get(key).doubleValue(), withPercentage(0.01));
        });
        assertThat(directory.resolve("changed.html")).content().contains("<th>baseline</th>", "<th>change</th>");
    }

    @Test
    void replay_reports_an_invalid_recording() throws IOException {
        assertThat(bench("serve", "--request-rate=40", "--json", file("run.json"))
                        .code())
                .isZero();
        Path run = directory.resolve("run.json");
        Files.writeString(
                run,
                Files.readString(run)
                        .replaceFirst("\"reasons\"\\s*:\\s*\\[\\s*]", "\"reasons\":[\"the client was late\"]"));
        Outcome outcome =
                bench("replay", List.of(file("run.json")), "--json", file("again.json"), "--report", file("a.html"));
        assertThat(outcome.code()).as(outcome.err()).isZero();
        assertThat(outcome.out())
                .contains("The recorded run is invalid, and so are errors against it:" + " the client was late\n");
        assertThat(read("again.json").get("replay_of").get("valid").booleanValue())
                .isFalse();
        assertThat(directory.resolve("a.html")).content().contains("verdict warn", "The recorded run is invalid");
        assertThat(bench("replay", List.of(file("run.json")), "--max-batch-size=2")
                        .out())
                .contains("and so are errors against it and changes replayed from it: the client was late\n");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{\"runs\":[]} | was written by bench (bench streaming), whose files lack what a replay needs",
                "{\"mode\":\"batch\",\"runs\":[]} | was written by bench scheduler,",
                "{\"points\":[{\"step_ms\":{}}]} | was written by bench model,",
                "{\"roseinfer\":{\"kind\":\"sweep\"}} | was written by bench sweep,",
                "{\"traceEvents\":[]} | was written by bench --timeline,",
                "{} | is not a result file of a benchmark"
            })
    void unreplayable_file_is_rejected_with_its_command(String text, String message) throws IOException {
        Files.writeString(directory.resolve("other.json"), text);
        Outcome outcome = bench("replay", List.of(file("other.json")));
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err())
                .contains(message, "record a run with bench serve --backend engine --json FILE")
                .hasLineCount(1);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "/roseinfer/schema | 9 | has schema 9; this version reads up to 2; use the version that wrote it",
                "/duration | -1 | : duration is -1, but bench serve writes a positive number; undo the change",
                "/roseinfer/requests/2/due_ns | \"noon\" | : roseinfer.requests[2].due_ns is \"noon\", but bench serve writes a whole",
                "/roseinfer/requests/2/due_ns | 1.5 | : roseinfer.requests[2].due_ns is 1.5, but bench serve writes a whole",
                "/roseinfer/requests/2/due_ns | null | : roseinfer.requests[2].due_ns is null, but bench serve writes a whole",
                "/roseinfer/requests/1/id | 7 | : roseinfer.requests[1].id is 7, but bench serve writes the request's index, 1;",
                "/roseinfer/requests/0/counted | \"guessed\" | .counted is \"guessed\", but bench serve writes ids, running_usage, total or not;",
                "/roseinfer/requests/3/event_tokens | [1] | .event_tokens is [1], but bench serve writes a count for each of the 8 events",
                "/roseinfer/requests/3/error | 5 | : roseinfer.requests[3].error is 5, but bench serve writes a string;",
                "/roseinfer/steps/rows/0 | [1,2] | : roseinfer.steps.rows[0] is [1,2], but bench serve writes a number for each of the",
                "/roseinfer/command | \"bench\" | : roseinfer.command is \"bench\", but bench serve writes a list;"
            })
    void malformed_results_file_is_rejected_at_the_value(String pointer, String value, String message)
            throws IOException {
        assertThat(bench("serve", "--json", file("run.json")).code()).isZero();
        Path run = directory.resolve("run.json");
        JsonNode document = StrictJson.parse(Files.readAllBytes(run));
        JsonPointer at = JsonPointer.compile(pointer);
        JsonNode changed = StrictJson.parse(value.getBytes(StandardCharsets.UTF_8));
        switch (document.at(at.head())) {
            case ObjectNode object -> object.set(at.last().getMatchingProperty(), changed);
            case ArrayNode list -> list.set(at.last().getMatchingIndex(), changed);
            default -> throw new AssertionError(pointer);
        }
        Files.writeString(run, document.toString());
        Outcome outcome = bench("replay", List.of(file("run.json")));
        assertThat(outcome.code()).as(outcome.err()).isEqualTo(2);
        assertThat(outcome.err()).contains("run.json", message).hasLineCount(1);
    }

    @Test
    void results_file_of_an_earlier_version_may_lack_newer_fields() throws IOException {
        assertThat(bench("serve", "--json", file("run.json")).code()).isZero();
        Path run = directory.resolve("run.json");
        JsonNode document = StrictJson.parse(Files.readAllBytes(run));
        document.at("/roseinfer/requests").forEach(request -> {
            ((ObjectNode) request).remove(List.of("ready_ns", "last_choice_ns", "usage", "server"));
        });
        Files.writeString(run, document.toString());
        Outcome outcome = bench("replay", List.of(file("run.json")));
        assertThat(outcome.code()).as(outcome.err()).isZero();
    }

    @Test
    void recording_without_steps_suggests_how_to_get_costs() throws IOException {
        assertThat(bench("serve", "--request-rate=40", "--json", file("run.json"))
                        .code())
                .isZero();
        Path run = directory.resolve("run.json");
        ObjectNode document = (ObjectNode) StrictJson.parse(Files.readAllBytes(run));
        document.withObject("roseinfer").putNull("steps");
        Files.writeString(run, document.toString());
        Outcome outcome = bench("replay", List.of(file("run.json")));
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err())
                .contains("has no engine steps", "give such a file with --step-costs")
                .hasLineCount(1);
        Outcome given = bench("replay", List.of(file("run.json")), "--step-costs=step:2,token:0.1");
        assertThat(given.code()).as(given.err()).isZero();
        assertThat(given.out()).containsPattern("TTFT p99 .*[+-]0.0%").doesNotContain("Changed:");
    }

    @Test
    void step_costs_are_fitted_to_an_engine_run() throws IOException {
        Outcome run = bench(
                "serve",
                List.of("--backend=engine", "--device=sim", "--model=random:gpt2", "--max-dispatch-lag-ms=600000"),
                "--num-prompts=40",
                "--request-rate=2000",
                "--random-input-len=32",
                "--random-output-len=8",
                "--ignore-eos",
                "--json",
                file("run.json"));
        assertThat(run.code()).as(run.err()).isZero();
        assertThat(read("run.json").get("steps").get("rows")).isNotEmpty();
        RecordedSteps.timeByTokens(directory.resolve("run.json"));
        Outcome replay = bench("replay", List.of(file("run.json")));
        assertThat(replay.code()).as(replay.err()).isZero();
        assertThat(replay.out()).contains("40 requests, on sim", "TPOT p90");
    }

    @Test
    void comparison_prints_the_named_percentiles_and_decides_by_one() throws IOException {
        Outcome ab = bench(
                "ab",
                "--pairs=10",
                "--request-rate=20",
                "--b=--step-costs=step:9,token:0.1",
                "--metric=p75_ttft_ms",
                "--metric-percentiles=75,99.5",
                "--json",
                file("ab.json"));
        assertThat(ab.out())
                .contains("\np75_ttft_ms ", "\np99.5_itl_ms ", "B is worse: p75_ttft_ms changes by")
                .doesNotContain("\np99_ttft_ms ", "Both: --metric-percentiles");
        assertThat(read("ab.json").at("/pairs/0/a").has("p99.5_e2el_ms")).isTrue();
        assertThat(read("ab.json").at("/percentiles").get(0).doubleValue()).isEqualTo(75);
    }

    @Test
    void comparison_prints_the_median_ttft_and_the_throughput_of_each_tenant() {
        Outcome ab = bench(
                "ab", "--pairs=10", "--request-rate=20", "--b=--step-costs=step:9", "--tenant=a", "--tenant=b:share=2");
        assertThat(ab.out())
                .contains("\nmedian_ttft_ms{tenant=a} ", "\noutput_throughput{tenant=a} ")
                .contains("\nmedian_ttft_ms{tenant=b} ", "\noutput_throughput{tenant=b} ");
    }

    @Test
    void sweep_prints_the_named_percentiles_of_ttft_and_tpot() {
        Outcome sweep = bench("sweep", "--vary=max-batch-size=2,4", "--metric-percentiles=90,99.5");
        assertThat(sweep.out())
                .containsPattern("TTFT p50 +TTFT p90 +TTFT p99.5 +TPOT p50 +TPOT p90 +TPOT p99.5 +tokens/s")
                .doesNotContain("TTFT p99 ");
    }

    @Test
    void sweep_without_bounds_prints_no_good_requests() {
        Outcome sweep = bench("sweep", "--vary=max-batch-size=2,4");
        assertThat(sweep.err()).contains(" requests/s, TTFT p99").doesNotContain("goodput", "% good");
        assertThat(sweep.out()).doesNotContain("100.0 ");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "sweep | --seed=1 | a sweep needs a flag to vary",
                "sweep | --vary=request-rate | --vary is 'request-rate'; it must be FLAG=VALUE,VALUE",
                "sweep | --vary=nonsense=1,2 | unknown option: '--nonsense=1'",
                "sweep | --find-rate=3 | --find-rate needs an objective",
                "sweep | --attainment=150 | --attainment is 150; it must be 0 to 100",
                "ab | --pairs=11 | --pairs is 11; it must be even",
                "ab | --pairs=4 | --pairs is 4; it must be 10 or more",
                "ab | --metric=speed | --metric is 'speed'; it must be one of mean_ttft_ms",
                "ab | --metric=median_tttf_ms | --metric is 'median_tttf_ms'; did you mean median_ttft_ms? It must be one of",
                "ab | --metric=p99_e2e | --metric is 'p99_e2e'; did you mean p99_e2el_ms? It must be one of",
                "ab | --metric=p95_ttft_ms | --metric is 'p95_ttft_ms'; did you mean p90_ttft_ms or p99_ttft_ms?",
                "ab | --metric=p99_ttft_ms{tenant=x} | --metric is 'p99_ttft_ms{tenant=x}', but the load has no tenants",
                "ab | --metric=good_share | --metric is 'good_share', but no request has bounds; add --goodput",
                "ab | --b=--step-costs=step:0,token:0 | --step-costs is step:0,token:0, so that no step takes time",
                "ab | --b=--num-prompts=7 | --a and --b have different loads, 60 and 7 requests",
                "ab | --b=--seed=5 | --b has --seed 5; each pair sets the seed of both arms, so give --seed once",
                "ab | --b=--random-input-len=64 | prompts of 32 and 64 tokens for request 0; both runs of a pair need the same requests",
                "ab | --b=--json=x.json | --b: --json has no effect here; give it to the command itself",
                "sweep | --vary=csv=a,b | --vary: --csv has no effect here",
                "ab | --b=--backend=engines | 'engines' is not one of http, engine, null, sim",
                "ab | --b=--step-costs=nothing.json | nothing.json: no such file"
            })
    void invalid_flags_are_reported_in_one_line(String study, String flag, String message) {
        Outcome outcome = bench(study, flag);
        assertThat(outcome.code()).as(outcome.err()).isIn(2, 3);
        assertThat(outcome.err()).contains(message).hasLineCount(1);
    }

    @Test
    void engine_flags_have_no_effect_on_a_remote_server() {
        for (Outcome outcome : List.of(
                CliRunner.run("bench", "sweep", "--base-url=http://127.0.0.1:1", "--vary=max-batch-size=4,8"),
                CliRunner.run("bench", "ab", "--base-url=http://127.0.0.1:1", "--b", "--max-batch-size 8"))) {
            assertThat(outcome.code()).isEqualTo(2);
            assertThat(outcome.err())
                    .contains(
                            " has --max-batch-size, which has no effect on --backend http: it applies only to an in-process engine")
                    .hasLineCount(1);
        }
    }
}

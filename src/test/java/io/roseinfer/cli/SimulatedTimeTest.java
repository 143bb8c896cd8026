package io.roseinfer.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.base.StrictJson;
import io.roseinfer.bench.compare.ComparisonReport;
import io.roseinfer.cli.CliRunner.Outcome;
import io.roseinfer.scheduler.policy.AdmissionPolicy;
import io.roseinfer.scheduler.policy.Drafter;
import io.roseinfer.scheduler.policy.PolicyRequest;
import io.roseinfer.scheduler.policy.QueueView;
import io.roseinfer.scheduler.policy.WaitingRequest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Tests of {@code bench} on simulated time. */
@Tag("process")
@Timeout(120)
class SimulatedTimeTest {
    private static final List<String> SIMULATED =
            List.of("--backend=sim", "--model=random:gpt2", "--step-costs=step:4,token:0.05");

    /** Last-come first-served policy with unlimited lookahead. */
    public static final class NewestFirst implements AdmissionPolicy {
        @Override
        public int lookahead() {
            return Integer.MAX_VALUE;
        }

        @Override
        public long rank(WaitingRequest request, QueueView queue) {
            return -request.arrival();
        }
    }

    @TempDir
    private Path directory;

    private Outcome bench(String study, List<String> shared, String... flags) {
        return CliRunner.run(Stream.of(List.of("bench", study), shared, List.of(flags))
                .flatMap(List::stream)
                .toArray(String[]::new));
    }

    private JsonNode serve(List<String> shared, String... flags) throws IOException {
        Path file = directory.resolve("run.json");
        Outcome outcome = bench(
                "serve",
                shared,
                Stream.concat(Stream.of("--json", file.toString()), Stream.of(flags))
                        .toArray(String[]::new));
        assertThat(outcome.code()).as(outcome.err()).isZero();
        return SimBench.read(file).get("roseinfer");
    }

    @Test
    void file_that_fills_the_default_number_of_requests_is_noted() throws IOException {
        Path file = Files.writeString(
                directory.resolve("long.jsonl"), "{\"prompt\":[1],\"output_tokens\":1}\n".repeat(1001));
        String[] load = {"--dataset=jsonl", "--dataset-path=" + file};
        assertThat(bench("serve", SIMULATED, load).err())
                .contains("the run has the first 1000 requests of the file, the default --num-prompts");
        assertThat(bench("serve", SIMULATED, load[0], load[1], "--num-prompts=1000")
                        .err())
                .doesNotContain("--num-prompts");
        assertThat(bench("ab", SIMULATED, with(load, "--pairs=10")).err())
                .containsOnlyOnce("the run has the first 1000 requests of the file, the default --num-prompts");
        assertThat(bench("sweep", SIMULATED, with(load, "--vary=max-batch-size=8,16"))
                        .err())
                .containsOnlyOnce("the run has the first 1000 requests of the file, the default --num-prompts");
    }

    @Test
    void note_on_hits_of_the_prefix_cache_is_printed_once_per_sweep() {
        Outcome outcome = bench(
                "sweep",
                SIMULATED,
                "--num-prompts=20",
                "--random-prefix-len=64",
                "--request-rate=10",
                "--vary=max-batch-size=8,16");
        assertThat(outcome.code()).as(outcome.err()).isZero();
        assertThat(outcome.err()).containsOnlyOnce("prompt tokens were in the prefix cache");
    }

    /** A drafter of a user. */
    public static final class Repeating implements Drafter {
        @Override
        public int maxTokens() {
            return 1;
        }

        @Override
        public Drafts newDrafts(PolicyRequest request) {
            return (tokens, max, into) -> 0;
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"suffix:4", "io.roseinfer.cli.SimulatedTimeTest$Repeating"})
    void drafts_of_a_text_are_rejected_in_simulated_time(String drafter) {
        Outcome outcome = bench("serve", SIMULATED, "--num-prompts=2", "--speculate=" + drafter);
        assertThat(outcome.code()).as(outcome.err()).isEqualTo(2);
        assertThat(outcome.err())
                .isEqualToIgnoringNewLines(
                        "roseinfer: --speculate is " + drafter
                                + ", but simulated time has no text to draft from; give acceptance rates, such as --speculate synthetic:0.8/0.6, or remove it");
    }

    @Test
    void acceptance_of_drafts_can_be_given() throws IOException {
        JsonNode run = serve(SIMULATED, "--num-prompts=20", "--speculate=synthetic:1/1/1", "--max-concurrency=1");
        assertThat(run.at("/speculation/acceptance_rate").asDouble()).isEqualTo(1);
    }

    @Test
    void bounds_of_a_class_are_rejected_if_no_request_has_a_class() {
        Outcome outcome = bench("serve", SIMULATED, "--num-prompts=5", "--slo=caht=ttft:100");
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err())
                .contains("--slo has bounds of class caht, but no request has a class")
                .hasLineCount(1);
    }

    @Test
    void bounds_of_a_class_that_no_request_has_are_named_in_a_note() {
        Outcome outcome = bench(
                "serve",
                SIMULATED,
                "--num-prompts=5",
                "--tenant=a:slo=chat",
                "--goodput=ttft:200",
                "--slo=caht=ttft:100");
        assertThat(outcome.code()).as(outcome.err()).isZero();
        assertThat(outcome.err())
                .containsOnlyOnce("--slo caht has no effect: no request of the load has this class")
                .doesNotContain("--slo chat");
    }

    @Test
    void comparison_ends_after_two_identical_pairs() throws IOException {
        Path trace = Files.writeString(
                directory.resolve("trace.jsonl"),
                "{\"prompt\":[1],\"output_tokens\":3,\"timestamp_ms\":0}\n".repeat(3));
        Outcome outcome = bench(
                "ab",
                SIMULATED,
                "--dataset=jsonl",
                "--dataset-path=" + trace,
                "--metric=median_e2el_ms",
                "--b=--step-cost-scale 1.5");
        assertThat(outcome.code()).as(outcome.err()).isEqualTo(8);
        assertThat(outcome.out())
                .contains("=== a/b: 2 pairs", "Undecided: every pair is the same run", "changes by 50.00 %")
                .doesNotContain("..", "detects");
        assertThat(outcome.err()).doesNotContain("pair 3");
    }

    @Test
    void goodput_bounds_requests_of_classes_without_own_bounds() throws IOException {
        String[] load = {"--num-prompts=10", "--tenant=chat:slo=chat", "--tenant=batch:slo=batch"};
        assertThat(bench("serve", SIMULATED, load).err()).contains("which has no bounds; add --goodput or --slo ");
        JsonNode slos = serve(SIMULATED, with(load, "--goodput=ttft:0", "--slo=batch=ttft:100000"))
                .at("/groups/slos");
        assertThat(slos.at("/chat/good_share").doubleValue()).isZero();
        assertThat(slos.at("/batch/good_share").doubleValue()).isOne();
    }

    /** The warm-up has an empty machine: without it, the median time to first token is longer. */
    @Test
    void trimmed_requests_are_counted_and_in_no_result() throws IOException {
        String[] load = {"--num-prompts=200", "--request-rate=40", "--random-input-len=64", "--random-output-len=32"};
        JsonNode all = serve(SIMULATED, load);
        JsonNode some = serve(
                SIMULATED,
                Stream.concat(Stream.of(load), Stream.of("--trim-warmup-s=2", "--trim-cooldown-s=0.5"))
                        .toArray(String[]::new));
        assertThat(all.get("requests")).hasSize(200);
        int left = some.get("requests").size();
        assertThat(left).isBetween(50, 150);
        assertThat(some.get("validity").get("notes").toString())
                .contains(200 - left + " of 200 requests are trimmed: due in the first 2.0 s or the last 0.5 s");
        assertThat(some.get("requests").get(0).get("due_ns").longValue()).isBetween(0L, 500_000_000L);
    }

    @Test
    void trimming_of_all_due_times_is_rejected_before_the_run() {
        Outcome outcome = bench("serve", SIMULATED, "--num-prompts=5", "--request-rate=10", "--trim-warmup-s=100");
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err())
                .contains(
                        "--trim-warmup-s 100.0 and --trim-cooldown-s 0.0 leave no request, because the last one is due at");
        Outcome compared = bench("ab", SIMULATED, "--request-rate=10", "--num-prompts=5", "--trim-cooldown-s=100");
        assertThat(compared.code()).isEqualTo(2);
    }

    /** The requests of a burst are due when they have a slot, which is known after the run. */
    @Test
    void run_of_which_trimming_leaves_nothing_is_invalid_and_has_the_results_of_all_requests() throws IOException {
        Path file = directory.resolve("trimmed.json");
        Outcome outcome = bench("serve", SIMULATED, "--num-prompts=5", "--trim-warmup-s=100", "--json=" + file);
        assertThat(outcome.code()).as(outcome.err()).isEqualTo(8);
        assertThat(outcome.err())
                .contains("the run is invalid: --trim-warmup-s 100.0 and --trim-cooldown-s 0.0 leave no");
        JsonNode results = SimBench.read(file).get("roseinfer");
        assertThat(results.get("requests")).hasSize(5);
        assertThat(results.get("validity").get("valid").booleanValue()).isFalse();
        assertThat(results.get("validity").get("remedies").toString()).contains("trim less, or send more requests");
    }

    @Test
    void sweep_goes_on_after_a_point_of_which_trimming_leaves_nothing() {
        Outcome outcome =
                bench("sweep", SIMULATED, "--num-prompts=20", "--trim-warmup-s=1", "--vary=request-rate=1000,10");
        assertThat(outcome.code()).as(outcome.err()).isIn(0, 8);
        assertThat(outcome.out() + outcome.err())
                .contains("leave no request of a run of")
                .contains("request-rate=10");
    }

    @Test
    void sweep_that_is_too_short_to_find_the_rate_exits_with_8_if_it_has_an_objective() {
        String[] sweep = {"--num-prompts=60", "--random-output-len=64", "--vary=request-rate=200,400"};
        assertThat(bench("sweep", SIMULATED, sweep).code()).isZero();
        Outcome outcome = bench("sweep", SIMULATED, with(sweep, "--goodput=ttft:20000"));
        assertThat(outcome.err()).contains("the highest rate is unknown for 1 of 1 settings: a load is too short");
        assertThat(outcome.code()).isEqualTo(8);
        assertThat(bench("sweep", SIMULATED, with(sweep, "--goodput=ttft:0.1")).code())
                .as("no length of the load meets this objective")
                .isZero();
    }

    /** No client sends requests and no server parses them, so their times would be 0. */
    @Test
    void results_list_only_what_exists_in_simulated_time() throws IOException {
        Path file = directory.resolve("simulated.json");
        Path page = directory.resolve("simulated.html");
        Outcome outcome =
                bench("serve", SIMULATED, with(SMALL_LOAD, "--request-rate=20", "--json=" + file, "--report=" + page));
        assertThat(outcome.out())
                .contains("TTFT from scheduled time", "prefill ", "decode ")
                .doesNotContain("Client process", "Dispatch lag", "dispatch ", "parse ", "write ", "delivery ");
        JsonNode results = SimBench.read(file).get("roseinfer");
        assertThat(List.of(results.get("client"), results.get("dispatch_lag_ms")))
                .allMatch(JsonNode::isNull);
        assertThat(results.get("ttft_parts").get("all").propertyNames()).containsExactly("queue", "prefill");
        assertThat(results.get("requests").get(0).get("ttft_parts").propertyNames())
                .containsExactly("queue", "prefill");
        assertThat(page)
                .content()
                .contains("<th>prefill</th>")
                .doesNotContain("Client CPU", "Dispatch lag p50", "<th>parse</th>");
    }

    /** Nearly all requests of a burst wait if two are served at a time. */
    @Test
    void simulation_and_engine_attribute_waiting_to_the_queue() throws IOException {
        String[] flags = {
            "--num-prompts=80",
            "--random-input-len=64",
            "--random-output-len=16",
            "--chunked-prefill",
            "--max-active-requests=2",
            "--ignore-eos"
        };
        for (List<String> shared :
                List.of(SIMULATED, List.of("--backend=engine", "--device=sim", "--model=random:gpt2"))) {
            long queued = serve(shared, flags)
                    .get("requests")
                    .valueStream()
                    .map(request -> request.get("ttft_parts"))
                    .filter(parts -> parts.get("queue").doubleValue()
                            > parts.get("prefill").doubleValue())
                    .count();
            assertThat(queued).as("%s", shared).isGreaterThan(60);
        }
    }

    @Test
    void forced_admissions_are_counted_and_noted() throws IOException {
        String[] flags = {
            "--num-prompts=400",
            "--random-input-len=64",
            "--random-output-len=16",
            "--request-rate=60",
            "--max-active-requests=4",
            "--prefill-admission-policy=" + NewestFirst.class.getName()
        };
        JsonNode own = serve(SIMULATED, flags);
        long forced = own.get("scheduler").get("forced_admissions").longValue();
        assertThat(forced).isPositive();
        assertThat(own.get("validity").get("notes").valueStream().map(JsonNode::asString))
                .contains(
                        forced
                                + " admissions were forced by --max-passes, not chosen by the admission policy; --max-passes none lifts the limit");
        flags[5] = "--prefill-admission-policy=fifo";
        assertThat(serve(SIMULATED, flags)
                        .get("scheduler")
                        .get("forced_admissions")
                        .longValue())
                .isZero();
    }

    @Test
    void preemptions_and_cache_hits_are_printed_and_in_a_sweep() throws IOException {
        String[] flags = {
            "--num-prompts=60",
            "--random-input-len=64",
            "--random-prefix-len=32",
            "--random-output-len=64",
            "--kv-blocks=20"
        };
        JsonNode counts = serve(SIMULATED, flags).get("scheduler");
        Outcome outcome = bench("serve", SIMULATED, flags);
        assertThat(outcome.out())
                .containsPattern("Preemptions: +" + counts.get("preemptions") + "\n")
                .containsPattern("Recomputed tokens: +" + counts.get("recomputed_tokens") + "\n")
                .containsPattern("Prompt tokens from prefix cache: +" + counts.get("cached_tokens") + " \\(");
        assertThat(counts).allSatisfy(count -> assertThat(count.doubleValue()).isNotNegative());
        assertThat(counts.get("preemptions").longValue()).isPositive();
        assertThat(counts.get("recomputed_tokens").longValue()).isPositive();
        assertThat(counts.get("cached_tokens").longValue()).isPositive();
        Outcome sweep = bench(
                "sweep",
                SIMULATED,
                Stream.concat(Stream.of(flags), Stream.of("--vary=seed=0")).toArray(String[]::new));
        assertThat(sweep.out()).containsPattern("\nseed=0 .* " + counts.get("preemptions") + " +[0-9.]+  #+\n");
    }

    private Path recorded(List<String> shared, String... flags) throws IOException {
        JsonNode unused = serve(shared, flags);
        return Files.move(directory.resolve("run.json"), directory.resolve("recorded.json"));
    }

    private static String[] with(String[] flags, String... more) {
        return Stream.of(flags, more).flatMap(Stream::of).toArray(String[]::new);
    }

    private static final String[] SMALL = {
        "--num-prompts=40",
        "--random-input-len=32",
        "--random-output-len=8",
        "--ignore-eos",
        "--max-dispatch-lag-ms=600000"
    };

    private static final List<String> ENGINE = List.of("--backend=engine", "--device=sim", "--model=random:gpt2");

    @Test
    void recording_of_two_engines_is_rejected_for_replay_and_costs() throws IOException {
        Path run = recorded(ENGINE, with(SMALL, "--replicas=2", "--routing=round-robin"));
        for (Outcome outcome : List.of(
                bench("replay", List.of(run.toString())),
                bench("replay", List.of(run.toString()), "--step-costs=step:1"),
                bench("serve", List.of("--backend=sim", "--model=random:gpt2"), "--step-costs=" + run))) {
            assertThat(outcome.code()).as(outcome.err()).isEqualTo(2);
            assertThat(outcome.err())
                    .contains("was recorded on 2 engines, but simulated time takes its costs from one")
                    .hasLineCount(1);
        }
    }

    @Test
    void recording_without_its_first_steps_is_rejected_for_costs() throws IOException {
        Path run = recorded(SIMULATED, "--num-prompts=40", "--random-input-len=32", "--random-output-len=8");
        ObjectNode document = (ObjectNode) StrictJson.parse(Files.readAllBytes(run));
        ArrayNode rows = (ArrayNode) document.get("roseinfer").get("steps").get("rows");
        for (int dropped = rows.size() / 2; dropped > 0; dropped--) {
            JsonNode unused = rows.remove(0);
        }
        Files.writeString(run, document.toString());
        Outcome outcome = bench("replay", List.of(run.toString()));
        assertThat(outcome.code()).as(outcome.err()).isEqualTo(2);
        assertThat(outcome.err()).contains("lacks steps of the run").hasLineCount(1);
    }

    /** The recorded command is an HTTP client whose file has the server's steps. */
    @Test
    void replay_of_an_http_run_does_not_claim_its_settings() throws IOException {
        Path run = recorded(SIMULATED, "--num-prompts=40", "--random-input-len=32", "--random-output-len=8");
        Files.writeString(run, Files.readString(run).replace("\"--backend=sim\"", "\"--base-url=http://127.0.0.1:1\""));
        for (String[] flags : List.of(new String[0], new String[] {"--max-batch-size", "1", "--decode-first"})) {
            Outcome outcome =
                    bench("replay", List.of(run.toString()), with(flags, "--report", directory + "/page.html"));
            assertThat(outcome.code()).as(outcome.err()).isZero();
            assertThat(outcome.out())
                    .contains(" replayed ", "the server's settings are unknown")
                    .doesNotContain("baseline", "recorded settings", "Changed:");
            assertThat(directory.resolve("page.html"))
                    .content()
                    .contains("settings are unknown")
                    .doesNotContain("<th>baseline</th>", "Baseline:");
        }
    }

    @Test
    void simulated_studies_reject_unsupported_flags() throws IOException {
        Path run = recorded(SIMULATED, "--num-prompts=4", "--random-input-len=32", "--random-output-len=8");
        for (Outcome outcome : List.of(
                bench("replay", List.of(run.toString()), "--threads=4"),
                bench("sweep", SIMULATED, "--vary=stream-interval=1,4"),
                bench("ab", SIMULATED, "--b", "--stream-interval 4"))) {
            assertThat(outcome.code()).as(outcome.err()).isEqualTo(2);
            assertThat(outcome.err())
                    .containsPattern("--backend sim does not simulate --(threads 4|stream-interval 4);")
                    .hasLineCount(1);
        }
    }

    /** Counts the instances that ranked requests. */
    public static final class Asked implements AdmissionPolicy {
        private static final Set<Asked> ASKED = Collections.newSetFromMap(new IdentityHashMap<>());

        @Override
        public int lookahead() {
            return 64;
        }

        @Override
        public long rank(WaitingRequest request, QueueView queue) {
            synchronized (ASKED) {
                ASKED.add(this);
            }
            return 0;
        }

        static int count() {
            synchronized (ASKED) {
                int count = ASKED.size();
                ASKED.clear();
                return count;
            }
        }
    }

    @Test
    void each_run_has_a_new_policy_instance() throws IOException {
        String policy = "--prefill-admission-policy=" + Asked.class.getName();
        int unused = Asked.count();
        assertThat(bench("ab", SIMULATED, with(SMALL_LOAD, "--pairs=10", "--request-rate=20", policy))
                        .code())
                .isZero();
        assertThat(Asked.count()).as("ab").isEqualTo(20);
        assertThat(bench("sweep", SIMULATED, with(SMALL_LOAD, "--vary=request-rate=10,20,30", policy))
                        .code())
                .isZero();
        assertThat(Asked.count()).as("sweep").isEqualTo(3);
        JsonNode unusedRun = serve(ENGINE, with(SMALL, "--warmup-requests=4", policy));
        assertThat(Asked.count()).as("warm-up and run").isEqualTo(2);
        assertThat(SimBench.run(policy, "--num-requests=4", "--warmup-runs=1", "--repeat-runs=2")
                        .code())
                .isZero();
        assertThat(Asked.count()).as("repeated runs").isEqualTo(3);
    }

    private static final String EXAMPLES = "tools/examples/policies/";

    private static final String[] SMALL_LOAD = {"--num-prompts=40", "--random-input-len=32", "--random-output-len=8"};

    @Test
    void steps_of_a_file_are_resampled_by_default() throws IOException {
        String[] load = with(SMALL_LOAD, "--request-rate=20");
        Path run = recorded(SIMULATED, with(load, "--step-noise=0.3"));
        List<String> file = List.of("--backend=sim", "--model=random:gpt2", "--step-costs=" + run, "--seed=2");
        assertThat(serve(file, load).get("requests"))
                .isEqualTo(serve(file, with(load, "--step-noise=resampled")).get("requests"))
                .isNotEqualTo(serve(file, with(load, "--step-noise=recorded")).get("requests"));
    }

    @Test
    void steps_of_an_engines_file_are_resampled_by_default() throws IOException {
        String[] load = with(SMALL_LOAD, "--request-rate=20");
        Path run = recorded(SIMULATED, with(load, "--step-noise=0.3"));
        List<String> file = List.of("--backend=sim", "--model=random:gpt2", "--engine-costs=0:" + run, "--seed=2");
        String[] costs = with(load, "--step-costs=step:1");
        JsonNode requests = serve(file, costs).get("requests");
        assertThat(requests)
                .isNotEqualTo(serve(file, with(costs, "--step-noise=0")).get("requests"));
        assertThat(requests)
                .isEqualTo(
                        serve(List.of("--backend=sim", "--model=random:gpt2", "--step-costs=" + run, "--seed=2"), load)
                                .get("requests"));
    }

    @Test
    void replayed_run_keeps_its_recorded_pace() throws IOException {
        Path run = recorded(SIMULATED, with(SMALL_LOAD, "--request-rate=20", "--step-noise=0.3"));
        Files.writeString(run, Files.readString(run).replaceAll(",\\s*\"--step-noise=0.3\"", ""));
        List<String> replay = List.of(run.toString());
        assertThat(bench("replay", replay).out())
                .isEqualTo(bench("replay", replay, "--step-noise=recorded").out())
                .isNotEqualTo(bench("replay", replay, "--step-noise=resampled").out());
    }

    @Test
    void only_time_in_extrapolated_steps_is_noted() throws IOException {
        Path run = recorded(SIMULATED, with(SMALL_LOAD, "--max-batch-size=4", "--request-rate=20"));
        List<String> replayed = List.of("--backend=sim", "--model=random:gpt2", "--step-costs=" + run);
        JsonNode within =
                serve(replayed, with(SMALL_LOAD, "--max-batch-size=4", "--request-rate=20", "--step-noise=0"));
        assertThat(within.get("validity").get("notes").toString()).doesNotContain("outside the recorded range");
        assertThat(within.get("validity").get("extrapolated_share").doubleValue())
                .isZero();
        JsonNode beyond = serve(replayed, with(SMALL_LOAD, "--max-batch-size=32", "--step-noise=0"));
        assertThat(beyond.get("validity").get("notes").toString())
                .containsPattern("[1-9][0-9.]* % of the simulated time is in steps outside the recorded range"
                        + " \\(decode of 1 to [34] rows and up to [0-9]+ KV tokens; prompts of .*; contexts up to 39 tokens\\);"
                        + " their costs are extrapolated and not validated; record a load with such steps");
        assertThat(beyond.get("validity").get("extrapolated_share").doubleValue())
                .isBetween(0.1, 1.0);
    }

    @Test
    void columns_of_an_extrapolated_replay_are_marked_below_a_note() throws IOException {
        Path run = recorded(SIMULATED, with(SMALL_LOAD, "--max-batch-size=4"));
        Path json = directory.resolve("replay.json");
        Path page = directory.resolve("replay.html");
        Outcome outcome =
                bench("replay", List.of(run.toString()), "--max-batch-size=32", "--json=" + json, "--report=" + page);
        assertThat(outcome.code()).as(outcome.err()).isZero();
        assertThat(outcome.out())
                .containsPattern("\n~ the changed replay: [1-9][0-9.]* % of the simulated time is in steps"
                        + " outside the recorded range .*\nms +recorded +baseline +in-sample +changed~ +change~\n");
        assertThat(outcome.err()).doesNotContain("outside the recorded range");
        assertThat(SimBench.read(json).at("/roseinfer/replay_of/extrapolated").toString())
                .isEqualTo("[\"changed\"]");
        assertThat(page).content().contains("~ Extrapolated", "<th>changed~</th>", "<th>change~</th>");
    }

    @ParameterizedTest
    @CsvSource({"--chunked-prefill, true", "--max-batch-size=32, false"})
    void note_says_how_composed_costs_err_if_a_run_has_some(String flag, boolean composed) throws IOException {
        Path run = recorded(SIMULATED, with(SMALL_LOAD, "--max-batch-size=4", "--request-rate=200"));
        JsonNode changed = serve(
                List.of("--backend=sim", "--model=random:gpt2", "--step-costs=" + run),
                with(SMALL_LOAD, "--request-rate=400", "--step-noise=0", flag));
        String notes = changed.get("validity").get("notes").toString();
        assertThat(notes).contains("outside the recorded range");
        assertThat(notes.contains("2 to 16 % too low in total")).isEqualTo(composed);
    }

    @Test
    void columns_of_a_replay_within_the_recorded_range_are_not_marked() throws IOException {
        Path run = recorded(SIMULATED, with(SMALL_LOAD, "--max-batch-size=4", "--request-rate=20"));
        Path json = directory.resolve("replay.json");
        Outcome outcome = bench("replay", List.of(run.toString()), "--max-batch-size=3", "--json=" + json);
        assertThat(outcome.code()).as(outcome.err()).isZero();
        assertThat(outcome.out()).contains("changed").doesNotContain("~");
        assertThat(SimBench.read(json).at("/roseinfer/replay_of/extrapolated").isMissingNode())
                .isTrue();
    }

    /** The costs were recorded with contexts of up to 2,074 tokens. */
    @Test
    void verdict_says_that_most_time_is_extrapolated_in_text_page_and_csv() throws IOException {
        Path page = directory.resolve("page.html");
        Path csv = directory.resolve("serve.csv");
        Outcome outcome = bench(
                "serve",
                List.of("--backend=sim", "--model=random:llama-3.1-8b"),
                "--num-prompts=4",
                "--request-rate=1",
                "--random-input-len=16000",
                "--random-output-len=20",
                "--report=" + page,
                "--csv=" + csv);
        assertThat(outcome.out()).contains("\nValid: yes, but 100.0 % of the simulated time is extrapolated\n");
        assertThat(page).content().contains("The run is valid, but 100.0 % of the simulated time is extrapolated.");
        assertThat(Files.readAllLines(csv).getFirst().split(",")).contains("extrapolated_share");
    }

    @Test
    void comparison_has_the_extrapolated_share_of_each_run() throws IOException {
        Path file = directory.resolve("ab.json");
        Outcome outcome = bench(
                "ab",
                List.of("--backend=sim", "--model=random:llama-3.1-8b"),
                "--num-prompts=4",
                "--request-rate=1",
                "--random-input-len=16000",
                "--random-output-len=20",
                "--pairs=10",
                "--json=" + file);
        assertThat(outcome.out())
                .contains("Note: B: up to 100.0 % of a run's simulated time is in steps outside the recorded range");
        JsonNode pair = SimBench.read(file).get("roseinfer").get("pairs").get(9);
        assertThat(pair.get("b").get("extrapolated_share").doubleValue()).isBetween(0.99, 1.0);
    }

    @Test
    void tenant_without_a_request_is_in_the_results() throws IOException {
        String[] load = with(SMALL_LOAD, "--request-rate=20", "--tenant=a", "--tenant=rare:share=1e-9");
        JsonNode rare = serve(SIMULATED, load).at("/groups/tenants/rare");
        assertThat(rare.get("requests").doubleValue()).isZero();
        assertThat(rare.get("output_throughput").doubleValue()).isZero();
        assertThat(rare.has("median_ttft_ms")).isFalse();
    }

    @Test
    void without_bounds_no_request_of_a_tenant_is_good_or_bad() throws IOException {
        String[] load = with(SMALL_LOAD, "--request-rate=20", "--tenant=a", "--tenant=b");
        assertThat(serve(SIMULATED, load).at("/groups/tenants/a").has("good_share"))
                .isFalse();
        assertThat(serve(SIMULATED, with(load, "--goodput=ttft:1000"))
                        .at("/groups/tenants/a/good_share")
                        .doubleValue())
                .isEqualTo(1);
    }

    @Test
    void sweep_has_the_extrapolated_share_and_the_rate_over_seeds() throws IOException {
        List<String> costs = List.of("--backend=sim", "--step-costs=h100-llama-3.1-8b");
        String[] load = {
            "--num-prompts=60",
            "--random-input-len=3000",
            "--random-output-len=20",
            "--max-batch-size=8",
            "--find-rate=4",
            "--rate-resolution=20",
            "--goodput=ttft:2000",
            "--vary=seed=0,1,2"
        };
        Path file = directory.resolve("sweep.json");
        Path csv = directory.resolve("sweep.csv");
        Outcome outcome = bench("sweep", costs, with(load, "--json=" + file, "--csv=" + csv));
        assertThat(outcome.code()).as(outcome.err()).isZero();
        assertThat(outcome.out())
                .containsPattern(
                        "\nHighest rate that meets the objective with seed=2: [0-9.]+ requests/s or more, undecided"
                                + " at ([0-9.]+) requests/s; [0-9.]+ % of the simulated time at \\1 requests/s is extrapolated;"
                                + " .* is extrapolated\n")
                .containsPattern("\nHighest rate over seeds: [0-9.]+ requests/s or more, 3 seeds\n");
        JsonNode own = SimBench.read(file).get("roseinfer");
        assertThat(own.get("points")
                        .get(0)
                        .get("figures")
                        .get("extrapolated_share")
                        .doubleValue())
                .isBetween(0.1, 1.0);
        JsonNode pooled = own.get("over_seeds").get(0);
        assertThat(own.get("settings")).hasSize(3).allSatisfy(each -> {
            assertThat(each.get("highest").doubleValue())
                    .isGreaterThanOrEqualTo(pooled.get("low").doubleValue());
            assertThat(each.get("highest_below").isNull()).isTrue();
            assertThat(each.get("highest_undecided_by").isNull()).isFalse();
        });
        assertThat(pooled.get("high").isNull()).isTrue();
        assertThat(Files.readAllLines(csv).getFirst().split(",")).contains("extrapolated_share", "backlog_growth");
    }

    /** At the lowest number, requests take a third of the time in which they arrive. */
    @Test
    void found_rate_does_not_depend_on_the_number_of_requests() throws IOException {
        List<Double> rates = new ArrayList<>();
        for (int requests : List.of(200, 600, 2000)) {
            Path file = directory.resolve(requests + ".json");
            Outcome outcome = bench(
                    "sweep",
                    List.of("--backend=sim", "--engines=4", "--step-costs=step:2,token:0.1", "--max-batch-size=64"),
                    "--random-input-len=64",
                    "--random-output-len=64",
                    "--random-range-ratio=0.9",
                    "--ignore-eos",
                    "--find-rate=200",
                    "--goodput",
                    "ttft:200",
                    "tpot:20",
                    "--num-prompts=" + requests,
                    "--json=" + file);
            assertThat(outcome.code()).as(outcome.err()).isZero();
            rates.add(SimBench.read(file).at("/roseinfer/settings/0/highest").doubleValue());
        }
        assertThat(Collections.max(rates) / Collections.min(rates))
                .as("%s", rates)
                .isLessThan(1.1);
    }

    /** The costs were recorded with contexts of up to 4,095 tokens. */
    @Test
    void contexts_beyond_the_recorded_ones_are_noted_as_extrapolated() throws IOException {
        List<String> costs = List.of("--backend=sim", "--step-costs=h100-llama-3.2-1b", "--chunked-prefill");
        String[] load = {"--num-prompts=10", "--request-rate=0.3", "--random-output-len=100", "--max-batch-size=64"};
        String[] chunk = with(load, "--prefill-max-tokens=2048");
        assertThat(serve(costs, with(chunk, "--random-input-len=20000"))
                        .get("validity")
                        .get("notes")
                        .toString())
                .containsPattern("[1-9][0-9.]* % of the simulated time is in steps outside the recorded range .*;"
                        + " contexts up to 4095 tokens\\)");
        assertThat(serve(costs, with(chunk, "--random-input-len=1000")).toString())
                .doesNotContain("outside the recorded range");
    }

    @ParameterizedTest
    @CsvSource({"recorded, held", "resampled, drawn"})
    void older_name_of_step_noise_gives_the_same_result(String name, String olderName) throws IOException {
        Path run = recorded(SIMULATED, with(SMALL_LOAD, "--request-rate=20"));
        List<String> replayed = List.of("--backend=sim", "--model=random:gpt2", "--step-costs=" + run);
        JsonNode requests =
                serve(replayed, with(SMALL_LOAD, "--step-noise=" + name)).get("requests");
        assertThat(serve(replayed, with(SMALL_LOAD, "--step-noise=" + olderName))
                        .get("requests"))
                .isEqualTo(requests);
    }

    @Test
    void roofline_differs_from_the_recording_as_the_page_says() throws IOException {
        String[] times = new String[2];
        for (int i = 0; i < times.length; i++) {
            List<String> costs = List.of(
                    "--backend=sim",
                    "--model=random:llama-3.1-8b",
                    "--step-costs="
                            + List.of("roofline:h100", "h100-llama-3.1-8b").get(i));
            JsonNode request = serve(costs, "--num-prompts=1", "--random-input-len=1024", "--random-output-len=2")
                    .get("requests")
                    .get(0);
            times[i] = String.format(
                    Locale.ROOT,
                    "%.1f ms",
                    request.get("ttft_parts").get("prefill").doubleValue());
        }
        assertThat(Path.of("src/site/markdown/explanation/simulation.md"))
                .content()
                .contains("takes " + times[0] + ", but " + times[1] + " in the recording");
    }

    @Test
    void policies_that_are_not_the_defaults_are_printed() {
        assertThat(bench(
                                "serve",
                                SIMULATED,
                                with(
                                        SMALL_LOAD,
                                        "--kv-blocks=100",
                                        "--replicas=2",
                                        "--routing=least-tokens",
                                        "--step-policy=" + EXAMPLES + "StallFree.java:64",
                                        "--chunked-prefill",
                                        "--kv-eviction-policy=" + EXAMPLES + "TimeToLive.java:chat=5000",
                                        "--speculate=synthetic:0.5"))
                        .out())
                .contains(
                        "\nSettings: batch 8, prefill batch 8, chunked prefill, admission fifo, eviction " + EXAMPLES
                                + "TimeToLive.java:chat=5000, steps " + EXAMPLES
                                + "StallFree.java:64, drafts synthetic:0.5, engines 2, routing least-tokens, KV blocks 100 of 16 tokens\n");
    }

    @Test
    void limits_in_force_are_printed() {
        String[] flags = with(SMALL, "--chunked-prefill", "--kv-blocks=100", "--max-active-requests=4");
        assertThat(bench("serve", SIMULATED, with(SMALL_LOAD, "--kv-blocks=100"))
                        .out())
                .contains("\nSettings: batch 8, prefill batch 8, admission fifo, KV blocks 100 of 16 tokens\n");
        assertThat(bench("serve", ENGINE, flags).out())
                .contains(
                        "\nSettings: dtype none, batch 8, prefill batch 8, active requests 4, chunked prefill, admission fifo,"
                                + " KV blocks 100 of 16 tokens\n");
        assertThat(bench("serve", List.of("--backend=null"), "--num-prompts=4").out())
                .doesNotContain("Settings:");
    }

    @Test
    void default_batch_limit_far_below_the_costs_is_noted_once() throws IOException {
        String note = "step costs cover up to 256 rows; --max-batch-size is 8";
        List<String> shipped = List.of("--backend=sim", "--step-costs=h100-llama-3.1-8b");
        JsonNode own = serve(shipped, SMALL_LOAD);
        assertThat(own.get("validity").get("notes").toString()).contains(note);
        assertThat(own.get("settings").get("max_batch_size").intValue()).isEqualTo(8);
        for (Outcome study : List.of(
                bench("sweep", shipped, with(SMALL_LOAD, "--vary=request-rate=10,20,30")),
                bench("ab", shipped, with(SMALL_LOAD, "--pairs=10", "--request-rate=20")))) {
            assertThat(study.code()).as(study.err()).isZero();
            assertThat(study.err()).containsOnlyOnce(note);
        }
        assertThat(serve(shipped, with(SMALL_LOAD, "--max-batch-size=8")).toString())
                .doesNotContain("step costs cover");
        assertThat(serve(SIMULATED, SMALL_LOAD).toString()).doesNotContain("step costs cover");
    }

    @Test
    void kv_pool_that_no_flag_gives_is_noted_with_its_blocks() throws IOException {
        String note = "the KV pool has 65536 blocks of 16 tokens, the number that comes with the step costs";
        List<String> shipped = List.of("--backend=sim", "--step-costs=h200-gpt2");
        assertThat(serve(shipped, SMALL_LOAD).get("validity").get("notes").toString())
                .contains(note);
        assertThat(serve(shipped, with(SMALL_LOAD, "--kv-blocks=65536")).toString())
                .doesNotContain("KV pool");
        assertThat(serve(SIMULATED, SMALL_LOAD).toString()).doesNotContain("KV pool");
        Outcome fleet = bench(
                "fleet",
                List.of("--engines=2", "--step-costs=h200-qwen3-0.6b", "--engine-costs=1:h100-qwen3-0.6b"),
                SMALL_LOAD);
        assertThat(fleet.out())
                .contains("engine 0: the KV pool has 73759 blocks", "engine 1: the KV pool has 41124 blocks");
        Outcome ab = bench("ab", shipped, with(SMALL_LOAD, "--pairs=10", "--request-rate=20", "--b=--kv-blocks=9000"));
        assertThat(ab.err()).containsOnlyOnce("A: " + note).doesNotContain("B: the KV pool");
    }

    @Test
    void simulated_result_is_labeled_and_names_no_machine() throws IOException {
        String costs = "step costs step:4,token:0.05";
        String page = directory + "/page.html";
        JsonNode own = serve(SIMULATED, with(SMALL_LOAD, "--report", page));
        assertThat(own.get("environment").get("cpu").isNull()).isTrue();
        assertThat(own.get("environment").get("simulated").asString()).isEqualTo(costs);
        assertThat(own.get("validity").get("notes").get(0).asString()).isEqualTo("simulated time, " + costs);
        assertThat(Path.of(page)).content().contains("<strong>Simulated time</strong>, " + costs);
        Outcome serve = bench("serve", SIMULATED, SMALL_LOAD);
        assertThat(serve.out()).contains("Note: simulated time, " + costs + "\n");
        for (Outcome study : List.of(
                bench("sweep", SIMULATED, with(SMALL_LOAD, "--vary=seed=1,2", "--report", page)),
                bench("ab", SIMULATED, with(SMALL_LOAD, "--pairs=10", "--report", page)))) {
            assertThat(study.out()).startsWith("Simulated time: " + costs + "\n");
            assertThat(Path.of(page)).content().contains("<strong>Simulated time</strong>, " + costs);
        }
    }

    @Test
    void intervals_of_simulated_time_leave_out_the_error_of_the_costs() throws IOException {
        String page = directory + "/page.html";
        Path file = directory.resolve("ab.json");
        Outcome outcome = bench("ab", SIMULATED, with(SMALL_LOAD, "--pairs=10", "--report", page, "--json=" + file));
        assertThat(outcome.out()).containsOnlyOnce(ComparisonReport.SIMULATED + "\n");
        assertThat(Path.of(page)).content().containsOnlyOnce(ComparisonReport.SIMULATED);
        assertThat(SimBench.read(file).get("roseinfer").get("notes").get(0).stringValue())
                .isEqualTo(ComparisonReport.SIMULATED);
    }

    private List<String> csv(String study, String... flags) throws IOException {
        Path file = directory.resolve("table.csv");
        Outcome outcome = bench(study, List.of(), with(flags, "--csv=" + file));
        assertThat(outcome.code()).as(outcome.err()).isIn(0, 9);
        return Files.readAllLines(file);
    }

    @Test
    void csv_tells_simulated_times_from_measured_ones() throws IOException {
        String[] measured = {"--device=sim", "--model=builtin:tiny", "--num-prompts=4", "--max-dispatch-lag-ms=1000"};
        String[] simulated = {"--backend=sim", "--num-prompts=30", "--request-rate=20"};
        assertThat(csv("serve", measured).getFirst()).endsWith(",simulated,validation");
        assertThat(csv("serve", measured)).last().asString().endsWith(",false,");
        assertThat(csv("serve", simulated))
                .last()
                .asString()
                .contains(",true,\"largest error against real runs: TTFT 21.1 %, ");
        List<String> sweep = csv("sweep", with(simulated, "--vary=max-batch-size=1,4", "--step-cost-scale=2"));
        assertThat(sweep.getFirst()).endsWith(",simulated,validation");
        assertThat(sweep.subList(1, 3))
                .allSatisfy(row -> assertThat(row).endsWith(",true,not validated against real runs"));
        List<String> arms = csv("ab", with(simulated, "--pairs=10", "--b=--step-cost-scale=1.5"));
        assertThat(arms.get(1)).contains(",a,", ",true,\"largest error against real runs: TTFT 21.1 %, ");
        assertThat(arms.get(2)).contains(",b,").endsWith(",true,not validated against real runs");
    }

    @Test
    void points_of_a_sweep_have_their_own_validation_in_csv() throws IOException {
        List<String> points = csv(
                "sweep",
                "--backend=sim",
                "--num-prompts=30",
                "--request-rate=20",
                "--vary=step-cost-scale=1.0,2.0",
                "--random-input-len=256");
        assertThat(points.get(1)).contains(",true,\"largest error against real runs");
        assertThat(points.get(2)).endsWith(",true,not validated against real runs");
    }

    private List<String> comparedTo(String b, String... flags) throws IOException {
        return compared("median_e2el_ms", b, flags);
    }

    private List<String> compared(String metric, String b, String... flags) throws IOException {
        Path page = directory.resolve("page.html");
        Path file = directory.resolve("ab.json");
        Outcome outcome = bench(
                "ab",
                List.of("--backend=sim", "--pairs=10", "--metric=" + metric, "--request-rate=20", "--b=" + b),
                with(flags, "--num-prompts=30", "--report=" + page, "--json=" + file));
        assertThat(outcome.code()).as(outcome.err()).isIn(0, 9);
        Matcher verdict = Pattern.compile("\n(B is|No difference shown) ").matcher(outcome.out());
        assertThat(verdict.find()).as(outcome.out()).isTrue();
        return List.of(
                outcome.out().substring(verdict.start()),
                SimBench.read(file).at("/roseinfer/notes").toString(),
                Files.readString(page).replace("&#39;", "'"));
    }

    @Test
    void change_below_the_largest_error_of_the_costs_is_noted_in_text_json_and_page() throws IOException {
        String note =
                "The change is below the metric's largest error (11.8 %); measure both before relying on its sign";
        String stallFree = "--chunked-prefill --step-policy tools/examples/policies/StallFree.java:256";
        assertThat(compared("median_tpot_ms", stallFree))
                .allSatisfy(output -> assertThat(output).containsOnlyOnce(note));
        assertThat(compared("median_ttft_ms", stallFree))
                .allSatisfy(output ->
                        assertThat(output).doesNotContain("The change is below", "unknown error", "No compared run"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"mean_e2el_ms", "mean_ttft_ms", "mean_itl_ms"})
    void metric_of_no_compared_run_is_noted_in_text_json_and_page(String metric) throws IOException {
        assertThat(compared(metric, "--chunked-prefill --step-policy tools/examples/policies/StallFree.java:256"))
                .allSatisfy(output -> assertThat(output)
                        .containsOnlyOnce(
                                "No compared run measured " + metric + "; measure both before relying on the change")
                        .doesNotContain("largest error ("));
    }

    @ParameterizedTest
    @CsvSource({
        "median_e2el_ms, 6.4, --chunked-prefill --prefill-max-tokens=512",
        "median_itl_ms, 9.6, --chunked-prefill --step-policy tools/examples/policies/StallFree.java:256"
    })
    void change_is_compared_with_the_error_of_its_own_metric(String metric, double percent, String flags)
            throws IOException {
        assertThat(compared(metric, flags))
                .allSatisfy(output -> assertThat(output)
                        .containsOnlyOnce("The change is below the metric's largest error (" + percent + " %)"));
    }

    @Test
    void change_by_costs_that_are_not_validated_is_noted_in_text_json_and_page() throws IOException {
        String rest = " have an unknown error in these runs; measure both before relying on the change";
        assertThat(comparedTo("--step-cost-scale=1.1"))
                .allSatisfy(output -> assertThat(output).containsOnlyOnce("The costs of B" + rest));
        assertThat(comparedTo("--max-batch-size=1", "--model=random:gpt2", "--step-costs=step:4,token:0.05"))
                .allSatisfy(output -> assertThat(output).containsOnlyOnce("The costs" + rest));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "median_tpot_ms | --prefill-max-tokens=1500 | Changes below the metric's largest error (11.8 %) may be missed",
                "mean_tpot_ms | --prefill-max-tokens=1500 | No compared run measured mean_tpot_ms",
                "median_tpot_ms | --prefill-max-batch-size=1 | The costs of B have an unknown error in these runs"
            })
    void missing_change_is_noted_in_text_json_and_page(String metric, String flag, String caution) throws IOException {
        assertThat(compared(metric, flag))
                .allSatisfy(output -> assertThat(output)
                        .containsOnlyOnce(caution + "; measure both before relying on this")
                        .doesNotContain("B is "));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--step-costs=h200-qwen3-0.6b | TTFT 21.1 %, TPOT 11.8 %, ITL 9.6 %, E2EL 6.4 %",
                "--step-costs=step:4,token:0.05 | unknown"
            })
    void highest_rate_has_a_caution_with_the_error_of_the_costs_in_text_json_and_page(String costs, String error)
            throws IOException {
        Path page = directory.resolve("page.html");
        Path file = directory.resolve("sweep.json");
        Outcome outcome = bench(
                "sweep",
                List.of("--backend=sim", costs, "--num-prompts=60", "--random-input-len=64", "--random-output-len=8"),
                "--max-batch-size=32",
                "--goodput=ttft:1000",
                "--vary=request-rate=5,10",
                "--report=" + page,
                "--json=" + file);
        assertThat(outcome.code()).as(outcome.err()).isZero();
        String caution = "Rates do not include the largest error of the step costs: " + error;
        assertThat(List.of(
                        outcome.out(),
                        SimBench.read(file).at("/roseinfer/notes").toString(),
                        Files.readString(page)))
                .allSatisfy(output -> assertThat(output).containsOnlyOnce(caution));
    }

    @Test
    void default_lengths_fit_simulated_time_without_a_model() {
        Outcome outcome = bench("serve", List.of("--backend=sim", "--step-costs=step:1"), "--num-prompts=3");
        assertThat(outcome.code()).as(outcome.err()).isZero();
        assertThat(outcome.out())
                .containsPattern("Total input tokens: +3072\n")
                .containsPattern("Total generated tokens: +384\n");
    }

    @Test
    void default_lengths_fit_the_context_of_an_in_process_engine() throws IOException {
        String[] flags = {"--device=sim", "--num-prompts=3", "--ignore-eos", "--json", directory + "/run.json"};
        Outcome outcome = bench("serve", List.of(), flags);
        assertThat(outcome.code()).as(outcome.err()).isZero();
        assertThat(outcome.out())
                .containsPattern("Total input tokens: +" + 3 * 384 + "\n")
                .containsPattern("Total generated tokens: +" + 3 * 128 + "\n");
        assertThat(outcome.err())
                .contains("requests have 384 prompt tokens and 128 completion tokens", "the context of 512 tokens");
        JsonNode own = SimBench.read(directory.resolve("run.json")).get("roseinfer");
        assertThat(own.get("command").valueStream().map(JsonNode::asString))
                .contains("--random-input-len=384", "--random-output-len=128");
        assertThat(own.get("settings").get("random_input_len").intValue()).isEqualTo(384);
        assertThat(own.get("settings").get("backend").asString()).isEqualTo("engine");
        Outcome shorter = bench("serve", List.of(), with(flags, "--random-output-len=500"));
        assertThat(shorter.code()).as(shorter.err()).isZero();
        assertThat(shorter.out()).containsPattern("Total input tokens: +" + 3 * 12 + "\n");
    }

    @Test
    void explicit_max_inflight_requests_is_kept() throws IOException {
        Path file = directory.resolve("run.json");
        // Requests of 900 tokens: short ones can end before the next arrives.
        String[] load = {"--num-prompts=40", "--random-input-len=32", "--random-output-len=900", "--ignore-eos"};
        Outcome outcome = bench(
                "serve",
                ENGINE,
                with(
                        load,
                        "--max-dispatch-lag-ms=600000",
                        "--max-inflight-requests=1",
                        "--max-failed=1",
                        "--json",
                        file.toString()));
        assertThat(outcome.out()).containsPattern("Failed requests: +[1-9]");
        assertThat(SimBench.read(file)
                        .get("roseinfer")
                        .get("settings")
                        .get("max_inflight_requests")
                        .intValue())
                .isEqualTo(1);
    }

    @Test
    void requests_ending_at_the_context_limit_are_reported_as_such() {
        Outcome outcome = bench(
                "serve",
                List.of("--backend=sim", "--model=builtin:tiny", "--step-costs=step:1"),
                "--num-prompts=40",
                "--random-input-len=300",
                "--random-output-len=200",
                "--random-range-ratio=0.5");
        assertThat(outcome.code()).isEqualTo(8);
        assertThat(outcome.err())
                .containsPattern("[1-9][0-9]* of 40 requests ended at the model's context of 512 tokens: request")
                .doesNotContain("counts are wrong");
    }

    @Test
    void recorded_costs_apply_to_their_model_only() {
        Outcome shipped = bench("serve", List.of("--backend=sim"), "--num-prompts=30", "--request-rate=20");
        assertThat(shipped.code()).as(shipped.err()).isZero();
        assertThat(shipped.out())
                .contains(
                        "Note: simulated time, costs: NVIDIA H200, qwen3-0.6b in bf16, recorded 2026-11-29 at d9bd6e21, not this"
                                + " machine, largest error against real runs: TTFT 21.1 %, TPOT 11.8 %, ITL 9.6 %, E2EL 6.4 % (p50, p90 and p99 in 25 runs of"
                                + " other seeds on three GPUs, of prompts + outputs of 256 + 64,",
                        " on two engines)\n", "Valid: yes");
        Outcome other = bench("serve", List.of("--backend=sim"), "--model=random:smollm2-135m");
        assertThat(other.code()).isEqualTo(2);
        assertThat(other.err())
                .contains("--backend sim has no recorded step costs of it", "Recorded costs: h200-qwen3-0.6b")
                .hasLineCount(1);
        Outcome named =
                bench("serve", List.of("--backend=sim"), "--model=random:smollm2-135m", "--step-costs=h200-qwen3-0.6b");
        assertThat(named.code()).isEqualTo(2);
        assertThat(named.err())
                .contains(
                        "--step-costs h200-qwen3-0.6b was recorded with random:qwen3-0.6b (28 layers of width 1024, ",
                        ", but --model is random:smollm2-135m (30 layers of width 576, ",
                        "; give costs of that model, or --model random:qwen3-0.6b")
                .hasLineCount(1);
    }

    @Test
    void page_of_a_run_names_its_costs_once_above_the_figures() throws IOException {
        serve(SIMULATED, SMALL_LOAD);
        Path page = directory.resolve("run.html");
        CliRunner.run("report", directory.resolve("run.json").toString(), "-o", page.toString());
        String head = Files.readString(page).split("<figure", 2)[0];
        assertThat(head.split("step costs step:4,token:0.05", -1)).hasSize(2);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--replicas=2 --routing=vllm | , not validated with 2 engines, --routing vllm",
                "--chunked-prefill --replicas=2 --step-costs=h200-qwen3-0.6b | , not validated in this combination (2 engines, chunked prefill)",
                "--prefill-admission-policy=pack --preemption-policy=youngest | , not validated with --prefill-admission-policy pack",
                "--speculate=synthetic:0.5  | , not validated with drafts",
                "--step-noise=0.1           | , not validated with random step times",
                "--step-cost-scale=1.5      | , multiplied by 1.5, not validated against real runs",
                "--request-rate=inf | , not validated with --max-batch-size 8 (compared runs: 256), --request-rate inf, more active requests than the batch",
                "--request-rate=5000 --max-active-requests=8 | , not validated with --max-batch-size 8 (compared runs: 256), a load beyond the capacity",
                "--max-active-requests=2     | , not validated with fewer active requests than the batch",
                "--prefill-max-batch-size=1  | , not validated with --prefill-max-batch-size",
                "--kv-blocks=500 --block-size=64 | , not validated with --block-size, --kv-blocks",
                "--no-prefix-cache           | , not validated with --no-prefix-cache",
                "--burstiness=0.5            | , not validated with --burstiness"
            })
    void settings_that_no_validation_covers_take_the_place_of_its_error(String flags, String words) {
        assertThat(bench(
                                "serve",
                                List.of("--backend=sim", "--num-prompts=30", "--random-input-len=256"),
                                (flags
                                                + (flags.contains("--step-costs") ? "" : " --step-costs=h200-gpt2")
                                                + (flags.contains("--request-rate") ? "" : " --request-rate=20"))
                                        .split(" "))
                        .out())
                .contains("not this machine" + words + "\n")
                .doesNotContain("largest error");
    }

    private String sourceOf(String... flags) {
        Outcome run = bench(
                "serve",
                List.of("--backend=sim", "--num-prompts=5", "--request-rate=20", "--random-output-len=8"),
                flags);
        return run.out()
                .lines()
                .filter(line -> line.startsWith("Note: simulated time"))
                .findFirst()
                .orElseThrow(() -> new AssertionError(run.err()));
    }

    @Test
    void validation_of_a_policy_is_of_its_class_and_argument() throws IOException {
        String validated = "--prefill-admission-policy=tools/examples/ShortestFirst.java";
        String stallFree = "--step-policy=tools/examples/policies/StallFree.java";
        Path changed = Files.writeString(
                directory.resolve("ShortestFirst.java"),
                Files.readString(Path.of("tools/examples/ShortestFirst.java"))
                        .replace("class ShortestFirst", "class ShortestFirst extends Thread"));
        assertThat(sourceOf(validated)).contains("largest error against real runs");
        assertThat(sourceOf("--prefill-admission-policy=" + changed))
                .contains("not validated with --prefill-admission-policy ShortestFirst (class ");
        assertThat(sourceOf("--chunked-prefill", stallFree + ":256")).contains("largest error against real runs");
        assertThat(sourceOf("--chunked-prefill", stallFree + ":128"))
                .contains("not validated with --step-policy StallFree:128 (class ");
        assertThat(sourceOf("--kv-eviction-policy=tools/examples/policies/TimeToLive.java:a=5"))
                .contains("not validated with --kv-eviction-policy TimeToLive:a=5 (class ");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "--max-batch-size=256 --max-active-requests=256 --seed=31 --random-input-len=256 --random-output-len=64"
                        + " --random-range-ratio=0.5 --prefill-max-tokens=8192 --num-prompts=2000 --request-rate=310",
                "--max-batch-size=32 --max-active-requests=32 --prefill-max-tokens=2048 --num-prompts=1500 --seed=31"
                        + " --random-input-len=128 --random-output-len=128 --random-range-ratio=0.8"
                        + " --tenant=ask:share=4,input=128,output=96 --tenant=document:share=1,input=1100,output=48"
                        + " --request-rate=195 --chunked-prefill --step-policy=tools/examples/policies/StallFree.java:256",
                "--step-costs=h100-llama-3.2-1b --model=random:llama-3.2-1b --max-batch-size=256 --max-active-requests=256"
                        + " --prefill-max-tokens=8192 --dataset=synthetic --random-input-len=128 --random-output-len=96"
                        + " --clip-to=4096 --num-prompts=500 --request-rate=50"
            })
    void compared_commands_keep_the_stated_error(String flags) {
        assertThat(bench("serve", List.of("--backend=sim", "--max-model-len=4096"), flags.split(" "))
                        .out())
                .contains("largest error against real runs");
    }

    @Test
    void tenants_keep_the_stated_error_only_without_priorities_and_deadlines() {
        assertThat(sourceOf("--tenant=a", "--tenant=b:share=2")).contains("largest error against real runs");
        assertThat(sourceOf("--tenant=a", "--tenant=b:share=2,priority=1")).endsWith(", not validated with priorities");
        assertThat(sourceOf("--tenant=a:deadline_ms=900,priority=2"))
                .endsWith(", not validated with deadlines, priorities");
    }

    @Test
    void prefill_batch_of_its_default_keeps_the_stated_error() {
        assertThat(sourceOf("--prefill-max-batch-size=8")).contains("largest error against real runs");
        assertThat(sourceOf("--max-batch-size=64", "--prefill-max-batch-size=64"))
                .contains("largest error against real runs");
        assertThat(sourceOf("--max-batch-size=64", "--prefill-max-batch-size=8"))
                .endsWith(", not validated with --prefill-max-batch-size");
    }

    @Test
    void settings_validated_apart_are_not_validated_in_combination() {
        assertThat(sourceOf("--replicas=2", "--routing=least-tokens")).contains("largest error against real runs");
        assertThat(sourceOf("--replicas=2", "--routing=least-tokens", "--chunked-prefill"))
                .contains("not validated in this combination (2 engines, --routing least-tokens, chunked prefill)")
                .doesNotContain("largest error");
    }

    @Test
    void properties_of_a_run_that_no_validation_covers_take_the_place_of_its_error() {
        List<String> costs = List.of("--backend=sim", "--step-costs=h200-qwen3-0.6b");
        assertThat(bench("serve", costs, "--dataset=synthetic", "--num-prompts=100", "--kv-blocks=200")
                        .out())
                .contains(", not validated with --dataset, --kv-blocks, preemptions, prefix-cache hits\n")
                .doesNotContain("largest error");
        String[] full = {"--num-prompts=30", "--random-input-len=256", "--kv-blocks=150", "--pairs=10"};
        assertThat(bench("ab", costs, with(full, "--request-rate=100", "--b=--prefill-max-batch-size=2"))
                        .out())
                .contains(
                        "a/b: 10 pairs",
                        ", not validated with --max-batch-size 8 (compared runs: 32 to 256), --kv-blocks",
                        "preemptions\n")
                .doesNotContain("largest error");
    }

    @Test
    void extrapolated_time_takes_the_place_of_the_stated_error() {
        List<String> costs =
                List.of("--backend=sim", "--step-costs=h200-gpt2", "--num-prompts=50", "--request-rate=20");
        assertThat(bench("serve", costs, "--random-input-len=900").out())
                .contains(", not validated with over 5 % of the time outside the recorded range\n")
                .doesNotContain("largest error");
        assertThat(bench("serve", costs, "--random-input-len=256", "--random-output-len=64")
                        .out())
                .contains("largest error against real runs");
    }

    /** The queue is short at the last arrival. */
    @Test
    void no_error_is_stated_for_a_load_that_queues_longer_than_that_of_every_compared_run() throws IOException {
        String[] load = {
            "--backend=sim",
            "--step-costs=h200-llama-3.2-1b",
            "--max-batch-size=256",
            "--random-input-len=256",
            "--random-output-len=64",
            "--random-range-ratio=0.5",
            "--num-prompts=600"
        };
        assertThat(serve(List.of(load), "--request-rate=365")
                        .at("/environment/simulated")
                        .asString())
                .contains("largest error against real runs: TTFT 13.0 %, TPOT 3.6 %, ITL 10.7 %, E2EL 3.5 % (p50");
        assertThat(serve(List.of(load), "--request-rate=640")
                        .at("/environment/simulated")
                        .asString())
                .containsPattern(
                        "not validated with a mean of 1[0-9]{2}[.][0-9] requests on an engine \\(compared runs: up to 30.4\\)")
                .doesNotContain("largest error");
    }

    @Test
    void point_of_a_sweep_without_a_stated_error_is_named() {
        List<String> shared = List.of("--backend=sim", "--num-prompts=100", "--max-active-requests=8");
        Outcome sweep = bench("sweep", shared, "--random-input-len=256", "--vary=request-rate=1,1000");
        assertThat(sweep.err())
                .containsPattern("first at point \\{request-rate=1}: costs: .*largest error")
                .containsPattern(
                        "first at point \\{request-rate=1000}: costs: .*not validated with --max-batch-size 8 \\(compared runs: 32 to 256\\), a load beyond");
    }

    @Test
    void source_names_the_arm_that_it_belongs_to_in_text_and_page() throws IOException {
        Path page = directory.resolve("page.html");
        List<String> shared = List.of("--backend=sim", "--num-prompts=30", "--request-rate=20", "--pairs=10");
        Outcome ab = bench("ab", shared, "--b=--max-batch-size=16 --step-cost-scale=1.5", "--report=" + page);
        assertThat(ab.out())
                .contains("Simulated time of A: costs: ", "Simulated time of B: costs: ")
                .doesNotContain("Simulated time: ");
        assertThat(ab.err()).contains("roseinfer: A: step costs cover up to 256 rows; --max-batch-size is 8");
        assertThat(page)
                .content()
                .contains("<strong>Simulated time of A</strong>, ", "<strong>Simulated time of B</strong>, ")
                .doesNotContain("<strong>Simulated time</strong>");
    }

    @Test
    void source_names_the_points_that_it_belongs_to_in_text_and_page() throws IOException {
        Path page = directory.resolve("page.html");
        List<String> shared = List.of("--backend=sim", "--num-prompts=100", "--max-active-requests=8");
        Outcome sweep =
                bench("sweep", shared, "--random-input-len=256", "--vary=request-rate=1000,1", "--report=" + page);
        assertThat(sweep.out())
                .containsPattern(
                        "Simulated time of request-rate=1000: costs: .*not validated with --max-batch-size 8 \\(compared runs: 32 to 256\\), a load beyond")
                .containsPattern("Simulated time of request-rate=1: costs: .*largest error");
        assertThat(page)
                .content()
                .containsPattern("<strong>Simulated time of request-rate 1</strong>, costs: [^<]*largest error");
    }

    @Test
    void recording_applies_to_its_own_model_only() throws IOException {
        String file = recorded(SIMULATED, SMALL_LOAD).toString();
        List<String> replayed = List.of("--backend=sim", "--step-costs=" + file);
        JsonNode run = serve(replayed, SMALL_LOAD);
        assertThat(run.get("settings").get("model").stringValue()).isEqualTo("random:gpt2");
        assertThat(run.get("validity").get("notes").toString())
                .contains("recorded with random:gpt2, not validated against real runs");
        Outcome other = bench("serve", replayed, "--model=random:qwen3-0.6b");
        assertThat(other.code()).isEqualTo(2);
        assertThat(other.err())
                .contains(file + " was recorded with random:gpt2 (12 layers", ", but --model is random:qwen3-0.6b (28 ")
                .hasLineCount(1);
    }

    @Test
    void recording_of_skewed_steps_notes_their_total_in_text_json_and_page() throws IOException {
        List<String> skewed =
                List.of("--backend=sim", "--model=random:gpt2", "--step-costs=step:4,token:0.05", "--step-noise=0.8");
        String[] load = {"--num-prompts=1000", "--random-input-len=32", "--random-output-len=8"};
        String note = "times as long in total (only --step-noise recorded and resampled keep that), not validated";
        Path file = recorded(skewed, load);
        List<String> replayed = List.of("--backend=sim", "--step-costs=" + file);
        assertThat(bench("serve", replayed, load).out()).contains(note);
        assertThat(serve(replayed, load).get("environment").get("simulated").stringValue())
                .contains(note);
        Path page = directory.resolve("run.html");
        CliRunner.run("report", directory.resolve("run.json").toString(), "-o", page.toString());
        assertThat(Files.readString(page)).contains(note);
    }

    @Test
    void costs_of_an_engine_are_of_the_fleets_model() {
        Outcome other = bench("fleet", List.of("--engines=2"), "--engine-costs=1:h200-gpt2");
        assertThat(other.code()).isEqualTo(2);
        assertThat(other.err())
                .contains(
                        "--engine-costs h200-gpt2 was recorded with random:gpt2 (12 ",
                        ", but --model is random:qwen3-0.6b (28 ")
                .hasLineCount(1);
    }

    @Test
    void recordings_of_one_model_are_fitted_together() throws IOException {
        Path few =
                Files.move(recorded(SIMULATED, with(SMALL_LOAD, "--max-batch-size=4")), directory.resolve("few.json"));
        Path many = recorded(SIMULATED, with(SMALL_LOAD, "--max-batch-size=32"));
        List<String> both =
                List.of("--backend=sim", "--model=random:gpt2", "--step-noise=0", "--step-costs=" + few + "," + many);
        JsonNode run = serve(both, with(SMALL_LOAD, "--max-batch-size=32"));
        assertThat(run.get("validity").get("notes").toString())
                .containsPattern(
                        "step costs of " + few + " \\(40 requests, device sim, 20\\d\\d-\\d\\d-\\d\\d[^)]*\\), " + many
                                + " \\(40 requests, device sim, [^)]*\\), recorded with random:gpt2")
                .doesNotContain("outside the recorded range");
    }

    @Test
    void recording_given_twice_is_rejected() throws IOException {
        Path one = recorded(SIMULATED, SMALL_LOAD);
        Path copy = Files.copy(one, directory.resolve("copy.json"));
        List<String> flags = List.of("--backend=sim", "--model=random:gpt2");
        Outcome same = bench("serve", flags, "--step-costs=" + one + "," + one);
        assertThat(same.code()).isEqualTo(2);
        assertThat(same.err())
                .contains(one + " is given twice; each file must be of another run: leave one out")
                .hasLineCount(1);
        assertThat(bench("serve", flags, "--step-costs=" + one + "," + copy).err())
                .contains(copy + " is the same recording as " + one + "; each file must be of another run")
                .hasLineCount(1);
    }

    @Test
    void recording_of_an_engine_names_its_machine_date_and_commit() throws IOException {
        Path run = directory.resolve("recorded.json");
        Files.writeString(
                run,
                Files.readString(recorded(SIMULATED, SMALL_LOAD))
                        .replaceFirst("\"device\"\\s*:\\s*\"sim\"", "\"device\":\"cpu\"")
                        .replaceFirst("\"cpu\"\\s*:\\s*null", "\"cpu\":\"A CPU\"")
                        .replaceFirst("\"commit\"\\s*:\\s*(null|\"[^\"]*\")", "\"commit\":\"0123456789abc\"")
                        .replaceFirst("\"date\"\\s*:\\s*\"[^\"]*\"", "\"date\":\"2026-11-28T01:02:03Z\""));
        assertThat(bench("serve", List.of("--backend=sim", "--step-costs=" + run), SMALL_LOAD)
                        .out())
                .contains("step costs of " + run + " (40 requests, A CPU, 2026-11-28, commit 01234567), recorded with");
    }

    @Test
    void recordings_of_two_models_are_rejected() throws IOException {
        Path one = Files.move(recorded(SIMULATED, SMALL_LOAD), directory.resolve("one.json"));
        List<String> qwen = List.of("--backend=sim", "--model=random:qwen3-0.6b", "--step-costs=step:4,token:0.05");
        Path other = recorded(qwen, SMALL_LOAD);
        Outcome outcome =
                bench("serve", List.of("--backend=sim", "--model=random:gpt2"), "--step-costs=" + one + "," + other);
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err())
                .contains("has model random:qwen3-0.6b, but", "has random:gpt2; step costs are of one model")
                .hasLineCount(1);
    }

    @Test
    void roofline_costs_follow_the_model() throws IOException {
        JsonNode small =
                serve(List.of("--backend=sim", "--model=random:gpt2", "--step-costs=roofline:h100"), SMALL_LOAD);
        JsonNode large =
                serve(List.of("--backend=sim", "--model=random:qwen3-8b", "--step-costs=roofline:h100"), SMALL_LOAD);
        assertThat(lastToken(large)).isGreaterThan(3 * lastToken(small));
        assertThat(large.get("validity").get("notes").toString())
                .contains("step costs roofline of h100 for qwen3-8b, not measured");
    }

    private static long lastToken(JsonNode run) {
        return run.get("requests")
                .valueStream()
                .flatMap(request -> request.get("event_ns").valueStream())
                .mapToLong(JsonNode::longValue)
                .max()
                .orElseThrow();
    }
}

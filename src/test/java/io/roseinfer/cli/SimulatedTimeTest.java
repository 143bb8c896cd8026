package io.roseinfer.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.cli.CliRunner.Outcome;
import io.roseinfer.scheduler.policy.AdmissionPolicy;
import io.roseinfer.scheduler.policy.QueueView;
import io.roseinfer.scheduler.policy.WaitingRequest;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** What {@code bench} says of runs on simulated time. */
@Timeout(120)
class SimulatedTimeTest {
    private static final List<String> SIMULATED =
            List.of("--backend=sim", "--model=random:gpt2", "--step-costs=step:4,token:0.05");

    /** The request that came last first, without end. */
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

    /** Of a burst that is served two at a time nearly all requests wait for others, on whatever clock. */
    @Test
    void requests_that_wait_for_others_are_in_the_queue_on_simulated_time_as_in_an_engine() throws IOException {
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
    void admissions_that_the_policy_did_not_choose_are_counted_and_noted() throws IOException {
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
                .contains(forced + " admissions were forced by the limit of 64 skips per request, not chosen by the"
                        + " admission policy");
        flags[5] = "--prefill-admission-policy=fifo";
        assertThat(serve(SIMULATED, flags)
                        .get("scheduler")
                        .get("forced_admissions")
                        .longValue())
                .isZero();
    }

    @Test
    void preemptions_recomputed_tokens_and_cache_hits_are_printed_and_in_a_sweep() throws IOException {
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
}

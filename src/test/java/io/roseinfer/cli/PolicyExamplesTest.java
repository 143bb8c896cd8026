package io.roseinfer.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.cli.CliRunner.Outcome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs the policies in {@code tools/examples/policies} on simulated time, as their users do. */
@Tag("process")
class PolicyExamplesTest {
    private static final Path FOLDER = Path.of("tools/examples/policies");

    private static final String ADMISSION = "--max-active-requests 4 --prefill-admission-policy ";
    private static final String STEPS = "--chunked-prefill --prefill-max-tokens 128 --step-policy ";

    private static final Map<String, String> FLAGS = Map.of(
            "ShortestPredicted.java", ADMISSION + FOLDER + "/ShortestPredicted.java:10",
            "Vtc.java", ADMISSION + FOLDER + "/Vtc.java",
            "EarliestDeadline.java", ADMISSION + FOLDER + "/EarliestDeadline.java",
            "StallFree.java", STEPS + FOLDER + "/StallFree.java:64",
            "Mlfq.java", STEPS + FOLDER + "/Mlfq.java --kv-blocks 40",
            "TimeToLive.java", "--kv-blocks 60 --kv-eviction-policy " + FOLDER + "/TimeToLive.java:agent=1000",
            "Preble.java", "--engines 3 --routing " + FOLDER + "/Preble.java",
            "TargetRequests.java",
                    "--engines 3 --scale-interval 0.2 --scale-policy " + FOLDER + "/TargetRequests.java:8");

    @Test
    void every_policy_serves_all_requests() throws IOException {
        try (Stream<Path> files = Files.list(FOLDER)) {
            assertThat(files.map(file -> file.getFileName().toString()))
                    .containsExactlyInAnyOrderElementsOf(FLAGS.keySet());
        }
        FLAGS.forEach((policy, flags) -> {
            Outcome outcome = CliRunner.run(("bench serve --backend sim --step-costs step:2,token:0.1 --num-prompts 60"
                            + " --request-rate 60 --random-input-len 48 --random-output-len 48 --random-range-ratio 0.9"
                            + " --ignore-eos " + flags)
                    .split(" "));
            assertThat(outcome.code()).as("%s: %s", policy, outcome.err()).isZero();
            assertThat(outcome.out()).as(policy).contains("Valid: yes");
        });
    }

    /** A pause that began with the clock, and not with the request, would lift every request to the highest level. */
    @Test
    void mlfq_schedules_the_same_requests_equally_however_late_they_arrive(@TempDir Path folder) throws IOException {
        String policy = STEPS + FOLDER + "/Mlfq.java --max-active-requests 256 --kv-blocks 6000";
        String early = latencies(Files.writeString(folder.resolve("early.jsonl"), load(1_000)), policy);
        String late = latencies(Files.writeString(folder.resolve("late.jsonl"), load(30_000)), policy);
        assertThat(late).isNotEmpty().isEqualTo(early);
    }

    /** Returns a request at once and sixty of mixed lengths after {@code startMillis}. */
    private static String load(int startMillis) {
        Random random = new Random(1);
        StringBuilder lines = new StringBuilder("{\"prompt\":[1],\"timestamp_ms\":0,\"output_tokens\":4}\n");
        for (int i = 0; i < 60; i++) {
            String prompt = "[7" + ",7".repeat(random.nextBoolean() ? 31 : 899) + "]";
            lines.append("{\"prompt\":%s,\"timestamp_ms\":%d,\"output_tokens\":%d}\n"
                    .formatted(prompt, startMillis + 8 * i, random.nextBoolean() ? 20 : 120));
        }
        return lines.toString();
    }

    private static String latencies(Path load, String flags) {
        Outcome outcome = CliRunner.run(("bench serve --backend sim --step-costs step:2,token:0.1 --dataset-name jsonl"
                        + " --num-prompts 61 --ignore-eos --max-batch-size 8 --dataset-path " + load + " " + flags)
                .split(" "));
        assertThat(outcome.code()).as(outcome.err()).isZero();
        return outcome.out()
                .lines()
                .filter(line -> line.startsWith("E2EL from scheduled time"))
                .collect(Collectors.joining());
    }
}

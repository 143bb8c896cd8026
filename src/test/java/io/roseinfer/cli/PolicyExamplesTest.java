package io.roseinfer.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.cli.CliRunner.Outcome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

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
}

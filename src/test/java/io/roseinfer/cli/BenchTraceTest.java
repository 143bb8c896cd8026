package io.roseinfer.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.base.StrictJson;
import io.roseinfer.cli.CliRunner.Outcome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Tests of recorded and synthetic loads in {@code bench streaming} and {@code bench serve}. */
@Tag("process")
@Timeout(120)
class BenchTraceTest {
    private static final List<String> MOONCAKE = List.of(
            "{\"timestamp\": 0, \"input_length\": 600, \"output_length\": 3, \"hash_ids\": [1, 2]}",
            "{\"timestamp\": 2, \"input_length\": 5000, \"output_length\": 4, \"hash_ids\": [1, 3]}",
            "{\"timestamp\": 4, \"input_length\": 700, \"output_length\": 5, \"hash_ids\": [1, 4]}");

    @TempDir
    private Path directory;

    private Outcome run(String command, String... flags) throws IOException {
        List<String> args = new ArrayList<>(List.of(command.split(" ")));
        args.addAll(List.of("--device=sim", "--model=random:gpt2", "--json=" + file()));
        args.addAll(List.of(flags));
        if (args.contains("--dataset=mooncake")) {
            args.add("--dataset-path=" + Files.write(directory.resolve("trace.jsonl"), MOONCAKE));
        }
        return CliRunner.run(args.toArray(String[]::new));
    }

    private Path file() {
        return directory.resolve("run.json");
    }

    private JsonNode result() throws IOException {
        return StrictJson.parse(Files.readAllBytes(file()));
    }

    @Test
    void bench_streaming_replays_a_trace_and_notes_clipped_requests() throws IOException {
        Outcome outcome = run("bench streaming", "--dataset=mooncake", "--num-requests=3", "--no-stop-on-eos");
        assertThat(outcome.code()).as(outcome.err()).isZero();
        assertThat(outcome.err()).contains("1 prompts are clipped, by 3977 tokens in total");
        JsonNode requests = result().get("runs").get(0).get("requests");
        assertThat(requests.valueStream()
                        .map(request -> request.get("prompt_tokens").intValue()))
                .containsExactly(600, 1023, 700);
        assertThat(requests.valueStream().map(request -> request.get("token_ns").size()))
                .containsExactly(3, 1, 5);
        assertThat(requests.get(2).get("cached_tokens").intValue())
                .as("the block of 512 tokens that the first one had, too")
                .isEqualTo(512);
        assertThat(requests.get(2).get("submit_start_ns").longValue()).isGreaterThanOrEqualTo(4_000_000);
        assertThat(outcome.out()).contains("Submit lag");
    }

    @Test
    void bench_streaming_combines_random_arrivals_with_its_prompts() throws IOException {
        Outcome outcome = run("bench streaming", "--num-requests=20", "--request-rate=2000", "--seed=3");
        assertThat(outcome.code()).as(outcome.err()).isZero();
        assertThat(outcome.out()).contains("Requests: 20", "Submit lag");
    }

    @Test
    void bench_serve_replays_a_trace_and_records_clipped_requests() throws IOException {
        Outcome outcome = run(
                "bench serve",
                "--backend=engine",
                "--dataset=mooncake",
                "--clip-to=1024",
                "--trace-speed=2",
                "--ignore-eos",
                "--max-dispatch-lag-ms=600000");
        assertThat(outcome.code()).as(outcome.err()).isZero();
        JsonNode own = result().get("roseinfer");
        assertThat(own.get("data").get("clipped_prompt_tokens").intValue()).isEqualTo(3977);
        assertThat(own.get("requests")
                        .valueStream()
                        .map(request -> request.get("due_ns").longValue()))
                .containsExactly(0L, 1_000_000L, 2_000_000L);
    }

    @Test
    void synthetic_trace_needs_no_file() throws IOException {
        Outcome outcome = run(
                "bench streaming",
                "--dataset=synthetic",
                "--num-requests=20",
                "--trace-speed=1000",
                "--random-input-len=30",
                "--random-output-len=5");
        assertThat(outcome.code()).as(outcome.err()).isZero();
        assertThat(result().get("runs").get(0).get("cached_tokens").intValue()).isPositive();
    }

    @Test
    void trace_speed_without_recorded_times_is_rejected() throws IOException {
        assertThat(run("bench streaming", "--dataset=random", "--trace-speed=2").err())
                .contains("--trace-speed scales the times of a trace; these requests have none");
        assertThat(run("bench serve", "--dataset=mooncake", "--request-rate=5", "--trace-speed=2")
                        .err())
                .contains("a request rate replaces them, so leave one out");
    }
}

package io.roseinfer.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.cli.CliRunner.Outcome;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.observe.RequestEvent;
import io.roseinfer.observe.RequestObserver;
import io.roseinfer.observe.StepEvent;
import io.roseinfer.observe.StepObserver;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of {@code --observe} with observers of a user. */
@Tag("process")
@Timeout(120)
class ObserveTest {
    private static final String EXAMPLE = "tools/examples/StepCsv.java";
    private static final String SIM =
            "bench serve --backend sim --step-costs step:2 --num-prompts 6 --random-input-len 8";
    private static final String ENGINE =
            "bench serve --backend engine --device sim --model random:gpt2 --num-prompts 6 --random-input-len 8";
    private static final String GENERATE = "generate --device sim --model random:gpt2 --prompt a --max-new-tokens 3";

    @TempDir
    private Path folder;

    /** Writes its counts and the engines that ran steps to a file when it is closed. */
    public static final class Counting implements StepObserver, RequestObserver, AutoCloseable {
        private final Path file;
        private final Set<Long> engines = new TreeSet<>();
        private int accepted;
        private int ended;

        public Counting(String file) {
            this.file = Path.of(file);
        }

        @Override
        public synchronized void on(StepEvent event, StepRecord step) {
            if (event == StepEvent.APPLIED) {
                engines.add(step.get(Fact.ENGINE));
            }
        }

        @Override
        public synchronized void on(RequestEvent event) {
            accepted += event instanceof RequestEvent.Accepted ? 1 : 0;
            ended += event instanceof RequestEvent.Ended ? 1 : 0;
        }

        @Override
        public void close() throws IOException {
            Files.writeString(file, accepted + " accepted, " + ended + " ended, engines " + engines);
        }
    }

    private static Outcome run(String command, String observer) {
        return CliRunner.run(Stream.concat(Stream.of(command.split(" ")), Stream.of("--observe", observer))
                .toArray(String[]::new));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                GENERATE + " | 1 accepted, 1 ended, engines [0]",
                SIM + " | 6 accepted, 6 ended, engines [0]",
                ENGINE + " --warmup-requests 3 | 6 accepted, 6 ended, engines [0]",
                ENGINE + " --replicas 2 --routing round-robin | 6 accepted, 6 ended, engines [0, 1]",
                "bench fleet --engines 3 --prefill-engines 1 --kv-transfer 50 --step-costs step:2 --num-prompts 6"
                        + " --random-input-len 8 --routing round-robin | 6 accepted, 6 ended, engines [0, 1, 2]"
            })
    void observer_sees_the_steps_and_requests_of_all_replicas_and_is_closed(String command, String seen)
            throws IOException {
        Path file = folder.resolve("seen");
        Outcome outcome = run(command, Counting.class.getName() + ":" + file);
        assertThat(outcome.code()).as(outcome.err()).isZero();
        assertThat(file).hasContent(seen);
    }

    @ParameterizedTest
    @ValueSource(strings = {SIM, ENGINE})
    void result_file_has_the_hash_of_the_class(String command) throws IOException {
        Path results = folder.resolve("results.json");
        Outcome outcome = run(command + " --json " + results, EXAMPLE + ":" + folder.resolve("steps.csv"));
        assertThat(outcome.code()).as(outcome.err()).isZero();
        assertThat(Files.readString(results)).containsPattern("\"policies\" ?: ?\\{\\s*\"StepCsv\" ?: ?\"[0-9a-f]{64}");
    }

    /** Throws at an event of a request, at {@code step}, or at {@code close}. */
    public static final class Bad implements StepObserver, RequestObserver, AutoCloseable {
        private final String at;

        public Bad(String at) {
            this.at = at;
        }

        private void fail(String here) {
            if (here.equals(at)) {
                throw new IllegalStateException("boom");
            }
        }

        @Override
        public void on(StepEvent event, StepRecord step) {
            fail(event == StepEvent.APPLIED ? "step" : "");
        }

        @Override
        public void on(RequestEvent event) {
            fail(event.getClass().getSimpleName());
        }

        @Override
        public void close() {
            fail("close");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"Accepted", "Admitted", "Ended", "step", "close"})
    void observer_that_throws_exits_with_7_and_is_named(String at) {
        for (String command : List.of(GENERATE, SIM, ENGINE)) {
            Outcome outcome = run(command, Bad.class.getName() + ":" + at);
            assertThat(outcome.code()).as("%s: %s", command, outcome.err()).isEqualTo(7);
            assertThat(outcome.err())
                    .as(command)
                    .contains(
                            "the observer " + Bad.class.getName() + " threw java.lang.IllegalStateException: boom at");
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                GENERATE + " | java.lang.String"
                        + " | implements io.roseinfer.observe.StepObserver or io.roseinfer.observe.RequestObserver",
                GENERATE + " | tools/examples/Hello.java"
                        + " | declares no class that implements io.roseinfer.observe.StepObserver or",
                "bench serve --base-url http://127.0.0.1:1 | " + EXAMPLE
                        + " | --observe needs an engine in this process"
            })
    void observer_that_cannot_be_used_is_rejected(String command, String observer, String message) {
        Outcome outcome = run(command, observer);
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err()).contains(message).hasLineCount(1);
    }

    @Test
    void example_writes_a_line_for_each_step() throws IOException {
        Path file = folder.resolve("steps.csv");
        Outcome outcome = run(SIM + " --random-output-len 5 --ignore-eos", EXAMPLE + ":" + file);
        assertThat(outcome.code()).as(outcome.err()).isZero();
        List<String> lines = Files.readAllLines(file);
        assertThat(lines.getFirst()).isEqualTo("engine,step,start_nanos,rows,tokens,nanos");
        List<String[]> steps =
                lines.stream().skip(1).map(line -> line.split(",")).collect(Collectors.toList());
        assertThat(steps.stream().mapToInt(step -> Integer.parseInt(step[4])).sum())
                .as("6 prompts of 8 tokens, and all of 5 tokens but the last")
                .isEqualTo(6 * (8 + 4));
        assertThat(steps).extracting(step -> step[5]).containsOnly("2000000");
    }

    @Test
    void example_writes_a_line_for_each_request() throws IOException {
        Path file = folder.resolve("requests.csv");
        String example = "tools/examples/RequestCsv.java:" + file;
        Outcome outcome = run(SIM + " --random-output-len 5 --ignore-eos", example);
        assertThat(outcome.code()).as(outcome.err()).isZero();
        assertThat(Files.readAllLines(file))
                .hasSize(1 + 6)
                .first()
                .isEqualTo("request,priority,prompt_tokens,cached_tokens,generated_tokens,ttft_nanos,nanos,reason");
        assertThat(Files.readAllLines(file)).contains("0,0,8,0,5,2000000,10000000,LENGTH");
    }
}

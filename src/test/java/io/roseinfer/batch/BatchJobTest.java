package io.roseinfer.batch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.groups.Tuple.tuple;

import com.github.luben.zstd.Zstd;
import io.roseinfer.backend.sim.SimFaults;
import io.roseinfer.backend.sim.SimFaults.Fault;
import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.RoseException.DeviceFailure;
import io.roseinfer.base.RoseException.EngineStopped;
import io.roseinfer.engine.Engine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class BatchJobTest {
    private static final int LINES = 60;

    @TempDir
    private Path folder;

    private Path input(String text) throws IOException {
        Path file = folder.resolve("in.jsonl");
        Files.writeString(file, text);
        return file;
    }

    private Path output(String name) {
        return folder.resolve(name);
    }

    private static List<String> names(List<JsonNode> answers) {
        return answers.stream()
                .map(line -> line.get("custom_id").asString("none"))
                .toList();
    }

    private static List<String> names(int count) {
        return IntStream.range(0, count).mapToObj(i -> "r" + i).toList();
    }

    private static Set<String> lineSet(Path file) throws IOException {
        List<String> lines = Batch.read(file).lines().toList();
        assertThat(lines).doesNotHaveDuplicates();
        return Set.copyOf(lines);
    }

    /** The lines of a batch without failures. */
    private Set<String> expected(Path from) throws IOException {
        Path file = output("expected-" + from.getFileName());
        Batch.run(from, file, Batch.OPTIONS);
        return lineSet(file);
    }

    @Test
    void every_line_is_answered_once_with_the_tokens_it_asked_for() throws IOException {
        Path from = input(Batch.lines(LINES));
        Path to = output("out.jsonl");
        BatchTotals totals = Batch.run(from, to, Batch.OPTIONS);
        List<JsonNode> answers = Batch.answers(to);
        assertThat(names(answers)).containsExactlyInAnyOrderElementsOf(names(LINES));
        long tokens = 0;
        for (JsonNode answer : answers) {
            JsonNode usage = answer.get("response").get("body").get("usage");
            int number = Integer.parseInt(answer.get("custom_id").stringValue().substring(1));
            assertThat(usage.get("completion_tokens").intValue()).isBetween(1, 1 + number * 7 % 5);
            tokens += usage.get("completion_tokens").intValue();
        }
        assertThat(totals).isEqualTo(new BatchTotals(LINES, 0, LINES, 0, 2L * LINES, tokens));
        assertThat(totals.inFlight()).isZero();
    }

    @Test
    void ordered_responses_are_in_line_order() throws IOException {
        Path to = output("out.jsonl");
        Batch.run(input(Batch.lines(LINES)), to, Batch.ORDERED);
        assertThat(names(Batch.answers(to))).isEqualTo(names(LINES));
    }

    @Test
    void compressed_input_and_output_are_supported() throws IOException {
        Path from = output("in.jsonl.zst");
        Batch.write(from, Batch.lines(LINES));
        Path to = output("out.jsonl.zst");
        Batch.run(from, to, Batch.OPTIONS);
        assertThat(lineSet(to)).isEqualTo(expected(input(Batch.lines(LINES))));
    }

    @Test
    void invalid_line_gets_an_error_and_the_batch_continues() throws IOException {
        Path from = input("""
                not JSON
                {"custom_id":"get","method":"GET","url":"/v1/completions","body":{}}
                {"custom_id":"where","method":"POST","url":"/v1/responses","body":{}}
                {"method":"POST","url":"/v1/completions","body":{"prompt":"a"}}

                {"custom_id":"no prompt","method":"POST","url":"/v1/completions","body":{}}
                {"custom_id":"stream","method":"POST","url":"/v1/completions","body":{"prompt":"a","stream":true}}
                {"custom_id":"too many","method":"POST","url":"/v1/completions","body":{"prompt":[5],"n":65}}
                {"custom_id":"other model","method":"POST","url":"/v1/chat/completions","body":{"model":"gpt-9","messages":[{"role":"user","content":"Hi"}]}}
                """
                + Batch.line("too long", 1, IntStream.range(0, 700).toArray())
                + Batch.line("twice", 1, 5)
                + Batch.line("twice", 1, 6)
                + "{\"custom_id\":\"cut off");
        Path to = output("out.jsonl");
        BatchTotals totals = Batch.run(from, to, Batch.ORDERED);
        assertThat(Batch.answers(to))
                .extracting(
                        line -> line.get("custom_id").asString("none"),
                        line -> line.get("response").isNull()
                                ? 0
                                : line.get("response").get("status_code").intValue(),
                        line -> line.get("error").isNull()
                                ? 0
                                : line.get("error").get("code").intValue())
                .containsExactly(
                        tuple("none", 0, 400),
                        tuple("get", 0, 400),
                        tuple("where", 0, 400),
                        tuple("none", 0, 400),
                        tuple("no prompt", 400, 400),
                        tuple("stream", 400, 400),
                        tuple("too many", 400, 400),
                        tuple("other model", 404, 404),
                        tuple("none", 0, 413),
                        tuple("twice", 200, 0),
                        tuple("twice", 0, 400),
                        tuple("none", 0, 400));
        assertThat(totals.refused()).isEqualTo(11);
        assertThat(totals.lines()).isEqualTo(12);
        assertThat(Batch.answers(to).stream().map(line -> line.get("id").stringValue()))
                .doesNotHaveDuplicates();
    }

    /** The output of a process that was killed after any byte. */
    @ParameterizedTest
    @ValueSource(strings = {"out.jsonl", "out.jsonl.zst"})
    void output_truncated_at_any_byte_is_resumed_to_the_same_lines(String name) throws IOException {
        Path from = input("{}\n" + Batch.lines(2) + Batch.line("r0", 1, 9));
        Path whole = output("whole-" + name);
        try (Engine engine = Batch.engine(SimOptions.defaults())) {
            Batch.resume(engine, from, whole, Batch.ORDERED);
            byte[] bytes = Files.readAllBytes(whole);
            Set<String> expected = lineSet(whole);
            assertThat(expected).hasSize(4);
            Path to = output(name);
            for (int cut = 0; cut <= bytes.length; cut++) {
                Files.write(to, Arrays.copyOf(bytes, cut));
                boolean ordered = cut % 2 == 0;
                BatchTotals totals = Batch.resume(engine, from, to, ordered ? Batch.ORDERED : Batch.OPTIONS);
                assertThat(lineSet(to)).as("cut at byte %d", cut).isEqualTo(expected);
                assertThat(totals.skipped() + totals.answered() + totals.refused())
                        .isEqualTo(4);
                if (ordered) {
                    assertThat(Batch.read(to)).as("cut at byte %d", cut).isEqualTo(Batch.read(whole));
                }
                if (ordered && !name.endsWith(".zst")) {
                    assertThat(Files.readAllBytes(to)).isEqualTo(bytes);
                }
            }
        }
    }

    @Test
    void frame_has_many_lines_if_there_are_many() throws IOException {
        Path to = output("out.jsonl.zst");
        Batch.run(input(Batch.lines(LINES)), to, Batch.OPTIONS);
        byte[] bytes = Files.readAllBytes(to);
        assertThat(Zstd.findFrameCompressedSize(bytes)).isEqualTo(bytes.length);
    }

    @Test
    void truncated_input_is_reported_and_its_complete_lines_are_answered() throws IOException {
        Path from = output("in.jsonl.zst");
        Batch.write(from, Batch.lines(LINES));
        byte[] bytes = Files.readAllBytes(from);
        Files.write(from, Arrays.copyOf(bytes, bytes.length - 1));
        Path to = output("out.jsonl");
        assertThatThrownBy(() -> Batch.run(from, to, Batch.OPTIONS))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("--input ")
                .hasMessageContaining("cannot be read");
        Set<String> answered = lineSet(to);
        Files.write(from, bytes);
        try (Engine engine = Batch.engine(SimOptions.defaults())) {
            assertThat(Batch.resume(engine, from, to, Batch.OPTIONS).skipped()).isEqualTo(answered.size());
        }
        assertThat(lineSet(to)).hasSize(LINES).containsAll(answered);
    }

    @Test
    void unordered_output_cannot_be_resumed_in_order() throws IOException {
        Path from = input(Batch.lines(LINES));
        Path to = output("out.jsonl");
        Batch.run(from, to, Batch.ORDERED);
        List<String> lines = new ArrayList<>(Files.readAllLines(to));
        lines.remove(3);
        Files.write(to, lines);
        try (Engine engine = Batch.engine(SimOptions.defaults())) {
            assertThatThrownBy(() -> Batch.resume(engine, from, to, Batch.ORDERED))
                    .isInstanceOf(BadInput.class)
                    .hasMessageContaining("--ordered: the output has a response to line 5");
            Batch.resume(engine, from, to, Batch.OPTIONS);
        }
        assertThat(lineSet(to)).isEqualTo(expected(from));
    }

    @Test
    void lines_read_ahead_are_limited_by_the_window() throws Exception {
        CountDownLatch stepping = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        SimOptions gated = SimOptions.defaults().withOnStep(step -> {
            stepping.countDown();
            awaitQuietly(go);
        });
        Path from = input(Batch.lines(10_000));
        try (Engine engine = Batch.engine(gated);
                BatchOutput output = BatchOutput.create(output("out.jsonl"), Clock.system());
                BatchInput input = BatchInput.open(from)) {
            BatchJob job = new BatchJob(engine, Batch.model(0), input, output, Batch.OPTIONS);
            Thread running = Thread.ofPlatform().start(() -> job.run(totals -> {}));
            stepping.await();
            while (job.maxInFlight() < Batch.OPTIONS.inFlight()) {
                Thread.onSpinWait();
            }
            // The reader buffers up to 64 KiB of lines that it has not passed on.
            assertThat(input.bytesRead()).isLessThanOrEqualTo(1 << 16);
            assertThat(Files.size(from)).isGreaterThan(1 << 19);
            go.countDown();
            running.join();
            assertThat(job.maxInFlight()).isEqualTo(Batch.OPTIONS.inFlight());
        }
        assertThat(Files.readAllLines(output("out.jsonl"))).hasSize(10_000);
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2})
    void responses_do_not_depend_on_order_partition_or_engine(long seed) throws IOException {
        List<String> lines = new ArrayList<>(Batch.lines(LINES).lines().toList());
        Path from = input(String.join("\n", lines));
        Set<String> expected = expected(from);
        Collections.shuffle(lines, new Random(seed));
        Set<String> seen = new HashSet<>();
        for (int part = 0; part < 3; part++) {
            Path some = output("part" + part);
            Files.write(some, lines.subList(part * LINES / 3, (part + 1) * LINES / 3));
            Path to = output("part" + part + ".out");
            try (Engine engine = Batch.engine(SimOptions.defaults(), SimOptions.defaults(), SimOptions.defaults())) {
                Batch.run(engine, some, to, Batch.OPTIONS);
            }
            seen.addAll(lineSet(to));
        }
        assertThat(seen).as("seed %d", seed).isEqualTo(expected);
    }

    @Test
    void request_of_several_completions_is_one_line() throws IOException {
        Path from = input(Batch.line("a", 3, 5, 6).replace("}}", ",\"n\":9}}"));
        Path to = output("out.jsonl");
        Batch.run(from, to, Batch.OPTIONS);
        assertThat(Batch.answers(to).getFirst().get("response").get("body").get("choices"))
                .hasSize(9);
    }

    /** Its prompt makes the step fail each time; the other lines of that step are retried. */
    @Test
    void line_that_makes_steps_fail_gets_an_error_without_affecting_others() throws IOException {
        String others = Batch.lines(40).replace("\"r", "\"s");
        Set<String> expected = expected(input(Batch.lines(20) + others));
        Path from = output("guilty.jsonl");
        Files.writeString(from, Batch.lines(20) + Batch.line("guilty", 2, 11) + others);
        Path to = output("out.jsonl");
        SimOptions failing = SimOptions.defaults().withFaults(new SimFaults(Map.of(11, Fault.ERROR)));
        try (Engine engine = Batch.engine(failing)) {
            BatchTotals totals = Batch.run(engine, from, to, Batch.OPTIONS);
            assertThat(totals.refused()).isEqualTo(1);
        }
        List<JsonNode> refused = Batch.answers(to).stream()
                .filter(line -> !line.get("error").isNull())
                .toList();
        assertThat(names(refused)).containsExactly("guilty");
        assertThat(refused.getFirst().get("response").get("status_code").intValue())
                .isEqualTo(500);
        assertThat(Batch.read(to)
                        .lines()
                        .filter(line -> !line.contains("guilty"))
                        .collect(Collectors.toSet()))
                .isEqualTo(expected);
    }

    @Test
    void failed_engine_ends_the_batch_which_can_be_resumed() throws IOException {
        Path from = input(
                Batch.lines(30) + Batch.line("deadly", 2, 14) + Batch.lines(30).replace("\"r", "\"s"));
        Path to = output("out.jsonl");
        SimOptions dying = SimOptions.defaults().withFaults(new SimFaults(Map.of(14, Fault.DEATH)));
        try (Engine engine = Batch.engine(dying)) {
            assertThatThrownBy(() -> Batch.run(engine, from, to, Batch.ORDERED))
                    .isInstanceOf(EngineStopped.class)
                    .hasMessageContaining("the simulated device is lost");
        }
        assertThat(lineSet(to)).hasSizeLessThan(31);
        try (Engine engine = Batch.engine(SimOptions.defaults())) {
            Batch.resume(engine, from, to, Batch.ORDERED);
        }
        assertThat(lineSet(to)).isEqualTo(expected(from));
    }

    /** Tokens of its lines were delivered, so the engine cannot requeue them by itself. */
    @Test
    void failed_replica_loses_no_line() throws IOException {
        Path from = input(Batch.lines(LINES));
        Set<String> expected = expected(from);
        Path to = output("out.jsonl");
        SimOptions dying = SimOptions.defaults().withOnStep(step -> {
            if (step == 5) {
                throw new DeviceFailure("the device is lost", false);
            }
        });
        try (Engine engine = Batch.engine(dying, SimOptions.defaults())) {
            assertThat(Batch.run(engine, from, to, Batch.OPTIONS).refused()).isZero();
        }
        assertThat(lineSet(to)).isEqualTo(expected);
    }

    @Test
    void line_that_stops_two_replicas_gets_an_error_and_the_third_serves_the_others() throws IOException {
        String others = Batch.lines(20);
        Set<String> expected = expected(input(others));
        Path from = output("deadly.jsonl");
        Files.writeString(from, Batch.line("deadly", 2, 14) + others);
        Path to = output("out.jsonl");
        SimOptions dying = SimOptions.defaults().withFaults(new SimFaults(Map.of(14, Fault.DEATH)));
        try (Engine engine = Batch.engine(dying, dying, dying)) {
            BatchTotals totals = Batch.run(engine, from, to, new BatchOptions(1, false, 1));
            assertThat(totals.refused()).isEqualTo(1);
        }
        assertThat(Batch.read(to).lines().filter(line -> line.contains("deadly")))
                .singleElement(InstanceOfAssertFactories.STRING)
                .contains("\"status_code\":500", "the simulated device is lost", "do not submit it again");
        assertThat(Batch.read(to)
                        .lines()
                        .filter(line -> !line.contains("deadly"))
                        .collect(Collectors.toSet()))
                .isEqualTo(expected);
    }

    /** Each replica delivers tokens of the line first, so the engine does not requeue it. */
    @Test
    void line_that_stops_two_replicas_after_its_first_token_gets_an_error() throws IOException {
        Path from = input(Batch.line("deadly", 20, 1).replace("}}", ",\"ignore_eos\":true}}"));
        Path to = output("out.jsonl");
        SimOptions dying = SimOptions.defaults().withOnStep(step -> {
            if (step == 5) {
                throw new DeviceFailure("the device is lost", false);
            }
        });
        try (Engine engine = Batch.engine(dying, dying, dying)) {
            assertThat(Batch.run(engine, from, to, Batch.OPTIONS).refused()).isEqualTo(1);
        }
        assertThat(Batch.read(to)).contains("\"status_code\":500", "do not submit it again");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void stopped_batch_finishes_lines_in_flight_and_can_be_resumed(boolean ordered) throws Exception {
        Path from = input(Batch.lines(LINES));
        Set<String> expected = expected(from);
        Path to = output("out.jsonl");
        BatchOptions options = ordered ? Batch.ORDERED : Batch.OPTIONS;
        AtomicReference<Runnable> stop = new AtomicReference<>(() -> {});
        SimOptions stopping = SimOptions.defaults().withOnStep(step -> {
            if (step == 10) {
                Objects.requireNonNull(stop.get()).run();
            }
        });
        try (Engine engine = Batch.engine(stopping);
                BatchOutput output = BatchOutput.create(to, Clock.system())) {
            BatchJob job = Batch.job(engine, from, output, options);
            stop.set(job::stop);
            BatchTotals totals = job.run(soFar -> {});
            assertThat(totals.lines()).isBetween(1L, LINES - 1L);
            assertThat(totals.answered()).isEqualTo(totals.lines());
        }
        assertThat(expected).containsAll(lineSet(to));
        try (Engine engine = Batch.engine(SimOptions.defaults())) {
            Batch.resume(engine, from, to, options);
        }
        assertThat(lineSet(to)).isEqualTo(expected);
    }

    /** Lines ended by a closed engine are not awaited, and nothing is written for them, nor after them if ordered. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void engine_closed_after_a_stop_leaves_lines_for_the_next_run(boolean ordered) throws Exception {
        Path from = input(Batch.line("long", 200, 7).replace("}}", ",\"ignore_eos\":true}}") + Batch.lines(LINES));
        Set<String> expected = expected(from);
        Path to = output("out.jsonl");
        BatchOptions options = ordered ? Batch.ORDERED : Batch.OPTIONS;
        CountDownLatch stepping = new CountDownLatch(1);
        long written;
        SimOptions endless = SimOptions.defaults().withOnStep(step -> {
            if (step == 20) {
                stepping.countDown();
            }
        });
        try (Engine engine = Batch.engine(endless);
                BatchOutput output = BatchOutput.create(to, Clock.system())) {
            BatchJob job = Batch.job(engine, from, output, options);
            Runnable closeEngine = engine::close;
            Thread closer = Thread.ofPlatform().start(() -> {
                awaitQuietly(stepping);
                job.stop();
                closeEngine.run();
            });
            BatchTotals totals = job.run(soFar -> {});
            written = totals.answered();
            closer.join();
        }
        assertThat(lineSet(to)).hasSize((int) written);
        try (Engine engine = Batch.engine(SimOptions.defaults())) {
            Batch.resume(engine, from, to, options);
        }
        assertThat(lineSet(to)).isEqualTo(expected);
    }

    /** Without a class or memory the line never finishes; the others in flight are not awaited. */
    @Test
    void error_in_reading_a_line_ends_the_batch() throws Exception {
        Path from = input(Batch.lines(20) + Batch.line("fatal", 1, 5).replace("[5]", "\"fatal\"") + Batch.lines(20));
        Error thrown = new NoClassDefFoundError("io/roseinfer/Absent");
        BatchModel model = Batch.model(0, Batch.throwing("fatal", thrown));
        try (Engine engine = Batch.engine(SimOptions.defaults());
                BatchOutput output = BatchOutput.create(output("out.jsonl"), Clock.system());
                BatchInput input = BatchInput.open(from)) {
            BatchJob job = new BatchJob(engine, model, input, output, Batch.OPTIONS);
            assertThatThrownBy(() -> job.run(totals -> {})).isSameAs(thrown);
        }
    }
}

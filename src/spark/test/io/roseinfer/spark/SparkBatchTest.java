package io.roseinfer.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.LoadedModel;
import io.roseinfer.Roseinfer;
import io.roseinfer.Settings;
import io.roseinfer.backend.KvPrecision;
import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.batch.BatchCluster;
import io.roseinfer.batch.BatchInput;
import io.roseinfer.batch.BatchJob;
import io.roseinfer.batch.BatchModel;
import io.roseinfer.batch.BatchOptions;
import io.roseinfer.batch.BatchOutput;
import io.roseinfer.batch.BatchTotals;
import io.roseinfer.engine.Engine;
import io.roseinfer.hub.DownloadListener;
import io.roseinfer.server.api.ServedModel;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Files of requests on Spark, compared with the command's output without Spark. */
@Timeout(600)
class SparkBatchTest {
    private static final long SEED = 5;
    private static final Settings SETTINGS =
            Settings.of("builtin:tiny").withDevice(Settings.Device.CPU).withThreads(1);

    @TempDir
    Path folder;

    private Path input;
    private Path output;

    @BeforeEach
    void name() {
        input = folder.resolve("in.jsonl");
        output = folder.resolve("out");
    }

    @AfterAll
    static void closeEngines() {
        RoseinferSpark.closeEngines();
    }

    private static String request(int i) {
        return """
                {"custom_id": "r%d", "method": "POST", "url": "/v1/completions", "body": {"model": "builtin:tiny", "prompt": "%s",\
                 "max_tokens": 6, "temperature": 1, "n": %d}}""".formatted(i, LocalSpark.prompt(i), 1 + i % 2);
    }

    /** Requests, and every kind of invalid line. */
    private static List<String> lines(int requests) {
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < requests; i++) {
            lines.add(request(i));
        }
        lines.add(3, "");
        lines.add(5, "no JSON");
        lines.add(7, request(1));
        lines.add(9, "{\"custom_id\": \"get\", \"method\": \"GET\"}");
        lines.add(request(requests).replace("\"max_tokens\": 6", "\"max_tokens\": 0"));
        return lines;
    }

    private BatchTotals run(boolean resume) {
        return run("local[2]", SETTINGS, resume);
    }

    private BatchTotals run(String master, Settings settings, boolean resume) {
        BatchCluster spark = BatchCluster.named("spark");
        return spark.run(new BatchCluster.Job(
                master, input.toString(), output.toString(), resume, settings, "builtin:tiny", true, SEED));
    }

    private List<String> answers() throws IOException {
        List<String> answers = new ArrayList<>();
        for (Path part : parts()) {
            answers.addAll(Files.readAllLines(part));
        }
        return answers.stream().sorted().toList();
    }

    private List<Path> parts() throws IOException {
        try (Stream<Path> files = Files.list(output)) {
            return files.filter(file -> file.getFileName().toString().startsWith("part-"))
                    .toList();
        }
    }

    /** The responses of one engine in one process. */
    private List<String> oracle() throws IOException {
        Path alone = folder.resolve("alone.jsonl");
        try (BatchInput in = BatchInput.open(input);
                BatchOutput out = BatchOutput.create(alone, Clock.system());
                LoadedModel loaded = Roseinfer.load(SETTINGS, DownloadListener.SILENT);
                Engine engine = loaded.serve(SETTINGS.engine())) {
            ServedModel served =
                    ServedModel.named("builtin:tiny").withChat(loaded.chat()).withDefaults(loaded.samplingDefaults());
            BatchModel model = new BatchModel(
                    served,
                    loaded.spec(),
                    loaded.tokenizer(),
                    engine.maxRequestTokens(),
                    SEED,
                    Files.getLastModifiedTime(input).toInstant());
            BatchTotals unused = new BatchJob(engine, model, in, out, new BatchOptions(8, false, 1)).run(soFar -> {});
        }
        return Files.readAllLines(alone).stream().sorted().toList();
    }

    @Test
    void cluster_output_equals_local_output() throws IOException {
        Files.write(input, lines(28));
        // Invalid UTF-8, and lines with a carriage return in the middle.
        String odd = request(29).replace("lived", "l\u00fcved") + "\r\n \r\n"
                + request(30).replace(", ", ",\r") + "\n" + request(31) + "\r\n";
        Files.write(input, odd.getBytes(StandardCharsets.ISO_8859_1), StandardOpenOption.APPEND);
        BatchTotals totals = run(false);
        assertThat(answers()).isEqualTo(oracle()).hasSize(35);
        assertThat(totals.lines()).isEqualTo(35);
        assertThat(totals.answered()).isEqualTo(30);
        assertThat(totals.refused()).isEqualTo(5);
        assertThat(totals.completionTokens()).isPositive();
    }

    /** The state after a killed driver: some partitions, and an unfinished attempt. */
    @Test
    void batch_continues_with_existing_partitions() throws IOException {
        Files.write(input, lines(30));
        run(false);
        List<String> whole = answers();
        List<Path> parts = parts();
        assertThat(parts).hasSizeGreaterThan(4);
        for (Path lost : parts.subList(0, 3)) {
            Files.move(lost, output.resolve("_attempt-7-" + lost.getFileName()));
        }
        int left = answers().size();
        BatchTotals rest = run(true);
        assertThat(answers()).isEqualTo(whole);
        assertThat(rest.skipped()).isEqualTo(left).isLessThan(whole.size());
        assertThat(rest.answered() + rest.refused()).isEqualTo(whole.size() - left);
        try (Stream<Path> files = Files.list(output)) {
            assertThat(files.map(file -> file.getFileName().toString())).noneMatch(name -> name.startsWith("_attempt"));
        }
        assertThat(run(true).skipped()).isEqualTo(whole.size());
    }

    @Test
    void existing_output_is_not_mixed_with_another_batch() throws IOException {
        Files.write(input, lines(12));
        Files.createDirectory(output);
        assertThatThrownBy(() -> run(false))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("already exists; continue it with --resume");
    }

    @Test
    void missing_input_is_reported_in_one_line() {
        assertThatThrownBy(() -> run(false)).isInstanceOf(BadInput.class).hasMessageContaining("in.jsonl");
    }

    @Test
    void missing_model_is_reported_in_one_line_and_not_retried() throws IOException {
        Files.write(input, lines(12));
        Settings nowhere = Settings.of("/nowhere/model").withDevice(Settings.Device.CPU);
        assertThatThrownBy(() -> run("local[2, 100000]", nowhere, false))
                .isInstanceOf(BadModel.class)
                .hasMessageStartingWith("model \"/nowhere/model\": no such directory")
                .hasMessageNotContaining("\n");
        assertThat(parts()).isEmpty();
    }

    @Test
    void invalid_master_is_reported_in_one_line() throws IOException {
        Files.write(input, lines(12));
        assertThatThrownBy(() -> run("nonsense", SETTINGS, false))
                .isInstanceOf(BadInput.class)
                .hasMessageStartingWith("--spark is \"nonsense\", but Spark cannot start there: ")
                .hasMessageNotContaining("\n");
        assertThat(output).doesNotExist();
    }

    @Test
    void kv_cache_dtype_is_rejected_since_executors_do_not_support_it() throws IOException {
        Files.write(input, lines(12));
        Settings narrow = SETTINGS.withDeviceOptions(SETTINGS.deviceOptions().withKvCache(KvPrecision.FP8));
        assertThatThrownBy(() -> run("local[2]", narrow, false))
                .isInstanceOf(BadInput.class)
                .hasMessage("--kv-cache-dtype is not supported with --spark; remove one of them");
    }
}

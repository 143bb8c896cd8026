package io.roseinfer.batch;

import com.github.luben.zstd.ZstdInputStream;
import com.github.luben.zstd.ZstdOutputStream;
import io.roseinfer.LoadedModel;
import io.roseinfer.Roseinfer;
import io.roseinfer.Settings;
import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.backend.sim.SimRunner;
import io.roseinfer.base.Clock;
import io.roseinfer.base.StrictJson;
import io.roseinfer.engine.Engine;
import io.roseinfer.engine.EngineLimits;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.engine.routing.RoutingPolicy;
import io.roseinfer.hub.DownloadListener;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.observe.Observers;
import io.roseinfer.server.api.ServedModel;
import io.roseinfer.tokenizer.Tokenizer;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;

/** Batches for a simulated model with a real vocabulary, in files of a folder. */
final class Batch {
    static final int MAX_LINE_BYTES = 2000;
    static final BatchOptions OPTIONS = new BatchOptions(8, false, 2);
    static final BatchOptions ORDERED = new BatchOptions(8, true, 2);

    private static final LoadedModel TINY =
            Roseinfer.load(Settings.of("builtin:tiny").withDevice(Settings.Device.SIM), new DownloadListener() {
                @Override
                public void progress(String file, long bytesSoFar, long totalBytes) {}

                @Override
                public void warning(String message) {}
            });

    private static final ModelSpec SPEC = TINY.spec();
    private static final Tokenizer WORDS = TINY.tokenizer().orElseThrow();

    private Batch() {}

    static BatchModel model(long seed) {
        return model(seed, WORDS);
    }

    /** The vocabulary, with a text for which it throws an error. */
    static Tokenizer throwing(String text, Error thrown) {
        return (Tokenizer) Proxy.newProxyInstance(
                Batch.class.getClassLoader(), new Class<?>[] {Tokenizer.class}, (proxy, method, arguments) -> {
                    if (arguments != null && Arrays.asList(arguments).contains(text)) {
                        throw thrown;
                    }
                    return method.invoke(WORDS, arguments);
                });
    }

    static BatchModel model(long seed, Tokenizer words) {
        return new BatchModel(
                ServedModel.named("sim").withChat(TINY.chat()),
                SPEC,
                Optional.of(words),
                SPEC.contextLength(),
                seed,
                Instant.ofEpochSecond(1_800_000_000));
    }

    static Engine engine(SimOptions... sims) {
        EngineOptions options = EngineOptions.defaults().withKvBlocks(256);
        List<SimRunner> runners = Stream.of(sims)
                .map(sim -> new SimRunner(SPEC, EngineLimits.runnerLimits(options, SPEC), sim))
                .toList();
        return Engine.open(runners, Optional.of(WORDS), options, RoutingPolicy.pull(), Clock.system(), Observers.NONE);
    }

    /** A line that requests a completion, of the given length. */
    static String line(String customId, int tokens, int... prompt) {
        return "{\"custom_id\":\"" + customId
                + "\",\"method\":\"POST\",\"url\":\"/v1/completions\",\"body\":{\"prompt\":"
                + IntStream.of(prompt).boxed().toList() + ",\"max_tokens\":" + tokens + "}}\n";
    }

    /** The given number of lines, of different lengths. */
    static String lines(int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> line("r" + i, 1 + i * 7 % 5, 40 + i, 50))
                .reduce("", String::concat);
    }

    static void write(Path file, String text) throws IOException {
        try (OutputStream out = file.toString().endsWith(".zst")
                ? new ZstdOutputStream(Files.newOutputStream(file))
                : Files.newOutputStream(file)) {
            out.write(text.getBytes(StandardCharsets.UTF_8));
        }
    }

    static String read(Path file) throws IOException {
        try (InputStream in = file.toString().endsWith(".zst")
                ? new ZstdInputStream(Files.newInputStream(file))
                : Files.newInputStream(file)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    static List<JsonNode> answers(Path file) throws IOException {
        return read(file)
                .lines()
                .map(line -> StrictJson.parse(line.getBytes(StandardCharsets.UTF_8)))
                .toList();
    }

    static BatchJob job(Engine engine, Path from, BatchOutput to, BatchOptions options) {
        return new BatchJob(engine, model(0), BatchInput.open(from, MAX_LINE_BYTES), to, options);
    }

    /** Processes a batch on one healthy engine. */
    static BatchTotals run(Path from, Path to, BatchOptions options) {
        try (Engine engine = engine(SimOptions.defaults())) {
            return run(engine, from, to, options);
        }
    }

    static BatchTotals run(Engine engine, Path from, Path to, BatchOptions options) {
        try (BatchOutput output = BatchOutput.create(to, Clock.system())) {
            return job(engine, from, output, options).run(totals -> {});
        }
    }

    /** Resumes a batch whose frames, if it has any, end whenever there is nothing to write. */
    static BatchTotals resume(Engine engine, Path from, Path to, BatchOptions options) {
        try (BatchOutput output = BatchOutput.resume(to, hasty())) {
            return job(engine, from, output, options).run(totals -> {});
        }
    }

    /** A clock that advances ten seconds between two readings. */
    static Clock hasty() {
        AtomicLong seconds = new AtomicLong();
        return () -> seconds.addAndGet(10) * 1_000_000_000;
    }
}

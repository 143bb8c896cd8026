package io.roseinfer.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.github.luben.zstd.ZstdInputStream;
import io.roseinfer.base.StrictJson;
import io.roseinfer.cli.CliRunner.Outcome;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import java.util.zip.GZIPInputStream;
import tools.jackson.databind.JsonNode;

/** Runs {@code bench} on the simulated device and reads its files. */
final class SimBench {
    private SimBench() {}

    /** Runs the command, without warm-up runs unless the flags have a number. */
    static Outcome run(String... flags) {
        List<String> args = new ArrayList<>(List.of("bench", "--model", "random:gpt2", "--device", "sim"));
        if (Stream.of(flags).noneMatch(flag -> flag.startsWith("--warmup-runs"))) {
            args.add("--warmup-runs=0");
        }
        args.addAll(List.of(flags));
        return CliRunner.run(args.toArray(String[]::new));
    }

    /** Returns the {@code --json} document of a run. */
    static JsonNode results(Path folder, String name, String... flags) throws IOException {
        Path file = folder.resolve(name);
        Outcome outcome = run(Stream.concat(Stream.of("--json", file.toString()), Stream.of(flags))
                .toArray(String[]::new));
        assertThat(outcome.code()).as(outcome.err()).isZero();
        return read(file);
    }

    static JsonNode read(Path file) throws IOException {
        InputStream stored = Files.newInputStream(file);
        try (InputStream in = decompressed(file.toString(), stored)) {
            return StrictJson.parse(in.readAllBytes());
        }
    }

    private static InputStream decompressed(String name, InputStream stored) throws IOException {
        if (name.endsWith(".gz")) {
            return new GZIPInputStream(stored);
        }
        return name.endsWith(".zst") ? new ZstdInputStream(stored) : stored;
    }

    static Stream<JsonNode> elements(JsonNode array) {
        return StreamSupport.stream(array.spliterator(), false);
    }
}

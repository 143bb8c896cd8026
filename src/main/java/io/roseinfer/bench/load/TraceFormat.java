package io.roseinfer.bench.load;

import io.roseinfer.base.FileFailure;
import io.roseinfer.base.RoseException.BadInput;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Formats of published traces. Columns and fields are found by name, in any order; others are ignored.
 *
 * <pre>
 * mooncake    JSONL  timestamp (ms), input_length, output_length, hash_ids (a block is 512 tokens)
 * bailian     JSONL  timestamp (s), input_length, output_length, hash_ids (a block is 16 tokens)
 * azure       CSV    TIMESTAMP (date and time), ContextTokens, GeneratedTokens
 * burstgpt    CSV    Timestamp (s), Request tokens, Response tokens; 0 response tokens mean failure
 * sharegpt    JSON   a list of conversations [{from: human|gpt, value}]; the first question of each, without times or lengths
 * </pre>
 */
public enum TraceFormat {
    MOONCAKE,
    BAILIAN,
    AZURE,
    BURSTGPT,
    SHAREGPT;

    private static final int MOONCAKE_BLOCK = 512;
    private static final int BAILIAN_BLOCK = 16;
    private static final long NANOS_PER_MILLI = 1_000_000;
    private static final long NANOS_PER_SECOND = 1_000_000_000;

    /** Parser of a line; the result is empty for a request that cannot be repeated. */
    @FunctionalInterface
    interface LineReader {
        Optional<TraceEntry> read(String line);
    }

    /**
     * Reads the first requests of a file.
     *
     * @param most maximum number of requests
     * @throws BadInput if the file does not have this format; the message names the line
     */
    public Trace read(Path file, int most) {
        FileFailure.requireRegular(file);
        try {
            return switch (this) {
                case MOONCAKE -> lines(file, most, line -> JsonTraces.entry(line, NANOS_PER_MILLI, MOONCAKE_BLOCK));
                case BAILIAN -> lines(file, most, line -> JsonTraces.entry(line, NANOS_PER_SECOND, BAILIAN_BLOCK));
                case AZURE -> csv(file, most, CsvTraces.AZURE);
                case BURSTGPT -> csv(file, most, CsvTraces.BURSTGPT);
                case SHAREGPT -> JsonTraces.shareGpt(file, most);
            };
        } catch (IOException | UncheckedIOException e) {
            throw new BadInput(FileFailure.shown(file) + " cannot be read as text: " + e.getMessage(), e);
        }
    }

    private static Trace lines(Path file, int most, LineReader reader) throws IOException {
        try (BufferedReader in = Files.newBufferedReader(file)) {
            return lines(file, in, 0, most, reader);
        }
    }

    private static Trace csv(Path file, int most, CsvTraces.Columns columns) throws IOException {
        try (BufferedReader in = Files.newBufferedReader(file)) {
            String header = in.readLine();
            LineReader reader;
            try {
                reader = columns.reader(header == null ? "" : header);
            } catch (BadInput e) {
                throw new BadInput(FileFailure.shown(file) + " line 1: " + e.getMessage(), e);
            }
            return lines(file, in, 1, most, reader);
        }
    }

    private static Trace lines(Path file, BufferedReader in, int linesBefore, int most, LineReader reader)
            throws IOException {
        List<TraceEntry> entries = new ArrayList<>();
        int number = linesBefore;
        int leftOut = 0;
        for (String line = in.readLine(); line != null && entries.size() < most; line = in.readLine()) {
            number++;
            if (line.isBlank()) {
                continue;
            }
            try {
                Optional<TraceEntry> entry = reader.read(line);
                entry.ifPresent(entries::add);
                leftOut += entry.isPresent() ? 0 : 1;
            } catch (BadInput e) {
                throw new BadInput(FileFailure.shown(file) + " line " + number + ": " + e.getMessage(), e);
            }
        }
        if (entries.isEmpty()) {
            throw new BadInput(FileFailure.shown(file) + " has no usable request");
        }
        return Trace.of(entries, true, leftOut);
    }
}

package io.roseinfer.bench.load;

import io.roseinfer.base.FileFailure;
import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.StrictJson;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/** Parser of JSON traces: a request per line, or a list of conversations. */
final class JsonTraces {
    private JsonTraces() {}

    /**
     * Parses the request of a line.
     *
     * @param nanosPerUnit unit of the timestamp
     * @param blockSize tokens per hashed block
     */
    static Optional<TraceEntry> entry(String line, long nanosPerUnit, int blockSize) {
        JsonNode node = parse(line.getBytes(StandardCharsets.UTF_8));
        int input = count(node, "input_length");
        int output = count(node, "output_length");
        List<Long> hashes = new ArrayList<>();
        for (JsonNode hash : node.path("hash_ids")) {
            if (!hash.isIntegralNumber()) {
                throw new BadInput("hash_ids has " + Quoted.value(hash.toString()) + "; it must be whole numbers");
            }
            hashes.add(hash.longValue());
        }
        JsonNode time = node.path("timestamp");
        long offset = CsvTraces.nanos(time.isNumber() ? time.asString() : "", nanosPerUnit);
        return input == 0 || output == 0
                ? Optional.empty()
                : Optional.of(new TraceEntry(offset, input, output, hashes, blockSize, Optional.empty()));
    }

    private static int count(JsonNode node, String name) {
        JsonNode value = node.path(name);
        if (!value.isInt() || value.intValue() < 0) {
            throw new BadInput(
                    name + " is " + Quoted.value(value.toString()) + "; it must be a whole number, 0 or more");
        }
        return value.intValue();
    }

    private static JsonNode parse(byte[] json) {
        try {
            return StrictJson.parse(json);
        } catch (JacksonException e) {
            throw new BadInput("it is not JSON: " + StrictJson.reason(e), e);
        }
    }

    /** Reads the first question of each conversation that starts with one. */
    static Trace shareGpt(Path file, int most) throws IOException {
        JsonNode all;
        try {
            all = parse(Files.readAllBytes(file));
        } catch (BadInput e) {
            throw new BadInput(FileFailure.shown(file) + ": " + e.getMessage(), e);
        }
        if (!all.isArray()) {
            throw new BadInput(FileFailure.shown(file) + " is not a list of conversations");
        }
        List<TraceEntry> entries = new ArrayList<>();
        int leftOut = 0;
        for (JsonNode conversation : all) {
            JsonNode turns = conversation.path("conversations");
            String question = turns.path(0).path("value").asString("");
            boolean asked = turns.path(0).path("from").asString("").equals("human");
            if (entries.size() == most) {
                break;
            }
            if (turns.size() < 2 || !asked || question.isEmpty()) {
                leftOut++;
            } else {
                entries.add(new TraceEntry(0, 0, 0, List.of(), 1, Optional.of(question)));
            }
        }
        if (entries.isEmpty()) {
            throw new BadInput(
                    FileFailure.shown(file) + " has no conversation that begins with a question and an answer");
        }
        return Trace.of(entries, false, leftOut);
    }
}

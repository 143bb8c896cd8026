package io.roseinfer.cli;

import io.roseinfer.base.StrictJson;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;

/** The steps of a result file. */
final class RecordedSteps {
    private RecordedSteps() {}

    /** Replaces measured durations, to which no costs can be fitted on a loaded machine. */
    static void timeByTokens(Path result) throws IOException {
        JsonNode document = StrictJson.parse(Files.readAllBytes(result));
        List<String> columns = document.at("/roseinfer/steps/columns")
                .valueStream()
                .map(JsonNode::stringValue)
                .toList();
        document.at("/roseinfer/steps/rows").forEach(row -> {
            ArrayNode step = (ArrayNode) row;
            List.of("plan_nanos", "pack_nanos", "apply_nanos").forEach(phase -> step.set(columns.indexOf(phase), 0));
            step.set(
                    columns.indexOf("device_nanos"),
                    1000 + 10 * step.get(columns.indexOf("tokens")).asLong());
        });
        Files.writeString(result, document.toString());
    }
}

package io.roseinfer.bench.report;

import java.util.Optional;
import tools.jackson.databind.JsonNode;

/** The kinds of documents written by benchmarks. */
public enum ResultKind {
    SERVE("bench serve", 2),
    SWEEP("bench sweep", 2),
    AB("bench ab", 2),
    STREAMING("bench (bench streaming)", 1),
    SCHEDULER("bench scheduler", 1),
    STEP_COST("bench scheduler", 1),
    MODEL("bench model", 1),
    TIMELINE("bench --timeline", 1);

    private final String command;
    private final int schema;

    ResultKind(String command, int schema) {
        this.command = command;
        this.schema = schema;
    }

    /** Returns the schema version, which is raised by changes that break readers. */
    public int schema() {
        return schema;
    }

    /** Returns the command that writes it. */
    public String command() {
        return command;
    }

    /** Returns the kind of a document by its fields; empty if no benchmark has written it. */
    public static Optional<ResultKind> of(JsonNode document) {
        JsonNode point = document.at("/points/0");
        return switch (document.at("/roseinfer/kind").asString("")) {
            case "serve" -> Optional.of(SERVE);
            case "sweep" -> Optional.of(SWEEP);
            case "ab" -> Optional.of(AB);
            default -> {
                if (document.has("mode")) {
                    yield Optional.of(SCHEDULER);
                } else if (point.has("total_us")) {
                    yield Optional.of(STEP_COST);
                } else if (point.has("step_ms")) {
                    yield Optional.of(MODEL);
                } else if (document.path("runs").isArray()) {
                    yield Optional.of(STREAMING);
                }
                yield document.has("traceEvents") ? Optional.of(TIMELINE) : Optional.empty();
            }
        };
    }
}

package io.roseinfer.bench.replay;

import io.roseinfer.base.StrictJson;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * What a replay adds to the results file of its run, as {@code replay_of}: {@code {name, command[], rows[]}}, with rows of
 * {@code {metric, percentile, recorded_ms, replayed_ms}}.
 */
public final class PredictionJson {
    private PredictionJson() {}

    public static ObjectNode of(RecordedRun recorded, Prediction prediction) {
        ObjectNode node = StrictJson.mapper().createObjectNode().put("name", recorded.name());
        ArrayNode command = node.putArray("command");
        recorded.command().forEach(command::add);
        ArrayNode rows = node.putArray("rows");
        for (Prediction.Row row : prediction.rows()) {
            rows.addObject()
                    .put("metric", row.metric())
                    .put("percentile", row.percentile())
                    .put("recorded_ms", row.recordedMillis())
                    .put("replayed_ms", row.replayedMillis());
        }
        return node;
    }
}

package io.roseinfer.bench.replay;

import io.roseinfer.base.StrictJson;
import java.util.List;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * What a replay adds to the results file of its run, as {@code replay_of}; the run is the one with the changes, if there are any.
 *
 * <pre>
 * name                         the recorded run's file
 * command[]                    the arguments of the command that recorded it
 * valid, reasons[]             whether the recorded run counts, and why not
 * settings_known               false of a run over HTTP: it was replayed with the flags given and defaults
 * changes[]                    the settings that were changed, as arguments; empty if none was
 * rows[]                       {metric, percentile, recorded_ms, replayed_ms, changed_ms}: recorded, replayed with the recorded
 *                              settings, and with the changes (left out if there are none)
 * </pre>
 */
public final class PredictionJson {
    private PredictionJson() {}

    /**
     * The block.
     *
     * @param changes arguments that replaced recorded ones
     * @param settingsKnown whether the replay has the recorded engine's settings
     */
    public static ObjectNode of(
            RecordedRun recorded, Prediction prediction, List<String> changes, boolean settingsKnown) {
        ObjectNode node = StrictJson.mapper().createObjectNode().put("name", recorded.name());
        words(node.putArray("command"), recorded.command());
        node.put("valid", recorded.verdict().isValid());
        words(node.putArray("reasons"), recorded.verdict().reasons());
        node.put("settings_known", settingsKnown);
        words(node.putArray("changes"), changes);
        ArrayNode rows = node.putArray("rows");
        for (Prediction.Row row : prediction.rows()) {
            ObjectNode added = rows.addObject()
                    .put("metric", row.metric())
                    .put("percentile", row.percentile())
                    .put("recorded_ms", row.recordedMillis())
                    .put("replayed_ms", row.replayedMillis());
            row.changedMillis().ifPresent(millis -> added.put("changed_ms", millis));
        }
        return node;
    }

    private static void words(ArrayNode array, List<String> words) {
        words.forEach(array::add);
    }
}

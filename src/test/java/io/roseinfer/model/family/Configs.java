package io.roseinfer.model.family;

import io.roseinfer.model.ConfigJson;
import io.roseinfer.model.ModelSpec;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** Shapes from the members of a {@code config.json}, and assertions about them. */
final class Configs {
    private Configs() {}

    static ModelSpec spec(String type, String... members) {
        String fields = String.join(",", members);
        String json = "{\"model_type\":\"" + type + "\"" + (fields.isEmpty() ? "" : ",") + fields + "}";
        return spec(json, new ArrayList<>());
    }

    private static ModelSpec spec(String json, List<String> warnings) {
        return Families.spec("m", new ConfigJson("m/config.json", json.getBytes(StandardCharsets.UTF_8), warnings));
    }

    /** The warnings about a complete file. */
    static List<String> warnings(String json) {
        List<String> warnings = new ArrayList<>();
        ModelSpec unused = spec(json, warnings);
        return warnings;
    }

    /** The windows of all layers. */
    static int[] windows(ModelSpec spec) {
        return IntStream.range(0, spec.layers())
                .map(layer -> spec.block(layer).attention().window())
                .toArray();
    }
}

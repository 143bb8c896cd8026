package io.roseinfer.cli.bench;

import io.roseinfer.base.RoseException.BadInput;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** The settings of a sweep: all combinations of flag values. */
record SweepPlan(Map<String, List<String>> varied) {
    private static final String UNESCAPED_COMMA = "(?<!\\\\),";

    /**
     * Parses {@code --vary}.
     *
     * @param texts each {@code flag=a,b,c}; a comma within a value follows a backslash
     */
    static SweepPlan of(List<String> texts) {
        Map<String, List<String>> varied = new LinkedHashMap<>();
        for (String text : texts) {
            int equals = text.indexOf('=');
            String flag = text.substring(0, Math.max(0, equals)).replaceFirst("^--", "");
            List<String> values = Stream.of(text.substring(equals + 1).split(UNESCAPED_COMMA, -1))
                    .map(value -> value.replace("\\,", ","))
                    .toList();
            if (flag.isEmpty() || values.stream().anyMatch(String::isBlank)) {
                throw new BadInput("--vary is '" + text + "'; it must be FLAG=VALUE,VALUE, as in request-rate=2,4,8");
            }
            if (varied.put(flag, values) != null) {
                throw new BadInput("--vary names " + flag + " twice; give all its values at once");
            }
        }
        return new SweepPlan(varied);
    }

    /** Returns all combinations; the first flag varies slowest. */
    List<Map<String, String>> settings() {
        List<Map<String, String>> all = List.of(Map.of());
        for (Map.Entry<String, List<String>> flag : varied.entrySet()) {
            List<Map<String, String>> longer = new ArrayList<>();
            for (Map<String, String> before : all) {
                for (String value : flag.getValue()) {
                    longer.add(with(before, flag.getKey(), value));
                }
            }
            all = longer;
        }
        return all;
    }

    /** Returns a setting with a flag appended. */
    static Map<String, String> with(Map<String, String> setting, String flag, String value) {
        Map<String, String> longer = new LinkedHashMap<>(setting);
        longer.put(flag, value);
        return longer;
    }

    /** Returns a setting as arguments. */
    static List<String> arguments(Map<String, String> setting) {
        return setting.entrySet().stream()
                .map(flag -> "--" + flag.getKey() + "=" + flag.getValue())
                .toList();
    }
}

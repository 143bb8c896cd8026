package io.roseinfer.cli.flags;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** The values of a command's flags, for the {@code settings} of a result file. */
final class FlagValues {
    private FlagValues() {}

    /** Returns the given or default value of every flag that affects results, by its first name with underscores. */
    static Map<String, @Nullable Object> of(CommandSpec spec) {
        Map<String, @Nullable Object> values = new LinkedHashMap<>();
        for (OptionSpec option : spec.options()) {
            if (!option.usageHelp() && !option.inherited()) {
                values.put(name(option), plain(option.getValue()));
            }
        }
        return values;
    }

    private static String name(OptionSpec option) {
        return option.names()[0].substring(2).replace('-', '_');
    }

    private static @Nullable Object plain(@Nullable Object value) {
        return switch (value) {
            case null -> null;
            case Optional<?> optional -> plain(optional.orElse(null));
            case List<?> list -> list;
            case Numbers numbers -> numbers.values();
            case Double number -> number.isInfinite() ? (Object) "inf" : number;
            case Number number -> number;
            case Boolean flag -> flag;
            case Enum<?> choice -> Choices.word(choice);
            default -> value.toString();
        };
    }
}

package io.roseinfer.base;

import java.io.Serializable;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * A way to avoid a failure, as part of its message. It may name settings, which the library and the command line spell
 * differently: {@code kv_blocks} and {@code --kv-blocks}.
 *
 * @param words the text, with {@code %s} for each setting
 * @param settings names of the settings, in order
 */
public record Remedy(String words, List<String> settings) implements Serializable {
    /** The remedy if a device cannot be used. */
    public static final Remedy USE_CPU = of("use %s cpu", "device");

    public Remedy {
        settings = List.copyOf(settings);
        int placeholders = words.split("%s", -1).length - 1;
        Check.that(
                placeholders == settings.size(),
                "a remedy has %d placeholders for %d settings",
                placeholders,
                settings.size());
    }

    /** Creates a remedy. */
    public static Remedy of(String words, String... settings) {
        return new Remedy(words, List.of(settings));
    }

    /** Returns the text with each setting spelled as users write it. */
    public String format(UnaryOperator<String> spelling) {
        return String.format(words, settings.stream().map(spelling).toArray());
    }

    /** Returns the text with the library's names of the settings. */
    @Override
    public String toString() {
        return format(UnaryOperator.identity());
    }
}

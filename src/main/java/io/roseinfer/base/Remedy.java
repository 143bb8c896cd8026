package io.roseinfer.base;

import java.io.Serializable;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * A way to avoid a failure. It can name settings, which the library and the command line spell differently: {@code kv_blocks} in the library,
 * {@code --kv-blocks} on the command line.
 *
 * @param words the text, with {@code %s} for each setting
 * @param settings their names, in order
 */
public record Remedy(String words, List<String> settings) implements Serializable {
    /** The remedy for a device that cannot be used. */
    public static final Remedy USE_CPU = of("use %s cpu", "device");

    public Remedy {
        settings = List.copyOf(settings);
        int places = words.split("%s", -1).length - 1;
        Check.that(places == settings.size(), "a remedy with %d settings names %d", places, settings.size());
    }

    /** A remedy in constant words. */
    public static Remedy of(String words, String... settings) {
        return new Remedy(words, List.of(settings));
    }

    /** Returns the text with each setting as a user writes it. */
    public String by(UnaryOperator<String> spelling) {
        return String.format(words, settings.stream().map(spelling).toArray());
    }

    /** Returns the text with each setting as the library names it. */
    @Override
    public String toString() {
        return by(UnaryOperator.identity());
    }
}

package io.roseinfer.base;

import java.io.Serializable;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;

/**
 * A way to avoid a failure, as part of its message. It may name settings, which callers spell differently: {@code kvBlocks} in
 * Java, {@code kv_blocks} in JSON, {@code --kv-blocks} on the command line.
 *
 * @param words the text, with {@code %s} for each setting
 * @param settings names of the settings in JSON, in order
 */
public record Remedy(String words, List<String> settings) implements Serializable {
    /** The remedy if a device cannot be used. */
    public static final Remedy USE_CPU = of("use %s cpu", "device");

    /** The operator's remedy if the maximum of requests is in flight; clients can only retry. */
    public static final Remedy RAISE_MAX_INFLIGHT_REQUESTS = of("raise %s", "max_inflight_requests");

    /** The Java names that differ from the name in JSON in more than case. */
    private static final Map<String, String> JAVA_NAMES = Map.of(
            "dtype", "precision",
            "kv_cache_dtype", "kvCache",
            "paged_attn", "pagedAttention",
            "prefill_admission_lookahead", "lookahead",
            "prefill_force_fifo_every", "forceFifoEvery");

    private static final Pattern WORD_START = Pattern.compile("_([a-z])");

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

    /** Returns a setting's name in Java, such as {@code kvBlocks} for {@code kv_blocks}. */
    static String javaName(String setting) {
        return JAVA_NAMES.getOrDefault(
                setting,
                WORD_START.matcher(setting).replaceAll(start -> start.group(1).toUpperCase(Locale.ROOT)));
    }

    /** Returns the text with the Java names of the settings. */
    @Override
    public String toString() {
        return format(Remedy::javaName);
    }
}

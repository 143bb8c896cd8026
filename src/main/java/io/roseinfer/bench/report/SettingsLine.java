package io.roseinfer.bench.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Formats the settings of an engine that bound its results: its limits, policies and KV pool, with automatic choices resolved. */
public final class SettingsLine {
    private SettingsLine() {}

    /**
     * Returns the settings as one line, as in {@code batch 8, prefill batch 8, admission fifo, KV blocks 4096 of 16 tokens}; empty without an
     * engine in this process.
     *
     * @param settings values by the names of flags with underscores, as in result files
     */
    public static Optional<String> of(Map<String, @Nullable Object> settings) {
        if (settings.get("max_batch_size") == null) {
            return Optional.empty();
        }
        List<String> words = new ArrayList<>();
        if (settings.containsKey("dtype")) {
            words.add("dtype " + (settings.get("dtype") == null ? "none" : settings.get("dtype")));
        }
        add(words, settings, "threads", "threads");
        add(words, settings, "max_batch_size", "batch");
        add(words, settings, "prefill_max_batch_size", "prefill batch");
        add(words, settings, "max_active_requests", "active requests");
        if (Boolean.TRUE.equals(settings.get("chunked_prefill"))) {
            words.add("chunked prefill");
        }
        add(words, settings, "prefill_max_tokens", "prefill tokens");
        add(words, settings, "prefill_admission_policy", "admission");
        addUnless("youngest", words, settings, "preemption_policy", "preemption");
        addUnless("lru", words, settings, "kv_eviction_policy", "eviction");
        addUnless("default", words, settings, "step_policy", "steps");
        addUnless("none", words, settings, "speculate", "drafts");
        add(words, settings, "replicas", "engines");
        addUnless("pull", words, settings, "routing", "routing");
        if (settings.get("replicas") instanceof Integer engines && engines > 1) {
            addUnless("0", words, settings, "view_age", "view age (ms)");
        }
        if (settings.get("kv_blocks") != null) {
            words.add("KV blocks " + settings.get("kv_blocks") + " of " + settings.get("block_size") + " tokens");
        }
        if (Boolean.TRUE.equals(settings.get("no_prefix_cache"))) {
            words.add("no prefix cache");
        }
        return Optional.of(String.join(", ", words));
    }

    private static void addUnless(
            String builtIn, List<String> words, Map<String, @Nullable Object> settings, String name, String word) {
        if (!builtIn.equals(settings.get(name))) {
            add(words, settings, name, word);
        }
    }

    private static void add(List<String> words, Map<String, @Nullable Object> settings, String name, String word) {
        if (settings.get(name) != null) {
            words.add(word + " " + settings.get(name));
        }
    }
}

package io.roseinfer.cli.flags;

import io.roseinfer.DeviceOptions;
import io.roseinfer.LoadedModel;
import io.roseinfer.Settings;
import io.roseinfer.bench.report.SettingsLine;
import io.roseinfer.engine.EngineOptions;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;

/** A benchmark's effective settings: the flags, with {@code auto} and defaults resolved by the device and the loaded model. */
public final class SettingsInForce {
    private final LoadedModel loaded;
    private final EngineOptions engine;

    public SettingsInForce(LoadedModel loaded, EngineOptions engine) {
        this.loaded = loaded;
        this.engine = engine;
    }

    /** Returns every flag by its name in a result file, for a model that another process serves. */
    public static Map<String, @Nullable Object> flags(CommandSpec command) {
        return FlagValues.of(command);
    }

    /** Returns every flag by its name in a result file, for the simulated device without a model. */
    public static Map<String, @Nullable Object> withoutModel(CommandSpec command, EngineOptions engine) {
        Map<String, @Nullable Object> settings = FlagValues.of(command);
        settings.put("device", Choices.word(Settings.Device.SIM));
        settings.put("prefill_max_batch_size", engine.scheduler().prefillMaxBatchSize());
        settings.replace("max_inflight_requests", engine.maxInflightRequests());
        settings.keySet()
                .removeAll(List.of(
                        "backend", "dtype", "kv_blocks", "kv_cache_dtype", "max_model_len", "model", "threads"));
        return settings;
    }

    /** Returns every flag by its name in a result file. */
    public Map<String, @Nullable Object> all(CommandSpec command, ModelFlags model) {
        Map<String, @Nullable Object> settings = FlagValues.of(command);
        DeviceOptions device = loaded.deviceOptions();
        settings.put("device", model.place(loaded));
        settings.put("dtype", loaded.precision().map(Choices::word).orElse(null));
        settings.put("kv_cache_dtype", Choices.word(device.kvCache()));
        settings.put("max_model_len", loaded.spec().contextLength());
        settings.put("model_shape", loaded.spec().shape());
        settings.put("threads", loaded.threads() == 0 ? null : loaded.threads());
        settings.put("paged_attn", device.pagedAttention().orElse(null));
        settings.put("cuda_graph", device.cudaGraph().orElse(null));
        settings.put("nvtx", device.profilerRanges());
        settings.put("batch_invariant", device.batchInvariant().orElse(null));
        settings.put("block_size", loaded.runner().kv().blockSize());
        settings.put("kv_blocks", loaded.runner().kv().blocks());
        settings.replace("max_inflight_requests", engine.maxInflightRequests());
        if (settings.containsKey("prefill_max_batch_size")) {
            settings.put("prefill_max_batch_size", engine.scheduler().prefillMaxBatchSize());
        }
        return settings;
    }

    /**
     * Returns one line of the settings that a report's other lines omit.
     *
     * @param settings the result of {@link #all}
     */
    public String line(Map<String, @Nullable Object> settings, String submitSchedule) {
        return SettingsLine.of(settings).orElse("") + ", submitted " + submitSchedule + ", seed " + engine.seed();
    }
}

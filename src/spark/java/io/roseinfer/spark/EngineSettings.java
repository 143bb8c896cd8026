package io.roseinfer.spark;

import io.roseinfer.DeviceOptions;
import io.roseinfer.Settings;
import io.roseinfer.Settings.Device;
import io.roseinfer.backend.Precision;
import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.scheduler.SchedulerOptions;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Converts a spec and the GPUs assigned by Spark to settings of the library. */
final class EngineSettings {
    private static final Pattern GPUS = Pattern.compile("cuda:\\d{1,3}(,cuda:\\d{1,3})*");

    private EngineSettings() {}

    /**
     * Returns settings for an engine.
     *
     * @param given indices of the GPUs assigned by Spark, or empty
     * @throws BadInput if a word of the spec is unknown or a number is out of range
     */
    static Settings of(EngineSpec spec, List<Integer> given) {
        List<Integer> gpus = gpus(spec, given);
        Device device = gpus.isEmpty() ? word(Device.BUILT_IN, "device", spec.device()) : Device.CUDA;
        return Settings.of(spec.model())
                .withReplicas(Math.max(1, gpus.size()))
                .withDeviceOptions(DeviceOptions.of(device)
                        .withGpus(gpus)
                        .withThreads(spec.threads())
                        .withPrecision(word(List.of(Precision.values()), "dtype", spec.dtype()))
                        .withBatchInvariant(spec.batchInvariant()))
                .withOffline(spec.offline())
                .withEngine(options(spec));
    }

    /** Returns options that deliver all tokens of a row at once, because they are not read before the last one. */
    private static EngineOptions options(EngineSpec spec) {
        return EngineOptions.defaults()
                .withScheduler(SchedulerOptions.builder()
                        .maxBatchSize(spec.maxBatchSize())
                        .build())
                .withKvBlocks(spec.kvBlocks())
                .withStreamInterval(Integer.MAX_VALUE);
    }

    /** Returns the indices of the GPUs; empty if the library chooses, or if none are used. */
    static List<Integer> gpus(EngineSpec spec, List<Integer> given) {
        if (GPUS.matcher(spec.device()).matches()) {
            return Arrays.stream(spec.device().split(",", -1))
                    .map(gpu -> Integer.valueOf(gpu.substring("cuda:".length())))
                    .toList();
        }
        return spec.device().equals("auto") || spec.device().equals("cuda") ? given : List.of();
    }

    private static <E extends Enum<E>> E word(List<E> constants, String name, String seen) {
        for (E constant : constants) {
            if (constant.name().toLowerCase(Locale.ROOT).equals(seen)) {
                return constant;
            }
        }
        String known = constants.stream()
                .map(constant -> constant.name().toLowerCase(Locale.ROOT))
                .collect(Collectors.joining(", "));
        throw new BadInput(name + " is " + Quoted.name(seen) + "; it must be one of " + known);
    }
}

package io.roseinfer.spark;

import com.codahale.metrics.Gauge;
import com.codahale.metrics.MetricRegistry;
import io.roseinfer.engine.Engine;
import io.roseinfer.engine.EngineStats;
import io.roseinfer.metrics.StepRecord.Fact;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToLongFunction;
import org.apache.spark.SparkConf;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.api.plugin.SparkPlugin;

/**
 * Owns an executor's engines, with {@code spark.plugins=io.roseinfer.spark.RoseinferPlugin}. It learns the executor's
 * GPUs, opens the engine of {@code spark.roseinfer.model} before the first task, publishes counters as Spark metrics,
 * and closes the engines when the executor ends. Without it the first task opens them, on the GPUs of that task.
 *
 * <p>{@code spark.roseinfer.model} can be combined with {@code spark.roseinfer.device}, {@code dtype}, {@code threads},
 * {@code maxBatchSize}, {@code kvBlocks}, {@code batchInvariant} and {@code offline}, see {@link EngineSpec}; tasks
 * share that engine if their spec is equal.
 */
public final class RoseinferPlugin implements SparkPlugin {
    private static final String PREFIX = "spark.roseinfer.";

    /** Called by Spark. */
    public RoseinferPlugin() {}

    @Override
    public DriverPlugin driverPlugin() {
        return new DriverPlugin() {
            @Override
            public Map<String, String> init(org.apache.spark.SparkContext context, PluginContext plugin) {
                JavaVersion.require();
                return Map.of();
            }
        };
    }

    @Override
    public ExecutorPlugin executorPlugin() {
        return new ExecutorPlugin() {
            @Override
            public void init(PluginContext plugin, Map<String, String> extra) {
                JavaVersion.require();
                ExecutorEngines.giveGpus(TaskWatch.gpus(plugin.resources().get("gpu")));
                publish(plugin.metricRegistry());
                spec(plugin.conf()).ifPresent(ExecutorEngines::openEarly);
            }

            @Override
            public void shutdown() {
                ExecutorEngines.closeAll();
            }
        };
    }

    /** Returns the engine to open at once; empty if the configuration has no model. */
    static Optional<EngineSpec> spec(SparkConf conf) {
        if (!conf.contains(PREFIX + "model")) {
            return Optional.empty();
        }
        EngineSpec defaults = EngineSpec.of(conf.get(PREFIX + "model"));
        return Optional.of(new EngineSpec(
                defaults.model(),
                conf.get(PREFIX + "device", defaults.device()),
                conf.get(PREFIX + "dtype", defaults.dtype()),
                conf.getInt(PREFIX + "threads", defaults.threads()),
                conf.getInt(PREFIX + "maxBatchSize", defaults.maxBatchSize()),
                conf.getInt(PREFIX + "kvBlocks", defaults.kvBlocks()),
                conf.getBoolean(PREFIX + "batchInvariant", defaults.batchInvariant()),
                conf.getBoolean(PREFIX + "offline", defaults.offline())));
    }

    private static void publish(MetricRegistry registry) {
        gauge(registry, "promptTokens", stats -> stats.requests().promptTokens());
        gauge(registry, "generatedTokens", stats -> stats.requests().generatedTokens());
        gauge(registry, "cachedTokens", stats -> stats.total(Fact.CACHED_TOKENS));
        gauge(registry, "active", EngineStats::active);
        gauge(registry, "waiting", EngineStats::waiting);
        gauge(registry, "blocksInUse", EngineStats::blocksInUse);
        gauge(registry, "steps", EngineStats::steps);
    }

    private static void gauge(MetricRegistry registry, String name, ToLongFunction<EngineStats> value) {
        Gauge<Long> sum = () -> ExecutorEngines.all().stream()
                .map(Engine::stats)
                .mapToLong(value)
                .sum();
        registry.register(name, sum);
    }
}

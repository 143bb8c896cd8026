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
 * Owns an executor's engines, with {@code spark.plugins=io.roseinfer.spark.RoseinferPlugin}: it learns which GPUs the executor has, opens the
 * engine that {@code spark.roseinfer.model} names before the first task, publishes counters among Spark's metrics, and closes the
 * engines when the executor ends. Without it the first task opens them, on the GPUs of that task.
 *
 * <p>With {@code spark.roseinfer.model} go {@code spark.roseinfer.device}, {@code dtype}, {@code threads}, {@code maxBatchSize},
 * {@code kvBlocks}, {@code batchInvariant} and {@code offline}, each as {@link EngineSpec} has it; tasks share that engine if their spec is equal.
 */
public final class RoseinferPlugin implements SparkPlugin {
    private static final String PREFIX = "spark.roseinfer.";

    /** Made by Spark, by its name. */
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

    /** The engine to open at once; empty if the configuration names no model. */
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

    private static void gauge(MetricRegistry registry, String name, ToLongFunction<EngineStats> figure) {
        Gauge<Long> sum = () -> ExecutorEngines.all().stream()
                .map(Engine::stats)
                .mapToLong(figure)
                .sum();
        registry.register(name, sum);
    }
}

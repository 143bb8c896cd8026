package io.roseinfer.server;

import io.prometheus.metrics.core.metrics.GaugeWithCallback;
import io.prometheus.metrics.instrumentation.jvm.JvmGarbageCollectorMetrics;
import io.prometheus.metrics.instrumentation.jvm.ProcessMetrics;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.lang.management.MemoryUsage;
import java.util.function.ToDoubleFunction;

/**
 * The metrics of the process and its JVM, under the names of the Prometheus clients. The client's metrics of threads
 * are left out, since they stop every thread at each scrape to search for deadlocks.
 */
final class ProcessState {
    private ProcessState() {}

    static void register(PrometheusRegistry registry, String version) {
        ProcessMetrics.builder().register(registry);
        JvmGarbageCollectorMetrics.builder().register(registry);
        memory(registry, "jvm_memory_used_bytes", "Memory of the JVM in use.", MemoryUsage::getUsed);
        memory(registry, "jvm_memory_committed_bytes", "Memory that the JVM has reserved.", MemoryUsage::getCommitted);
        memory(registry, "jvm_memory_max_bytes", "Maximum memory of the JVM; -1 without one.", MemoryUsage::getMax);
        GaugeWithCallback.builder()
                .name("jvm_threads_current")
                .help("Platform threads.")
                .callback(to -> to.call(ManagementFactory.getThreadMXBean().getThreadCount()))
                .register(registry);
        GaugeWithCallback.builder()
                .name("roseinfer:build_info")
                .help("Always 1; the labels have the versions.")
                .labelNames("version", "java")
                .callback(to -> to.call(1, version, Runtime.version().toString()))
                .register(registry);
    }

    private static void memory(
            PrometheusRegistry registry, String name, String help, ToDoubleFunction<MemoryUsage> bytes) {
        MemoryMXBean memory = ManagementFactory.getMemoryMXBean();
        GaugeWithCallback.builder()
                .name(name)
                .help(help)
                .labelNames("area")
                .callback(to -> {
                    to.call(bytes.applyAsDouble(memory.getHeapMemoryUsage()), "heap");
                    to.call(bytes.applyAsDouble(memory.getNonHeapMemoryUsage()), "nonheap");
                })
                .register(registry);
    }
}

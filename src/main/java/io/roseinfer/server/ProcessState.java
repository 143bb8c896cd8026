package io.roseinfer.server;

import io.prometheus.metrics.core.metrics.GaugeWithCallback;
import io.prometheus.metrics.instrumentation.jvm.JvmGarbageCollectorMetrics;
import io.prometheus.metrics.instrumentation.jvm.ProcessMetrics;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.lang.management.MemoryUsage;

/**
 * The metrics of the process and its JVM, under the names of the Prometheus clients. The client's metrics of threads
 * are left out, since they stop every thread at each scrape to search for deadlocks.
 */
final class ProcessState {
    private ProcessState() {}

    static void register(PrometheusRegistry registry, String version) {
        ProcessMetrics.builder().register(registry);
        JvmGarbageCollectorMetrics.builder().register(registry);
        registry.register(ProcessState::memory);
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

    /** Returns the gauges of memory. All are of the same moment, so used memory is never more than committed memory. */
    private static MetricSnapshots memory() {
        MemoryMXBean memory = ManagementFactory.getMemoryMXBean();
        MemoryUsage heap = memory.getHeapMemoryUsage();
        MemoryUsage other = memory.getNonHeapMemoryUsage();
        return MetricSnapshots.of(
                gauge("jvm_memory_used_bytes", "Memory of the JVM in use.", heap.getUsed(), other.getUsed()),
                gauge(
                        "jvm_memory_committed_bytes",
                        "Memory that the JVM has reserved.",
                        heap.getCommitted(),
                        other.getCommitted()),
                gauge(
                        "jvm_memory_max_bytes",
                        "Maximum memory of the JVM; -1 without one.",
                        heap.getMax(),
                        other.getMax()));
    }

    private static GaugeSnapshot gauge(String name, String help, long heap, long nonHeap) {
        return GaugeSnapshot.builder()
                .name(name)
                .help(help)
                .dataPoint(point("heap", heap))
                .dataPoint(point("nonheap", nonHeap))
                .build();
    }

    private static GaugeDataPointSnapshot point(String area, long bytes) {
        return GaugeDataPointSnapshot.builder()
                .labels(Labels.of("area", area))
                .value((double) bytes)
                .build();
    }
}

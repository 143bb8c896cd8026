package io.roseinfer.cli.terminal;

import com.sun.management.OperatingSystemMXBean;
import io.roseinfer.LoadedModel;
import io.roseinfer.backend.cpu.CpuFeatures;
import io.roseinfer.bench.report.Environment;
import io.roseinfer.scheduler.policy.Policies;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Facts about this machine that need no driver, from the JVM and {@code /proc}. */
public final class Machine {
    private static final Pattern CPU_NAME = Pattern.compile("(?m)^model name\\s*:\\s*(.+)$");
    private static final Pattern GPU_NAME = Pattern.compile("(?m)^Model:\\s*(.+)$");
    private static final Pattern DRIVER_VERSION = Pattern.compile("\\b(\\d{3}\\.\\d+(?:\\.\\d+)?)\\b");

    private final Path proc;

    /**
     * @param proc the directory {@code /proc}
     */
    public Machine(Path proc) {
        this.proc = proc;
    }

    public static Machine here() {
        return new Machine(Path.of("/proc"));
    }

    /** Returns the environment section of a result file, with the class of a custom device. */
    public Environment environment(LoadedModel loaded, Terminal terminal) {
        return environment(loaded.gpu(), loaded.warmUpNanos(), terminal)
                .withPolicies(hashes(Stream.of(loaded.deviceClass())));
    }

    /** Returns the environment of a benchmark without a model. */
    public Environment environment(Terminal terminal) {
        return environment(Optional.empty(), 0, terminal);
    }

    /** Returns the environment of runs in simulated time. */
    public static Environment simulated(String costs, List<Environment.Validation> validations, Terminal terminal) {
        return Environment.simulated(jdk(), commit(terminal), costs, validations);
    }

    private static Optional<String> commit(Terminal terminal) {
        return Optional.ofNullable(terminal.properties().get("roseinfer.commit"));
    }

    private Environment environment(Optional<String> gpu, long warmUpNanos, Terminal terminal) {
        return new Environment(jdk(), Optional.of(cpu()), vectorBits(), gpu, driver(), commit(terminal), warmUpNanos)
                .withHost(host());
    }

    private static Environment.Host host() {
        double load = ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
        long memory = ManagementFactory.getOperatingSystemMXBean() instanceof OperatingSystemMXBean system
                ? system.getTotalMemorySize()
                : 0;
        return new Environment.Host(
                System.getProperty("os.name") + " " + System.getProperty("os.version"),
                Runtime.getRuntime().availableProcessors(),
                memory,
                String.join(" ", ManagementFactory.getRuntimeMXBean().getInputArguments()),
                load >= 0 ? OptionalDouble.of(load) : OptionalDouble.empty());
    }

    /** Returns the {@link ClassHash} of each policy that is not built in, by class name. */
    public static Map<String, String> policies(Policies policies) {
        return policies(List.of(
                policies.admission(), policies.preemption(), policies.eviction(), policies.step(), policies.drafter()));
    }

    /** Returns the {@link ClassHash} of each object's class that is not built in, by class name. */
    public static Map<String, String> policies(List<?> policies) {
        return hashes(policies.stream().map(Object::getClass));
    }

    private static Map<String, String> hashes(Stream<Class<?>> types) {
        return types.distinct()
                .filter(type -> !type.getName().startsWith("io.roseinfer."))
                .collect(Collectors.toMap(Class::getName, ClassHash::of, (one, other) -> other, TreeMap::new));
    }

    public static String jdk() {
        return Runtime.version() + " " + System.getProperty("java.vm.name");
    }

    /** Returns the processor's name, or its architecture if the name is unknown. */
    public String cpu() {
        return find(proc.resolve("cpuinfo"), CPU_NAME).orElseGet(() -> System.getProperty("os.arch", "unknown"));
    }

    /** Returns the vector width of the CPU kernels; empty if they are scalar. */
    public static OptionalInt vectorBits() {
        CpuFeatures features = CpuFeatures.detect();
        return features.vectorUsable() ? OptionalInt.of(features.vectorBits()) : OptionalInt.empty();
    }

    /** Returns the name of the first NVIDIA GPU. */
    public Optional<String> gpu() {
        Path gpus = proc.resolve("driver/nvidia/gpus");
        if (!Files.isDirectory(gpus)) {
            return Optional.empty();
        }
        try (Stream<Path> folders = Files.list(gpus)) {
            return folders.sorted()
                    .map(folder -> find(folder.resolve("information"), GPU_NAME))
                    .flatMap(Optional::stream)
                    .findFirst();
        } catch (IOException | UncheckedIOException unreadable) {
            return Optional.empty();
        }
    }

    /** Returns the version of the NVIDIA kernel driver. */
    public Optional<String> driver() {
        return find(proc.resolve("driver/nvidia/version"), DRIVER_VERSION);
    }

    private static Optional<String> find(Path file, Pattern pattern) {
        if (!Files.isReadable(file)) {
            return Optional.empty();
        }
        try {
            Matcher matcher = pattern.matcher(Files.readString(file));
            return matcher.find() ? Optional.of(matcher.group(1).strip()) : Optional.empty();
        } catch (IOException unreadable) {
            return Optional.empty();
        }
    }
}

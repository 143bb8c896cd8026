package io.roseinfer.backend.cpu;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * The memory that this process can still allocate: Linux's available memory, or less if a control group of the process limits it. The
 * page cache is counted as free.
 */
public final class AvailableMemory {
    private static final String CGROUPS = "sys/fs/cgroup";

    /** Files of a cgroup version, and the reclaimable fields of {@code memory.stat}. */
    private record Version(String limit, String usage, List<String> reclaimable) {
        static final Version ONE = new Version(
                "memory.limit_in_bytes", "memory.usage_in_bytes", List.of("total_inactive_file", "total_active_file"));
        static final Version TWO = new Version(
                "memory.max", "memory.current", List.of("inactive_file", "active_file", "slab_reclaimable"));
    }

    private final Path root;

    /**
     * @param root parent of {@code proc} and {@code sys}, normally {@code /}
     */
    public AvailableMemory(Path root) {
        this.root = root;
    }

    /** Returns the memory of this machine. */
    public static AvailableMemory here() {
        return new AvailableMemory(Path.of("/"));
    }

    /** Returns the available bytes; all memory of the machine if unknown. */
    public long bytes() {
        return LongStream.concat(available().stream(), rooms()).min().orElseGet(AvailableMemory::total);
    }

    private OptionalLong available() {
        return field(root.resolve("proc/meminfo"), "MemAvailable:")
                .map(kilobytes -> kilobytes * 1024)
                .findFirst();
    }

    /** Returns the free bytes of each limited cgroup, from the process's own to the root. */
    private LongStream rooms() {
        Path mount = root.resolve(CGROUPS);
        return lines(root.resolve("proc/self/cgroup"))
                .map(line -> line.split(":", 3))
                .filter(fields -> fields.length == 3)
                .flatMapToLong(fields -> {
                    if (fields[1].isEmpty()) {
                        return rooms(Version.TWO, mount, fields[2]);
                    }
                    return List.of(fields[1].split(",")).contains("memory")
                            ? rooms(Version.ONE, mount.resolve("memory"), fields[2])
                            : LongStream.empty();
                });
    }

    /** Returns free bytes per cgroup; inside a container the path may be the host's, and only the mount is visible. */
    private static LongStream rooms(Version version, Path mount, String group) {
        Path own = mount.resolve(group.replaceFirst("^/+", "")).normalize();
        return Stream.iterate(own.startsWith(mount) ? own : mount, folder -> folder.startsWith(mount), Path::getParent)
                .flatMapToLong(folder -> room(version, folder));
    }

    private static LongStream room(Version version, Path folder) {
        long reclaimable = version.reclaimable.stream()
                .flatMapToLong(name -> field(folder.resolve("memory.stat"), name))
                .sum();
        return number(folder.resolve(version.limit))
                .flatMap(limit -> number(folder.resolve(version.usage))
                        .map(usage -> Math.max(0, limit - Math.max(0, usage - reclaimable))));
    }

    /** Returns the number in a file; empty for {@code max}. */
    private static LongStream number(Path file) {
        return lines(file).limit(1).flatMapToLong(line -> parse(line.strip()));
    }

    /** Returns the number after a field's name. */
    private static LongStream field(Path file, String name) {
        return lines(file)
                .map(line -> line.split("\\s+"))
                .filter(words -> words.length > 1 && words[0].equals(name))
                .limit(1)
                .flatMapToLong(words -> parse(words[1]));
    }

    /** Parses a number; empty for 19 digits, which mean no limit in cgroup v1. */
    private static LongStream parse(String digits) {
        return digits.matches("\\d{1,18}") ? LongStream.of(Long.parseLong(digits)) : LongStream.empty();
    }

    private static Stream<String> lines(Path file) {
        try {
            return Files.readAllLines(file).stream();
        } catch (IOException absent) {
            return Stream.empty();
        }
    }

    private static long total() {
        return ManagementFactory.getOperatingSystemMXBean() instanceof com.sun.management.OperatingSystemMXBean system
                ? system.getTotalMemorySize()
                : Long.MAX_VALUE;
    }
}

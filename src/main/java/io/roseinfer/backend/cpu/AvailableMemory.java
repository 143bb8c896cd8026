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
 * The memory this process can still take before the kernel ends somebody for want of it: what Linux calls available, or the room
 * left in the control groups the process is in, where that is less. Caches of files count as free, for the kernel drops them.
 */
public final class AvailableMemory {
    private static final String CGROUPS = "sys/fs/cgroup";

    /** The files of one version of control groups, and the fields of {@code memory.stat} that the kernel can take back. */
    private record Version(String limit, String usage, List<String> reclaimable) {
        static final Version ONE = new Version(
                "memory.limit_in_bytes", "memory.usage_in_bytes", List.of("total_inactive_file", "total_active_file"));
        static final Version TWO = new Version(
                "memory.max", "memory.current", List.of("inactive_file", "active_file", "slab_reclaimable"));
    }

    private final Path root;

    /**
     * @param root where {@code proc} and {@code sys} are, {@code /}
     */
    public AvailableMemory(Path root) {
        this.root = root;
    }

    /** Returns the memory of this machine. */
    public static AvailableMemory here() {
        return new AvailableMemory(Path.of("/"));
    }

    /** In bytes; where the system does not tell, all the memory it has. */
    public long bytes() {
        return LongStream.concat(available().stream(), rooms()).min().orElseGet(AvailableMemory::total);
    }

    private OptionalLong available() {
        return field(root.resolve("proc/meminfo"), "MemAvailable:")
                .map(kilobytes -> kilobytes * 1024)
                .findFirst();
    }

    /** Bytes left in each control group that has a limit, from the process's own up to the root. */
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

    /** Inside a container the group's path may be one of the host's, of which only the mount itself can be seen. */
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

    /** The number a file consists of; none where it says {@code max}. */
    private static LongStream number(Path file) {
        return lines(file).limit(1).flatMapToLong(line -> parse(line.strip()));
    }

    /** The number behind a name at the beginning of a line. */
    private static LongStream field(Path file, String name) {
        return lines(file)
                .map(line -> line.split("\\s+"))
                .filter(words -> words.length > 1 && words[0].equals(name))
                .limit(1)
                .flatMapToLong(words -> parse(words[1]));
    }

    /** Numbers of 19 digits, as version 1 has where there is no limit, are none. */
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

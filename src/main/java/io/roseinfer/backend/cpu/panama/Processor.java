package io.roseinfer.backend.cpu.panama;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** The processor's vendor, which decides what is fast, and nothing that is computed. */
final class Processor {
    private static final String VENDOR = vendor(Path.of("/proc/cpuinfo"));

    private Processor() {}

    /** Whether the prefetch of weights was measured to pay ({@link BlockPrefetch}): on Intel's; on an AMD Zen 5 it loses. */
    static boolean benefitsFromPrefetch() {
        return VENDOR.equals("GenuineIntel");
    }

    /** The vendor that Linux states, or nothing. */
    static String vendor(Path cpuinfo) {
        try (Stream<String> lines = Files.lines(cpuinfo, StandardCharsets.ISO_8859_1)) {
            return lines.filter(line -> line.startsWith("vendor_id"))
                    .map(line -> line.substring(line.indexOf(':') + 1).strip())
                    .findFirst()
                    .orElse("");
        } catch (IOException | UncheckedIOException e) {
            return "";
        }
    }
}

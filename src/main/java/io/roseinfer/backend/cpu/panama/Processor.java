package io.roseinfer.backend.cpu.panama;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** The processor's vendor, which affects speed only. */
final class Processor {
    private static final String VENDOR = vendor(Path.of("/proc/cpuinfo"));

    private Processor() {}

    /** Returns whether weight prefetch pays ({@link BlockPrefetch}): measured on Intel, not on AMD. */
    static boolean benefitsFromPrefetch() {
        return VENDOR.equals("GenuineIntel");
    }

    /** Returns the vendor from Linux's cpuinfo, or an empty string. */
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

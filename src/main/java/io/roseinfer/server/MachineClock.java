package io.roseinfer.server;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** What tells one machine's monotonic clock from another's: the machine's boot, since when it counts. */
final class MachineClock {
    private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");

    private static final Optional<String> ID = readBootId();

    private MachineClock() {}

    /** Equal in all processes of a machine until it is booted again; empty where the system has none. */
    static Optional<String> bootId() {
        return ID;
    }

    private static Optional<String> readBootId() {
        try {
            return Optional.of(Files.readString(BOOT_ID).strip());
        } catch (IOException notLinux) {
            return Optional.empty();
        }
    }
}

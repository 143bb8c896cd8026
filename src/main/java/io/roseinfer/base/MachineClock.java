package io.roseinfer.base;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** Identifies the machine's monotonic clock, which starts at boot. */
public final class MachineClock {
    private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");

    private static final Optional<String> ID = readBootId();

    private MachineClock() {}

    /** Returns the boot id, equal in all processes of the machine, or empty if the system has none. */
    public static Optional<String> bootId() {
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

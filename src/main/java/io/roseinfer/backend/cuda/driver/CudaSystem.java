package io.roseinfer.backend.cuda.driver;

import io.roseinfer.base.Remedy;
import io.roseinfer.base.RoseException.BackendUnavailable;
import java.util.List;

/**
 * The CUDA installation of this machine.
 *
 * @param driverVersion newest CUDA version of the driver, such as {@code 13.0}
 * @param runtimeVersion version of the runtime library, such as {@code 13.0}
 * @param devices the visible devices, at least one
 */
public record CudaSystem(String driverVersion, String runtimeVersion, List<CudaDevice> devices) {
    private static final int OLDEST = 13_000;

    public CudaSystem {
        devices = List.copyOf(devices);
    }

    /**
     * Loads the driver and queries it.
     *
     * @throws BackendUnavailable if there is no driver, no device, or the driver is too old
     */
    public static CudaSystem find() {
        CudaLibrary.instance().require();
        Driver.initialize();
        int driver = Driver.version();
        requireRecent(driver);
        List<CudaDevice> devices = Driver.devices();
        if (devices.isEmpty()) {
            throw DriverStatus.unavailable("looking for devices", DriverStatus.NO_DEVICE);
        }
        return new CudaSystem(versionText(driver), versionText(Driver.runtimeVersion()), devices);
    }

    static void requireRecent(int driver) {
        if (driver < OLDEST) {
            throw new BackendUnavailable(
                    "device cuda: the driver runs CUDA up to " + versionText(driver) + ", " + versionText(OLDEST)
                            + " is needed",
                    Remedy.of("update the NVIDIA driver to 580 or newer"),
                    Remedy.USE_CPU);
        }
    }

    /** Returns the device of this index. */
    public CudaDevice device(int index) {
        if (index < 0 || index >= devices.size()) {
            throw new BackendUnavailable("device cuda:" + index + " does not exist; visible are 0 to "
                    + (devices.size() - 1) + " (CUDA_VISIBLE_DEVICES may hide others)");
        }
        return devices.get(index);
    }

    /** Formats a CUDA version, 1000 · major + 10 · minor. */
    static String versionText(int version) {
        return version / 1000 + "." + version % 1000 / 10;
    }
}

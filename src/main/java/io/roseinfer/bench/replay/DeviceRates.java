package io.roseinfer.bench.replay;

import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.StrictJson;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Objects;
import tools.jackson.databind.JsonNode;

/**
 * The peak rates of a device, from its data sheet. The resource {@code devices.json} has the known ones.
 *
 * @param name name in {@code devices.json}
 * @param bytesPerNano memory bandwidth in bytes per nanosecond, which is GB/s
 * @param flopsPerNano rate of bf16 matrix products in floating-point operations per nanosecond, without sparsity
 * @param bytes memory in bytes
 */
public record DeviceRates(String name, double bytesPerNano, double flopsPerNano, double bytes) {
    private static final String RESOURCE = "devices.json";
    private static final double GIGA = 1e9;
    private static final double TERA_PER_GIGA = 1e3;

    /** Returns a known device, or throws {@link BadInput} with the known names. */
    public static DeviceRates named(String name) {
        JsonNode devices = read();
        JsonNode device = devices.path(name);
        if (device.isMissingNode()) {
            throw new BadInput("the device " + Quoted.value(name) + " is unknown; known are "
                    + String.join(", ", devices.propertyNames()));
        }
        return new DeviceRates(
                name,
                device.path("gb_per_s").doubleValue(),
                device.path("tflops").doubleValue() * TERA_PER_GIGA,
                device.path("gb").doubleValue() * GIGA);
    }

    private static JsonNode read() {
        try (InputStream in = Objects.requireNonNull(DeviceRates.class.getResourceAsStream(RESOURCE), RESOURCE)) {
            return StrictJson.parse(in.readAllBytes());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

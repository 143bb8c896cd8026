package io.roseinfer.cli.flags;

import io.roseinfer.DeviceOptions;
import io.roseinfer.Settings;
import io.roseinfer.backend.Backend;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * A value of {@code --device}: a kind of device and its GPUs, or a {@link Backend} by class name or source file.
 *
 * @param gpus indices of the named GPUs; empty if none is named
 * @param custom the class or source file of a custom device and its argument; empty for other devices
 */
public record Place(Settings.Device kind, List<Integer> gpus, String custom) {
    public Place {
        gpus = List.copyOf(gpus);
    }

    /** Creates a built-in device. */
    public Place(Settings.Device kind, List<Integer> gpus) {
        this(kind, gpus, "");
    }

    /** Returns settings for this device with some options. */
    Settings applyTo(Settings settings, DeviceOptions options) {
        return kind == Settings.Device.CUSTOM
                ? settings.withBackend(() ->
                                ExtensionChoice.of("--device", Backend.class).make(custom))
                        .withDeviceOptions(options)
                : settings.withDeviceOptions(options);
    }

    /** Returns the index of the first GPU; 0 if none is named. */
    int index() {
        return gpus.isEmpty() ? 0 : gpus.getFirst();
    }

    /** Returns the value of the flag. */
    @Override
    public String toString() {
        if (kind == Settings.Device.CUSTOM) {
            return custom;
        }
        return gpus.size() > 1
                ? gpus.stream().map(gpu -> Choices.word(kind) + ":" + gpu).collect(Collectors.joining(","))
                : Choices.word(kind) + (index() > 0 ? ":" + index() : "");
    }

    /**
     * Parses a device; {@code cuda:1} is the second GPU, {@code cuda:0,cuda:1} are the first two. The class of a custom device is not
     * loaded.
     */
    public static final class Parser implements ITypeConverter<Place> {
        private static final Pattern GPUS = Pattern.compile("cuda:\\d{1,3}(,cuda:\\d{1,3})*");

        @Override
        public Place convert(String text) {
            if (ExtensionChoice.isClass(text) || ExtensionChoice.isOnClassPath(text)) {
                return new Place(Settings.Device.CUSTOM, List.of(), text);
            }
            if (!GPUS.matcher(text).matches()) {
                return new Place(Choices.read(Settings.Device.BUILT_IN, text, "FILE.java", "CLASS"), List.of());
            }
            List<Integer> gpus = Pattern.compile(",")
                    .splitAsStream(text)
                    .map(gpu -> Integer.parseInt(gpu.substring("cuda:".length())))
                    .toList();
            if (gpus.stream().distinct().count() < gpus.size()) {
                throw new TypeConversionException("'" + text + "' names a GPU twice; each replica needs its own");
            }
            return new Place(Settings.Device.CUDA, gpus);
        }
    }
}

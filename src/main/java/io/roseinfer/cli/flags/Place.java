package io.roseinfer.cli.flags;

import io.roseinfer.Settings;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * A device, and which one of its kind.
 *
 * @param gpus by index; none if none was named
 */
public record Place(Settings.Device kind, List<Integer> gpus) {
    public Place {
        gpus = List.copyOf(gpus);
    }

    /** The first of the GPUs; 0 if none was named. */
    int index() {
        return gpus.isEmpty() ? 0 : gpus.getFirst();
    }

    /** Returns the place as the flag spells it. */
    @Override
    public String toString() {
        return gpus.size() > 1
                ? gpus.stream().map(gpu -> Choices.word(kind) + ":" + gpu).collect(Collectors.joining(","))
                : Choices.word(kind) + (index() > 0 ? ":" + index() : "");
    }

    /** Reads a device's name; {@code cuda:1} is the second GPU, {@code cuda:0,cuda:1} are the first two. */
    public static final class Parser implements ITypeConverter<Place> {
        private static final Pattern GPUS = Pattern.compile("cuda:\\d{1,3}(,cuda:\\d{1,3})*");

        @Override
        public Place convert(String text) {
            if (!GPUS.matcher(text).matches()) {
                return new Place(Choices.read(Settings.Device.class, text), List.of());
            }
            List<Integer> gpus = Pattern.compile(",")
                    .splitAsStream(text)
                    .map(gpu -> Integer.parseInt(gpu.substring("cuda:".length())))
                    .toList();
            if (gpus.stream().distinct().count() < gpus.size()) {
                throw new TypeConversionException(
                        "'" + text + "' names a GPU twice; each replica needs its own");
            }
            return new Place(Settings.Device.CUDA, gpus);
        }
    }
}

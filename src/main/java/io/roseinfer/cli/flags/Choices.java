package io.roseinfer.cli.flags;

import io.roseinfer.Settings;
import io.roseinfer.backend.Precision;
import io.roseinfer.bench.SchedulerBenchmark;
import io.roseinfer.bench.load.SubmitSchedule;
import io.roseinfer.server.AccessLog;
import java.util.Arrays;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Flags whose value is one of a few words, all in lower case. */
public final class Choices {
    private Choices() {}

    /** The constants of an enum by their names in lower case. */
    abstract static class Choice<E extends Enum<E>> implements ITypeConverter<E> {
        private final Class<E> type;

        Choice(Class<E> type) {
            this.type = type;
        }

        @Override
        public E convert(String text) {
            return Arrays.stream(type.getEnumConstants())
                    .filter(constant -> word(constant).equals(text))
                    .findFirst()
                    .orElseThrow(() -> new TypeConversionException("'" + text + "' is not one of " + words()));
        }

        private String words() {
            return Arrays.stream(type.getEnumConstants()).map(Choices::word).collect(Collectors.joining(", "));
        }
    }

    /** A constant as a flag spells it. */
    public static String word(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }

    /**
     * A device, and which one of its kind.
     *
     * @param index 0 for the first, and for kinds there is one of
     */
    public record Place(Settings.Device kind, int index) {
        /** As the flag spells it. */
        @Override
        public String toString() {
            return word(kind) + (index > 0 ? ":" + index : "");
        }
    }

    /** A device's name; {@code cuda:1} is the second GPU. */
    public static final class Device implements ITypeConverter<Place> {
        private static final Pattern GPU = Pattern.compile("cuda:(\\d{1,3})");

        private static final Choice<Settings.Device> KIND = new Choice<>(Settings.Device.class) {};

        @Override
        public Place convert(String text) {
            Matcher gpu = GPU.matcher(text);
            return gpu.matches()
                    ? new Place(Settings.Device.CUDA, Integer.parseInt(gpu.group(1)))
                    : new Place(KIND.convert(text), 0);
        }
    }

    static final class Dtype extends Choice<Precision> {
        Dtype() {
            super(Precision.class);
        }
    }

    static final class LogFormat extends Choice<AccessLog.Format> {
        LogFormat() {
            super(AccessLog.Format.class);
        }
    }

    public static final class Schedule extends Choice<SubmitSchedule.Mode> {
        Schedule() {
            super(SubmitSchedule.Mode.class);
        }
    }

    public static final class SchedulerMode extends Choice<SchedulerBenchmark.Mode> {
        SchedulerMode() {
            super(SchedulerBenchmark.Mode.class);
        }
    }
    /** Where defaults of sampling come from. */
    public static final class DefaultsSource extends Choice<GenerationConfigFlag.Source> {
        public DefaultsSource() {
            super(GenerationConfigFlag.Source.class);
        }
    }
}

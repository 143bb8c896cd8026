package io.roseinfer.cli.flags;

import io.roseinfer.Settings;
import io.roseinfer.backend.KvPrecision;
import io.roseinfer.backend.Precision;
import io.roseinfer.base.Spelling;
import io.roseinfer.bench.SchedulerBenchmark;
import io.roseinfer.bench.load.SubmitSchedule;
import io.roseinfer.server.AccessLog;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
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
                    .orElseThrow(() -> refusal(text));
        }

        private TypeConversionException refusal(String text) {
            List<String> words =
                    Arrays.stream(type.getEnumConstants()).map(Choices::word).toList();
            return new TypeConversionException(
                    "'" + text + "' is not one of " + String.join(", ", words) + Spelling.suggestion(text, words));
        }
    }

    /** A constant as a flag spells it. */
    public static String word(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }

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

        /** As the flag spells it. */
        @Override
        public String toString() {
            return gpus.size() > 1
                    ? gpus.stream().map(gpu -> word(kind) + ":" + gpu).collect(Collectors.joining(","))
                    : word(kind) + (index() > 0 ? ":" + index() : "");
        }
    }

    /** A device's name; {@code cuda:1} is the second GPU, {@code cuda:0,cuda:1} are the first two. */
    public static final class Device implements ITypeConverter<Place> {
        private static final Pattern GPUS = Pattern.compile("cuda:\\d{1,3}(,cuda:\\d{1,3})*");

        private static final Choice<Settings.Device> KIND = new Choice<>(Settings.Device.class) {};

        @Override
        public Place convert(String text) {
            if (!GPUS.matcher(text).matches()) {
                return new Place(KIND.convert(text), List.of());
            }
            List<Integer> gpus = Pattern.compile(",")
                    .splitAsStream(text)
                    .map(gpu -> Integer.parseInt(gpu.substring("cuda:".length())))
                    .toList();
            if (gpus.stream().distinct().count() < gpus.size()) {
                throw new TypeConversionException(
                        "'" + text + "' names a GPU twice; each replica needs one of its own");
            }
            return new Place(Settings.Device.CUDA, gpus);
        }
    }

    static final class Dtype extends Choice<Precision> {
        Dtype() {
            super(Precision.class);
        }
    }

    static final class KeysDtype extends Choice<KvPrecision> {
        KeysDtype() {
            super(KvPrecision.class);
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

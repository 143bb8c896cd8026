package io.roseinfer.cli;

import io.roseinfer.Settings;
import io.roseinfer.backend.Precision;
import io.roseinfer.bench.SchedulerBenchmark;
import io.roseinfer.bench.SubmitSchedule;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Flags whose value is one of a few words, all in lower case. */
final class Choices {
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
    static String word(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }

    static final class Device extends Choice<Settings.Device> {
        Device() {
            super(Settings.Device.class);
        }
    }

    static final class Dtype extends Choice<Precision> {
        Dtype() {
            super(Precision.class);
        }
    }

    static final class Schedule extends Choice<SubmitSchedule.Mode> {
        Schedule() {
            super(SubmitSchedule.Mode.class);
        }
    }

    static final class SchedulerMode extends Choice<SchedulerBenchmark.Mode> {
        SchedulerMode() {
            super(SchedulerBenchmark.Mode.class);
        }
    }
}

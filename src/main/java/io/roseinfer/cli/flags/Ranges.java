package io.roseinfer.cli.flags;

import io.roseinfer.base.Limits;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.scheduler.SchedulerOptions;
import java.math.BigDecimal;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Allowed values of flags. A refusal here is reported with the flag's name. */
public final class Ranges {
    private static final int MOST_THREADS = 1024;
    private static final double LONGEST_MILLIS = 3_600_000;

    private Ranges() {}

    /** A whole number from a smallest to a largest one. */
    abstract static class Whole implements ITypeConverter<Integer> {
        private final int least;
        private final int most;

        Whole(int least, int most) {
            this.least = least;
            this.most = most;
        }

        @Override
        public Integer convert(String text) {
            return whole(text, least, most);
        }
    }

    public static final class Positive extends Whole {
        Positive() {
            super(1, Integer.MAX_VALUE);
        }
    }

    public static final class NotNegative extends Whole {
        NotNegative() {
            super(0, Integer.MAX_VALUE);
        }
    }

    /** Rows of a step, or requests that one step chooses from. */
    static final class Rows extends Whole {
        Rows() {
            super(1, SchedulerOptions.MAX_ROWS);
        }
    }

    static final class PromptLength extends Whole {
        PromptLength() {
            super(1, Limits.PROMPT_CHARS);
        }
    }

    static final class Context extends Whole {
        Context() {
            super(2, Limits.MODEL_DIMENSION);
        }
    }

    static final class Port extends Whole {
        Port() {
            super(0, 65_535);
        }
    }

    static final class Threads extends Whole {
        Threads() {
            super(1, MOST_THREADS);
        }
    }

    static final class Replicas extends Whole {
        Replicas() {
            super(1, 64);
        }
    }

    static final class TokenizeWorkers extends Whole {
        TokenizeWorkers() {
            super(0, 256);
        }
    }

    public static final class Steps extends Whole {
        Steps() {
            super(1, 10_000);
        }
    }

    public static final class BlockSize extends Whole {
        BlockSize() {
            super(1, 1024);
        }
    }

    public static final class Logprobs extends Whole {
        Logprobs() {
            super(0, SamplingParams.MAX_LOGPROBS);
        }
    }

    public static final class Millis implements ITypeConverter<Double> {
        @Override
        public Double convert(String text) {
            double value = number(text).doubleValue();
            if (value < 0 || value > LONGEST_MILLIS) {
                throw new TypeConversionException("'" + text + "' is not between 0 and 3600000");
            }
            return value;
        }
    }

    /** A positive number, or {@code inf}. */
    static final class PositiveOrInfinite implements ITypeConverter<Double> {
        @Override
        public Double convert(String text) {
            double value =
                    text.equals("inf") ? Double.POSITIVE_INFINITY : number(text).doubleValue();
            if (!(value > 0)) {
                throw new TypeConversionException("'" + text + "' is not above 0, nor inf");
            }
            return value;
        }
    }

    /** A percentage, 0 to 100. */
    public static final class Percent implements ITypeConverter<Double> {
        @Override
        public Double convert(String text) {
            double value = number(text).doubleValue();
            if (!(value >= 0 && value <= 100)) {
                throw new TypeConversionException("'" + text + "' is not between 0 and 100");
            }
            return value;
        }
    }

    /** A positive, finite number. */
    public static final class PositiveNumber implements ITypeConverter<Double> {
        @Override
        public Double convert(String text) {
            double value = number(text).doubleValue();
            if (!(value > 0) || Double.isInfinite(value)) {
                throw new TypeConversionException("'" + text + "' is not a number above 0");
            }
            return value;
        }
    }

    /** A share that may be nothing and is less than all. */
    static final class BelowOne implements ITypeConverter<Double> {
        @Override
        public Double convert(String text) {
            double value = number(text).doubleValue();
            if (value < 0 || value >= 1) {
                throw new TypeConversionException("'" + text + "' is not 0 or more and below 1");
            }
            return value;
        }
    }

    /** A number that the sampling parameters themselves accept. */
    abstract static class Sampling implements ITypeConverter<Float> {
        private final Consumer<Float> check;

        Sampling(Consumer<Float> check) {
            this.check = check;
        }

        @Override
        public Float convert(String text) {
            float value = number(text).floatValue();
            try {
                check.accept(value);
            } catch (BadInput outside) {
                throw new TypeConversionException(String.valueOf(outside.getMessage()));
            }
            return value;
        }
    }

    static final class Temperature extends Sampling {
        Temperature() {
            super(SamplingParams.greedy()::withTemperature);
        }
    }

    static final class TopP extends Sampling {
        TopP() {
            super(SamplingParams.greedy()::withTopP);
        }
    }

    static final class MinP extends Sampling {
        MinP() {
            super(SamplingParams.greedy()::withMinP);
        }
    }

    static final class RepetitionPenalty extends Sampling {
        RepetitionPenalty() {
            super(SamplingParams.greedy()::withRepetitionPenalty);
        }
    }

    static final class PresencePenalty extends Sampling {
        PresencePenalty() {
            super(SamplingParams.greedy()::withPresencePenalty);
        }
    }

    static final class FrequencyPenalty extends Sampling {
        FrequencyPenalty() {
            super(SamplingParams.greedy()::withFrequencyPenalty);
        }
    }

    /** Whole numbers with commas between them. */
    public record Numbers(List<Integer> values) {
        public Numbers {
            values = List.copyOf(values);
        }

        static Numbers of(int... values) {
            return new Numbers(Arrays.stream(values).boxed().toList());
        }

        public int[] toArray() {
            return values.stream().mapToInt(Integer::intValue).toArray();
        }

        @Override
        public String toString() {
            return values.stream().map(String::valueOf).collect(Collectors.joining(","));
        }
    }

    static final class PositiveList implements ITypeConverter<Numbers> {
        @Override
        public Numbers convert(String text) {
            return list(text, 1, Integer.MAX_VALUE);
        }
    }

    static final class PromptLengths implements ITypeConverter<Numbers> {
        @Override
        public Numbers convert(String text) {
            return list(text, 1, Limits.PROMPT_CHARS);
        }
    }

    public static final class TokenIds implements ITypeConverter<Numbers> {
        @Override
        public Numbers convert(String text) {
            return list(text, 0, Integer.MAX_VALUE);
        }
    }

    static final class RunningList implements ITypeConverter<Numbers> {
        @Override
        public Numbers convert(String text) {
            return list(text, 1, 16_384);
        }
    }

    static final class WaitingList implements ITypeConverter<Numbers> {
        @Override
        public Numbers convert(String text) {
            return list(text, 0, 1_000_000);
        }
    }

    private static Numbers list(String text, int least, int most) {
        return new Numbers(Arrays.stream(text.split(",", -1))
                .map(part -> whole(part.strip(), least, most))
                .toList());
    }

    private static int whole(String text, int least, int most) {
        try {
            int value = Integer.parseInt(text);
            if (value >= least && value <= most) {
                return value;
            }
        } catch (NumberFormatException notWhole) {
            // Said below, in the same words.
        }
        String range = most == Integer.MAX_VALUE ? least + " or more" : least + " to " + most;
        throw new TypeConversionException("'" + text + "' is not a whole number, " + range);
    }

    /** No NaN, no infinity, no hexadecimal: only decimal numbers are numbers here. */
    private static BigDecimal number(String text) {
        try {
            return new BigDecimal(text);
        } catch (NumberFormatException notNumber) {
            throw new TypeConversionException("'" + text + "' is not a number");
        }
    }
}

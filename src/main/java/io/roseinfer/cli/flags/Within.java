package io.roseinfer.cli.flags;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.lang.reflect.Field;
import java.math.BigDecimal;
import java.util.Map;
import java.util.Stack;
import java.util.StringJoiner;
import picocli.CommandLine.IParameterPreprocessor;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;

/**
 * The bounds of a flag's number, or of each number of its list. A bound that a record checks as well is a constant of that record.
 * {@code preprocessor = Within.Check.class} on the same flag refuses other values.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.FIELD)
public @interface Within {
    /** The smallest value. */
    double min() default Double.NEGATIVE_INFINITY;

    /** The largest value. */
    double max() default Double.POSITIVE_INFINITY;

    /** The number that every value is greater than. */
    double above() default Double.NEGATIVE_INFINITY;

    /** The number that every value is less than. */
    double below() default Double.POSITIVE_INFINITY;

    /** Whether {@code inf} is a value, too; {@link Infinite} reads it. */
    boolean orInfinite() default false;

    /** Reads a number or {@code inf}. */
    final class Infinite implements ITypeConverter<Double> {
        @Override
        public Double convert(String text) {
            return text.equals("inf") ? Double.POSITIVE_INFINITY : Double.parseDouble(text);
        }
    }

    /** Refuses text that is no number within the bounds, in a message that names the flag. */
    final class Check implements IParameterPreprocessor {
        @Override
        public boolean preprocess(Stack<String> words, CommandSpec command, ArgSpec flag, Map<String, Object> unused) {
            // The parser refuses a flag without a value.
            if (!words.isEmpty() && flag instanceof OptionSpec option && flag.userObject() instanceof Field field) {
                Class<?> type = flag.typeInfo().getAuxiliaryTypes()[0];
                Range range = new Range(field.getAnnotation(Within.class), type);
                String value = words.peek();
                for (String number : type == Numbers.class ? value.split(",", -1) : new String[] {value}) {
                    if (!range.contains(number.strip())) {
                        throw new ParameterException(
                                command.commandLine(),
                                "Invalid value for option '" + option.longestName() + "': '" + number.strip()
                                        + "' is not " + range,
                                flag,
                                value);
                    }
                }
            }
            return false;
        }

        /** The bounds with the type of the numbers: {@code double}, {@code float} or whole numbers. */
        private record Range(Within bounds, boolean isReal, boolean isSingle) {
            Range(Within bounds, Class<?> type) {
                this(bounds, type == double.class || type == Double.class || type == float.class, type == float.class);
            }

            boolean contains(String text) {
                try {
                    double value = value(text);
                    return Double.isFinite(value)
                            && value >= bounds.min()
                            && value <= bounds.max()
                            && value > bounds.above()
                            && value < bounds.below();
                } catch (NumberFormatException notNumber) {
                    return bounds.orInfinite() && text.equals("inf");
                }
            }

            /** The number in decimal notation: neither NaN nor infinity nor hexadecimal digits are numbers here. */
            private double value(String text) {
                return isSingle
                        ? new BigDecimal(text).floatValue()
                        : isReal ? new BigDecimal(text).doubleValue() : Integer.parseInt(text);
            }

            @Override
            public String toString() {
                StringJoiner bound = new StringJoiner(" and ", isReal ? "a number " : "a whole number, ", "");
                boolean hasMin = bounds.min() > Double.NEGATIVE_INFINITY;
                boolean hasMax = bounds.max() < Double.POSITIVE_INFINITY;
                if (hasMin) {
                    String min = (isReal ? hasMax ? "from " : "of " : "") + shown(bounds.min());
                    bound.add(min + (hasMax ? " to " + shown(bounds.max()) : " or more"));
                }
                if (bounds.above() > Double.NEGATIVE_INFINITY) {
                    bound.add("above " + shown(bounds.above()));
                }
                if (hasMax && !hasMin) {
                    bound.add("at most " + shown(bounds.max()));
                }
                if (bounds.below() < Double.POSITIVE_INFINITY) {
                    bound.add("below " + shown(bounds.below()));
                }
                return bound + (bounds.orInfinite() ? ", or inf" : "");
            }

            private static String shown(double bound) {
                return bound == Math.rint(bound) ? Long.toString((long) bound) : Float.toString((float) bound);
            }
        }
    }
}

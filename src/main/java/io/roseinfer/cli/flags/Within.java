package io.roseinfer.cli.flags;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.lang.reflect.Field;
import java.math.BigDecimal;
import java.util.Map;
import java.util.Optional;
import java.util.Stack;
import java.util.StringJoiner;
import java.util.regex.Pattern;
import picocli.CommandLine.IParameterPreprocessor;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;

/**
 * The bounds of a flag's number, or of each number in its list. A bound that a record also checks is a constant of that record. The flag's
 * {@code @Option} needs {@code preprocessor = Within.Check.class} to reject other values.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.FIELD)
public @interface Within {
    /** Returns the minimum, inclusive. */
    double min() default Double.NEGATIVE_INFINITY;

    /** Returns the maximum, inclusive. */
    double max() default Double.POSITIVE_INFINITY;

    /** Returns the exclusive lower bound. */
    double above() default Double.NEGATIVE_INFINITY;

    /** Returns the exclusive upper bound. */
    double below() default Double.POSITIVE_INFINITY;

    /** Returns whether {@code inf} is also allowed; {@link Infinite} parses it. */
    boolean orInfinite() default false;

    /** Parses a number or {@code inf}. */
    final class Infinite implements ITypeConverter<Double> {
        @Override
        public Double convert(String text) {
            return text.equals("inf") ? Double.POSITIVE_INFINITY : Double.parseDouble(text);
        }
    }

    /** Rejects text that is not a number within the bounds, with a message that names the flag. */
    final class Check implements IParameterPreprocessor {
        @Override
        public boolean preprocess(Stack<String> words, CommandSpec command, ArgSpec flag, Map<String, Object> unused) {
            // The parser reports a missing value.
            if (!words.isEmpty() && flag instanceof OptionSpec option) {
                Range range = Range.of(flag).orElseThrow();
                String value = words.peek();
                for (String number : type(flag) == Numbers.class ? value.split(",", -1) : new String[] {value}) {
                    if (!range.contains(number.strip())) {
                        throw new ParameterException(
                                command.commandLine(),
                                option.longestName() + " is " + range.rejection(number.strip(), unit(option)),
                                flag,
                                value);
                    }
                }
            }
            return false;
        }

        private static String unit(OptionSpec flag) {
            return flag.paramLabel().equals("<SECONDS>") ? " of seconds" : "";
        }

        private static Class<?> type(ArgSpec flag) {
            return flag.typeInfo().getAuxiliaryTypes()[0];
        }

        /** The bounds, and the type of the numbers: {@code double}, {@code float} or whole numbers. */
        record Range(Within bounds, boolean isReal, boolean isSingle) {
            Range(Within bounds, Class<?> type) {
                this(bounds, type == double.class || type == Double.class || type == float.class, type == float.class);
            }

            /** Returns the range of a flag's numbers; empty if it has no bounds. */
            static Optional<Range> of(ArgSpec flag) {
                return flag.userObject() instanceof Field field && field.isAnnotationPresent(Within.class)
                        ? Optional.of(new Range(field.getAnnotation(Within.class), type(flag)))
                        : Optional.empty();
            }

            private static final Pattern WHOLE = Pattern.compile("[+-]?[0-9]+");
            private static final Pattern DECIMAL =
                    Pattern.compile("[+-]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]{1,4})?");

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

            /** Parses decimal notation; NaN, infinity and hexadecimal digits are not allowed. */
            private double value(String text) {
                return isSingle
                        ? new BigDecimal(text).floatValue()
                        : isReal ? new BigDecimal(text).doubleValue() : Integer.parseInt(text);
            }

            /** Returns a value and the allowed ones, as in {@code 9; it must be 1 to 7}. */
            String rejection(String text, String unit) {
                if (!isNumber(text)) {
                    return "'" + text + "'; it must be a " + (isReal ? "number" : "whole number") + unit + ", "
                            + values();
                }
                boolean isTooLarge = bounds.max() == Double.POSITIVE_INFINITY
                        && new BigDecimal(text).compareTo(new BigDecimal(maxOfType())) > 0;
                return text + "; it must be " + values() + (isTooLarge ? ", and at most " + maxOfType() : "");
            }

            private String maxOfType() {
                return isSingle
                        ? Float.toString(Float.MAX_VALUE)
                        : isReal ? Double.toString(Double.MAX_VALUE) : Integer.toString(Integer.MAX_VALUE);
            }

            private boolean isNumber(String text) {
                return (isReal ? DECIMAL : WHOLE).matcher(text).matches();
            }

            /** Returns a description of the bounds, as in {@code 1 to 64}. */
            String values() {
                StringJoiner values = new StringJoiner(" and ");
                boolean hasMin = bounds.min() > Double.NEGATIVE_INFINITY;
                boolean hasMax = bounds.max() < Double.POSITIVE_INFINITY;
                if (hasMin) {
                    values.add(shown(bounds.min()) + (hasMax ? " to " + shown(bounds.max()) : " or more"));
                }
                if (bounds.above() > Double.NEGATIVE_INFINITY) {
                    values.add("above " + shown(bounds.above()));
                }
                if (hasMax && !hasMin) {
                    values.add("at most " + shown(bounds.max()));
                }
                if (bounds.below() < Double.POSITIVE_INFINITY) {
                    values.add("below " + shown(bounds.below()));
                }
                return values + (bounds.orInfinite() ? ", or inf" : "");
            }

            private static String shown(double bound) {
                return bound == Math.rint(bound) ? Long.toString((long) bound) : Float.toString((float) bound);
            }
        }
    }
}

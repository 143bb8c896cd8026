package io.roseinfer.tokenizer.chat.jinja;

import io.roseinfer.tokenizer.chat.jinja.Lexer.Token;
import io.roseinfer.tokenizer.chat.jinja.Value.Bool;
import io.roseinfer.tokenizer.chat.jinja.Value.Int;
import io.roseinfer.tokenizer.chat.jinja.Value.LargeInt;
import io.roseinfer.tokenizer.chat.jinja.Value.Real;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

/** Python's numbers: integers, limited to 64 bits in calculations, and doubles. */
final class Numbers {
    /** Python's limit when parsing an integer. */
    private static final int MAX_DIGITS = 4300;

    private static final Pattern REAL = Pattern.compile("(\\d+\\.?\\d*|\\.\\d+)(e[+-]?\\d+)?");

    private Numbers() {}

    static Value integerLiteral(Token token) {
        String digits = token.text().replace("_", "").toLowerCase(Locale.ROOT);
        try {
            return switch (digits.length() > 1 ? digits.charAt(1) : ' ') {
                case 'x' -> new Int(Long.parseLong(digits.substring(2), 16));
                case 'o' -> new Int(Long.parseLong(digits.substring(2), 8));
                case 'b' -> new Int(Long.parseLong(digits.substring(2), 2));
                default -> new Int(Long.parseLong(digits));
            };
        } catch (NumberFormatException e) {
            throw new TemplateError(token.line(), "the integer " + digits + " exceeds 64 bits");
        }
    }

    /**
     * Parses a string like Python's {@code int(text, base)}: with a sign, a prefix such as 0x, and underscores between
     * digits.
     */
    static Optional<Value> parseInteger(String text, int base) {
        Optional<String> digits = withoutUnderscores(text).filter(number -> number.length() <= MAX_DIGITS);
        try {
            return digits.map(number -> of(new BigInteger(withoutPrefix(number, base), base)));
        } catch (NumberFormatException notInThisBase) {
            return Optional.empty();
        }
    }

    private static String withoutPrefix(String number, int base) {
        String prefix =
                switch (base) {
                    case 2 -> "0b";
                    case 8 -> "0o";
                    case 16 -> "0x";
                    default -> "";
                };
        int sign = number.startsWith("-") || number.startsWith("+") ? 1 : 0;
        return !prefix.isEmpty() && number.startsWith(prefix, sign)
                ? number.substring(0, sign) + number.substring(sign + prefix.length())
                : number;
    }

    static Value of(BigInteger number) {
        return number.bitLength() < Long.SIZE ? new Int(number.longValue()) : new LargeInt(number);
    }

    /** Parses a string like Python's {@code float}. */
    static Optional<Double> parseReal(String text) {
        return withoutUnderscores(text).flatMap(number -> {
            boolean signed = number.startsWith("+") || number.startsWith("-");
            String unsigned = signed ? number.substring(1) : number;
            double sign = number.startsWith("-") ? -1 : 1;
            return switch (unsigned) {
                case "inf", "infinity" -> Optional.of(sign * Double.POSITIVE_INFINITY);
                case "nan" -> Optional.of(Double.NaN);
                default -> REAL.matcher(unsigned).matches()
                        ? Optional.of(sign * Double.parseDouble(unsigned))
                        : Optional.empty();
            };
        });
    }

    /**
     * Returns a number in lower case without surrounding whitespace and underscores between digits; empty if an
     * underscore is elsewhere.
     */
    private static Optional<String> withoutUnderscores(String text) {
        String number = PythonText.lower(PythonText.strip(text, PythonText::isSpace, true, true));
        boolean between = !number.startsWith("_") && !number.endsWith("_") && !number.contains("__");
        return Optional.of(number.replace("_", "")).filter(any -> between);
    }

    static boolean isNumber(Value value) {
        return isInteger(value) || value instanceof Real;
    }

    /** Returns whether a value is an integer or a boolean. */
    static boolean isInteger(Value value) {
        return value instanceof Int || value instanceof LargeInt || value instanceof Bool;
    }

    static long integer(Value value, String what) {
        return switch (value) {
            case Int(long number) -> number;
            case LargeInt ignored -> throw new TemplateError("an integer exceeds 64 bits");
            case Bool(boolean truth) -> truth ? 1 : 0;
            default -> throw new TemplateError(what + " is " + Operators.typeName(value) + "; it must be an integer");
        };
    }

    /** Returns an integer clamped to the range of {@code int}. */
    static int bounded(Value value, String what) {
        return Math.clamp(integer(value, what), Integer.MIN_VALUE, Integer.MAX_VALUE);
    }

    static double real(Value value) {
        return switch (value) {
            case Real(double number) -> number;
            case LargeInt(BigInteger number) -> number.doubleValue();
            default -> integer(value, "an operand");
        };
    }

    /** Compares two integers of any size. */
    static int compareIntegers(Value left, Value right) {
        return left instanceof LargeInt || right instanceof LargeInt
                ? large(left).compareTo(large(right))
                : Long.compare(integer(left, "an operand"), integer(right, "an operand"));
    }

    private static BigInteger large(Value value) {
        return value instanceof LargeInt(BigInteger number) ? number : BigInteger.valueOf(integer(value, "an operand"));
    }

    static Value arithmetic(String operator, Value left, Value right) {
        try {
            if (!operator.equals("/") && isInteger(left) && isInteger(right)) {
                long a = integer(left, "an operand");
                long b = integer(right, "an operand");
                return operator.equals("**") && b < 0 ? new Real(Math.pow((double) a, (double) b)) : new Int(integerArithmetic(operator, a, b));
            }
        } catch (ArithmeticException e) {
            throw new TemplateError(
                    Operators.isZero(right) ? "division by zero" : "an integer exceeds 64 bits");
        }
        return new Real(realArithmetic(operator, real(left), real(right)));
    }

    private static long integerArithmetic(String operator, long a, long b) {
        return switch (operator) {
            case "+" -> Math.addExact(a, b);
            case "-" -> Math.subtractExact(a, b);
            case "*" -> Math.multiplyExact(a, b);
            case "//" -> Math.floorDivExact(a, b);
            case "%" -> Math.floorMod(a, b);
            default -> Math.powExact(a, Math.toIntExact(b));
        };
    }

    private static double realArithmetic(String operator, double a, double b) {
        if (b == 0 && (operator.equals("/") || operator.equals("//") || operator.equals("%"))) {
            throw new TemplateError("division by zero");
        }
        return switch (operator) {
            case "+" -> a + b;
            case "-" -> a - b;
            case "*" -> a * b;
            case "/" -> a / b;
            case "//" -> Math.floor(a / b);
            case "%" -> a - b * Math.floor(a / b);
            default -> Math.pow(a, b);
        };
    }

    /**
     * Formats a double like Python: the shortest digits that identify it, with an exponent below 1e-4 and from 1e16.
     */
    static String repr(double value) {
        if (Double.isNaN(value)) {
            return "nan";
        }
        if (Double.isInfinite(value)) {
            return value > 0 ? "inf" : "-inf";
        }
        if (value == 0) {
            return 1 / value < 0 ? "-0.0" : "0.0";
        }
        BigDecimal shortest = shortest(value);
        int exponent = shortest.precision() - shortest.scale() - 1;
        if (exponent >= -4 && exponent < 16) {
            String plain = shortest.toPlainString();
            return plain.contains(".") ? plain : plain + ".0";
        }
        String digits = shortest.unscaledValue().abs().toString();
        String mantissa = digits.length() == 1 ? digits : digits.charAt(0) + "." + digits.substring(1);
        String power = (exponent < 0 ? "-" : "+") + (Math.abs(exponent) < 10 ? "0" : "") + Math.abs(exponent);
        return (value < 0 ? "-" : "") + mantissa + "e" + power;
    }

    /** Returns the shortest digits that identify the number; Java's own text has at least two. */
    private static BigDecimal shortest(double value) {
        BigDecimal digits = new BigDecimal(Double.toString(value)).stripTrailingZeros();
        BigDecimal one = digits.round(new MathContext(1));
        return one.doubleValue() == value ? one.stripTrailingZeros() : digits;
    }

    /** Evaluates Python's {@code round}, which rounds half to even. */
    static Value round(Value value, int digits) {
        if (isInteger(value) && digits >= 0) {
            return value instanceof LargeInt ? value : new Int(integer(value, "a number"));
        }
        double number = real(value);
        if (Double.isNaN(number) || Double.isInfinite(number)) {
            return value;
        }
        BigDecimal rounded = new BigDecimal(number).setScale(digits, RoundingMode.HALF_EVEN);
        return isInteger(value) ? new Int(rounded.longValueExact()) : new Real(rounded.doubleValue());
    }
}

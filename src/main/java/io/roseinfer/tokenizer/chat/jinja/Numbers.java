package io.roseinfer.tokenizer.chat.jinja;

import io.roseinfer.tokenizer.chat.jinja.Lexer.Token;
import io.roseinfer.tokenizer.chat.jinja.Value.Bool;
import io.roseinfer.tokenizer.chat.jinja.Value.Int;
import io.roseinfer.tokenizer.chat.jinja.Value.Real;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.Locale;

/** Python's numbers: whole ones, which here have 64 bits and no more, and doubles. */
final class Numbers {
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
            throw new TemplateError(token.line(), "the number " + digits + " is beyond 64 bits");
        }
    }

    static boolean isNumber(Value value) {
        return value instanceof Int || value instanceof Real || value instanceof Bool;
    }

    /** Whether a value is whole, truth values included. */
    static boolean isWhole(Value value) {
        return value instanceof Int || value instanceof Bool;
    }

    static long whole(Value value, String what) {
        return switch (value) {
            case Int(long number) -> number;
            case Bool(boolean truth) -> truth ? 1 : 0;
            default -> throw new TemplateError(what + " is " + Operators.typeName(value) + "; it must be a whole number");
        };
    }

    /** A whole number, bounded to what an {@code int} holds. */
    static int bounded(Value value, String what) {
        return Math.clamp(whole(value, what), Integer.MIN_VALUE, Integer.MAX_VALUE);
    }

    static double real(Value value) {
        return value instanceof Real(double number) ? number : whole(value, "an operand");
    }

    static Value arithmetic(String operator, Value left, Value right) {
        try {
            if (!operator.equals("/") && isWhole(left) && isWhole(right)) {
                long a = whole(left, "an operand");
                long b = whole(right, "an operand");
                return operator.equals("**") && b < 0 ? new Real(Math.pow((double) a, (double) b)) : new Int(ofWhole(operator, a, b));
            }
        } catch (ArithmeticException e) {
            throw new TemplateError(
                    Operators.isZero(right) ? "division by zero" : "a whole number grows beyond 64 bits");
        }
        return new Real(ofReal(operator, real(left), real(right)));
    }

    private static long ofWhole(String operator, long a, long b) {
        return switch (operator) {
            case "+" -> Math.addExact(a, b);
            case "-" -> Math.subtractExact(a, b);
            case "*" -> Math.multiplyExact(a, b);
            case "//" -> Math.floorDivExact(a, b);
            case "%" -> Math.floorMod(a, b);
            default -> Math.powExact(a, Math.toIntExact(b));
        };
    }

    private static double ofReal(String operator, double a, double b) {
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

    /** A double as Python writes it: the shortest digits that give it back, with an exponent below 1e-4 and from 1e16. */
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

    /** The fewest digits that give the number back; Java's own text has two of them at least. */
    private static BigDecimal shortest(double value) {
        BigDecimal digits = new BigDecimal(Double.toString(value)).stripTrailingZeros();
        BigDecimal one = digits.round(new MathContext(1));
        return one.doubleValue() == value ? one.stripTrailingZeros() : digits;
    }

    /** Python's {@code round}: to even where it is halfway. */
    static Value round(Value value, int digits) {
        if (isWhole(value) && digits >= 0) {
            return new Int(whole(value, "a number"));
        }
        double number = real(value);
        if (Double.isNaN(number) || Double.isInfinite(number)) {
            return value;
        }
        BigDecimal rounded = new BigDecimal(number).setScale(digits, RoundingMode.HALF_EVEN);
        return isWhole(value) ? new Int(rounded.longValueExact()) : new Real(rounded.doubleValue());
    }
}

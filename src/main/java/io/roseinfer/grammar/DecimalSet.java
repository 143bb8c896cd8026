package io.roseinfer.grammar;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntBinaryOperator;
import java.util.function.IntPredicate;
import java.util.function.Predicate;

/**
 * A set of numbers, as the minimal automaton of their plain decimal spellings: {@code -?(0|[1-9][0-9]*)(\.[0-9]+)?}.
 *
 * <p>A set has every plain spelling of its members ({@code 1}, {@code 1.0}, {@code 1.00}), so sets of
 * spellings are combined like sets of numbers. Immutable and thread-safe.
 */
final class DecimalSet {
    /** Symbols: the digits 0 to 9, the point, the minus sign. */
    static final int SYMBOLS = 12;

    static final int POINT = 10;
    static final int MINUS = 11;

    private static final int DEAD = -1;

    /** Steps of work that a state counts as. */
    private static final int STATE_STEPS = 8;

    /** Every number. */
    static final DecimalSet ALL = build(Shape.START, Shape::next, Shape::isNumber);

    /** No number. */
    static final DecimalSet NONE = new DecimalSet(dead(1), new boolean[1]);

    /** The integers, with or without a zero fraction. */
    static final DecimalSet INTEGERS = build(Shape.START, Shape::nextOfInteger, Shape::isNumber);

    /** Spellings of integers without a fraction and without {@code -0}; not closed under equality. */
    static final DecimalSet PLAIN_INTEGERS = build(Shape.START, Shape::nextWithoutFraction, Shape::isPlainInteger);

    /** Spellings without a trailing zero in the fraction and without {@code -0}; not closed under equality. */
    static final DecimalSet SHORTEST = build(Shortest.START, Shortest::next, Shortest::isShortest);

    private final int[] next;
    private final boolean[] accepting;

    private DecimalSet(int[] next, boolean[] accepting) {
        this.next = next;
        this.accepting = accepting;
    }

    /** A comparison with a bound. */
    enum Relation {
        LESS,
        LESS_OR_EQUAL,
        EQUAL,
        GREATER_OR_EQUAL,
        GREATER;

        boolean holds(int comparison) {
            return switch (this) {
                case LESS -> comparison < 0;
                case LESS_OR_EQUAL -> comparison <= 0;
                case EQUAL -> comparison == 0;
                case GREATER_OR_EQUAL -> comparison >= 0;
                case GREATER -> comparison > 0;
            };
        }
    }

    /**
     * Returns the numbers in a relation to a bound.
     *
     * @throws io.roseinfer.base.RoseException.BadInput if the bound has too many digits
     */
    static DecimalSet of(Relation relation, BigDecimal bound, String keyword) {
        Bound digits = Bound.of(bound, keyword);
        return build(
                Comparison.start(),
                (state, symbol) -> state.next(symbol, digits),
                state -> state.shape.isNumber() && relation.holds(state.result(digits)));
    }

    /**
     * Returns the multiples of a positive number.
     *
     * @throws io.roseinfer.base.RoseException.BadInput if the automaton has too many states
     */
    static DecimalSet multiplesOf(BigDecimal divisor) {
        BigDecimal stripped = divisor.stripTrailingZeros();
        int scale = Math.max(0, stripped.scale());
        if (stripped.precision() - stripped.scale() > 18 || scale > GrammarSize.MULTIPLE_SCALE) {
            throw GrammarSize.exceeded("multipleOf", divisor, "at most " + GrammarSize.MULTIPLE_STATES + " states");
        }
        BigInteger numerator = stripped.movePointRight(scale).toBigIntegerExact();
        GrammarSize.require(
                numerator.multiply(BigInteger.valueOf(scale + 1L)).bitLength() < 31
                        && numerator.intValue() * (scale + 1L) <= GrammarSize.MULTIPLE_STATES,
                "multipleOf",
                divisor,
                "at most " + GrammarSize.MULTIPLE_STATES + " states");
        int modulus = numerator.intValue();
        int[] powers = new int[scale + 1];
        powers[0] = 1 % modulus;
        for (int i = 1; i <= scale; i++) {
            powers[i] = (int) (powers[i - 1] * 10L % modulus);
        }
        return build(
                new Remainder(Shape.START, 0, 0),
                (state, symbol) -> state.next(symbol, modulus, scale),
                state -> state.shape.isNumber() && (long) state.value * powers[scale - state.fraction] % modulus == 0);
    }

    /** The position in a number's spelling. */
    private enum Shape {
        START,
        SIGN,
        ZERO,
        DIGITS,
        NEGATIVE_ZERO,
        AFTER_POINT,
        FRACTION,
        NONE;

        Shape next(int symbol) {
            return switch (this) {
                case START ->
                    switch (symbol) {
                        case MINUS -> SIGN;
                        case POINT -> NONE;
                        case 0 -> ZERO;
                        default -> DIGITS;
                    };
                case SIGN ->
                    switch (symbol) {
                        case MINUS, POINT -> NONE;
                        case 0 -> NEGATIVE_ZERO;
                        default -> DIGITS;
                    };
                case ZERO, NEGATIVE_ZERO -> symbol == POINT ? AFTER_POINT : NONE;
                case DIGITS ->
                    switch (symbol) {
                        case MINUS -> NONE;
                        case POINT -> AFTER_POINT;
                        default -> DIGITS;
                    };
                case AFTER_POINT, FRACTION -> symbol < POINT ? FRACTION : NONE;
                case NONE -> NONE;
            };
        }

        Shape nextOfInteger(int symbol) {
            boolean digitAfterPoint = (this == AFTER_POINT || this == FRACTION) && symbol > 0;
            return digitAfterPoint ? NONE : next(symbol);
        }

        Shape nextWithoutFraction(int symbol) {
            return symbol == POINT ? NONE : next(symbol);
        }

        boolean isNumber() {
            return this == ZERO || this == NEGATIVE_ZERO || this == DIGITS || this == FRACTION;
        }

        boolean isPlainInteger() {
            return this == ZERO || this == DIGITS;
        }
    }

    private record Shortest(Shape shape, boolean negative, boolean zero, boolean trailingZero) {
        static final Shortest START = new Shortest(Shape.START, false, true, false);

        Shortest next(int symbol) {
            Shape after = shape.next(symbol);
            boolean digit = symbol < POINT;
            return new Shortest(
                    after,
                    negative || symbol == MINUS,
                    zero && (!digit || symbol == 0),
                    after == Shape.FRACTION && symbol == 0);
        }

        boolean isShortest() {
            return shape.isNumber() && !trailingZero && !(negative && zero);
        }
    }

    /** The digits of a bound's magnitude: those before the point, and those after it without trailing zeros. */
    private record Bound(int sign, String whole, String fraction) {
        static Bound of(BigDecimal bound, String keyword) {
            BigDecimal stripped = bound.stripTrailingZeros();
            GrammarSize.require(
                    stripped.precision() - (long) stripped.scale() <= GrammarSize.NUMBER_DIGITS
                            && stripped.scale() <= GrammarSize.NUMBER_DIGITS,
                    keyword,
                    bound,
                    "a number of at most " + GrammarSize.NUMBER_DIGITS + " digits on each side of the point");
            String plain = stripped.abs().toPlainString();
            int point = plain.indexOf('.');
            return point < 0
                    ? new Bound(stripped.signum(), plain, "")
                    : new Bound(stripped.signum(), plain.substring(0, point), plain.substring(point + 1));
        }
    }

    /**
     * A comparison in progress.
     *
     * @param magnitude how the digits read compare with as many of the bound's, before lengths are compared
     * @param wholeDigits digits read before the point, at most one more than the bound has
     * @param fractionDigits digits read after the point, at most as many as the bound has
     */
    private record Comparison(Shape shape, boolean negative, int magnitude, int wholeDigits, int fractionDigits) {
        static Comparison start() {
            return new Comparison(Shape.START, false, 0, 0, 0);
        }

        Comparison next(int symbol, Bound bound) {
            Shape after = shape.next(symbol);
            if (after == Shape.NONE) {
                return new Comparison(after, false, 0, 0, 0);
            }
            if (symbol == MINUS) {
                return new Comparison(after, true, 0, 0, 0);
            }
            if (symbol == POINT) {
                int length = bound.whole.length();
                int settled = wholeDigits == length ? magnitude : Integer.compare(wholeDigits, length);
                return new Comparison(after, negative, settled, length, 0);
            }
            if (after == Shape.FRACTION) {
                boolean known = fractionDigits < bound.fraction.length();
                int other = known ? bound.fraction.charAt(fractionDigits) - '0' : 0;
                int settled = magnitude != 0 ? magnitude : Integer.compare(symbol, other);
                return new Comparison(after, negative, settled, wholeDigits, fractionDigits + (known ? 1 : 0));
            }
            if (wholeDigits >= bound.whole.length()) {
                return new Comparison(after, negative, 1, bound.whole.length() + 1, 0);
            }
            int settled = magnitude != 0 ? magnitude : Integer.compare(symbol, bound.whole.charAt(wholeDigits) - '0');
            return new Comparison(after, negative, settled, wholeDigits + 1, 0);
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Comparison comparison
                    && wholeDigits == comparison.wholeDigits
                    && fractionDigits == comparison.fractionDigits
                    && magnitude == comparison.magnitude
                    && negative == comparison.negative
                    && shape == comparison.shape;
        }

        @Override
        public int hashCode() {
            return ((wholeDigits * 31 + fractionDigits) * 31 + magnitude) * 31 + shape.ordinal();
        }

        int result(Bound bound) {
            if (bound.sign > 0 && negative) {
                return -1;
            }
            if (bound.sign < 0 && !negative) {
                return 1;
            }
            int settled = wholeDigits != bound.whole.length()
                    ? Integer.compare(wholeDigits, bound.whole.length())
                    : magnitude;
            if (settled == 0 && fractionDigits < bound.fraction.length()) {
                settled = -1;
            }
            return negative ? -settled : settled;
        }
    }

    /** A remainder in progress: of the digits before the point, then also of as many after it as the divisor has. */
    private record Remainder(Shape shape, int value, int fraction) {
        Remainder next(int symbol, int modulus, int scale) {
            Shape after = shape.next(symbol);
            if (after == Shape.NONE) {
                return new Remainder(after, 0, 0);
            }
            if (symbol >= POINT) {
                return new Remainder(after, value, fraction);
            }
            if (after == Shape.FRACTION && fraction == scale) {
                return symbol == 0 ? new Remainder(after, value, fraction) : new Remainder(Shape.NONE, 0, 0);
            }
            int digits = (int) ((value * 10L + symbol) % modulus);
            return new Remainder(after, digits, fraction + (after == Shape.FRACTION ? 1 : 0));
        }
    }

    private interface Step<S> {
        S next(S state, int symbol);
    }

    private static <S> DecimalSet build(S start, Step<S> step, Predicate<S> isAccepting) {
        Map<S, Integer> numbers = new HashMap<>();
        List<S> states = new ArrayList<>();
        numbers.put(start, 0);
        states.add(start);
        List<int[]> rows = new ArrayList<>();
        for (int i = 0; i < states.size(); i++) {
            GrammarWork.add(STATE_STEPS);
            int[] row = new int[SYMBOLS];
            for (int symbol = 0; symbol < SYMBOLS; symbol++) {
                S target = step.next(states.get(i), symbol);
                Integer number = numbers.get(target);
                if (number == null) {
                    number = states.size();
                    numbers.put(target, number);
                    states.add(target);
                }
                row[symbol] = number;
            }
            rows.add(row);
        }
        return minimal(
                states.size(),
                (state, symbol) -> rows.get(state)[symbol],
                state -> isAccepting.test(states.get(state)));
    }

    /** Returns the minimal automaton without dead states, numbered in breadth-first order. */
    private static DecimalSet minimal(int count, IntBinaryOperator next, IntPredicate isAccepting) {
        StatePartition partition = new StatePartition(count, SYMBOLS, next, isAccepting);
        return renumbered(count, partition.refined(), next, isAccepting);
    }

    private static DecimalSet renumbered(int count, int[] group, IntBinaryOperator next, IntPredicate isAccepting) {
        int[] representative = new int[count];
        for (int state = count - 1; state >= 0; state--) {
            representative[group[state]] = state;
        }
        // A minimal automaton has at most one dead state: it does not accept, and every symbol leads back to it.
        int dead = DEAD;
        for (int state = 0; state < count; state++) {
            boolean stays = !isAccepting.test(state);
            for (int symbol = 0; symbol < SYMBOLS; symbol++) {
                stays &= group[next.applyAsInt(state, symbol)] == group[state];
            }
            dead = stays ? group[state] : dead;
        }
        if (group[0] == dead) {
            return NONE;
        }
        int[] number = new int[count];
        Arrays.fill(number, DEAD);
        List<Integer> order = new ArrayList<>();
        number[group[0]] = 0;
        order.add(group[0]);
        List<int[]> rows = new ArrayList<>();
        for (int i = 0; i < order.size(); i++) {
            int[] row = dead(1);
            for (int symbol = 0; symbol < SYMBOLS; symbol++) {
                int target = group[next.applyAsInt(representative[order.get(i)], symbol)];
                if (target != dead && number[target] == DEAD) {
                    number[target] = order.size();
                    order.add(target);
                }
                row[symbol] = target == dead ? DEAD : number[target];
            }
            rows.add(row);
        }
        int[] flat = new int[order.size() * SYMBOLS];
        boolean[] accepting = new boolean[order.size()];
        for (int i = 0; i < order.size(); i++) {
            System.arraycopy(rows.get(i), 0, flat, i * SYMBOLS, SYMBOLS);
            accepting[i] = isAccepting.test(representative[order.get(i)]);
        }
        return new DecimalSet(flat, accepting);
    }

    private static int[] dead(int states) {
        int[] row = new int[states * SYMBOLS];
        Arrays.fill(row, DEAD);
        return row;
    }

    /** A state of each of two automata; the methods of a record are slow until they are compiled. */
    private record Pair(int left, int right) {
        @Override
        public boolean equals(Object other) {
            return other instanceof Pair pair && left == pair.left && right == pair.right;
        }

        @Override
        public int hashCode() {
            return left * 31 + right;
        }
    }

    private interface Combination {
        boolean holds(boolean left, boolean right);
    }

    private DecimalSet combine(DecimalSet other, String operation, Combination combination) {
        GrammarSize.require(
                (long) states() * other.states() <= GrammarSize.NUMBER_STATES,
                "the limits of a number (" + operation + ")",
                states() + " x " + other.states() + " states",
                "at most " + GrammarSize.NUMBER_STATES);
        return build(
                new Pair(0, 0),
                (pair, symbol) -> new Pair(next(pair.left, symbol), other.next(pair.right, symbol)),
                pair -> combination.holds(isAccepting(pair.left), other.isAccepting(pair.right)));
    }

    DecimalSet and(DecimalSet other) {
        if (isEmpty() || other.isEmpty()) {
            return NONE;
        }
        return combine(other, "and", (left, right) -> left && right);
    }

    DecimalSet or(DecimalSet other) {
        if (isEmpty() || other.isEmpty()) {
            return isEmpty() ? other : this;
        }
        return combine(other, "or", (left, right) -> left || right);
    }

    DecimalSet minus(DecimalSet other) {
        if (isEmpty() || other.isEmpty()) {
            return this;
        }
        return combine(other, "not", (left, right) -> left && !right);
    }

    boolean isEmpty() {
        return accepting.length == 1 && !accepting[0];
    }

    boolean containsAll(DecimalSet other) {
        return other.minus(this).isEmpty();
    }

    /** Returns whether the automaton accepts finitely many spellings. */
    boolean isFinite() {
        int[] incoming = new int[states()];
        for (int target : next) {
            if (target != DEAD) {
                incoming[target]++;
            }
        }
        // Every state is reachable and leads to an accepting one, so a cycle means infinitely many spellings.
        List<Integer> order = new ArrayList<>();
        for (int state = 0; state < states(); state++) {
            if (incoming[state] == 0) {
                order.add(state);
            }
        }
        for (int i = 0; i < order.size(); i++) {
            for (int symbol = 0; symbol < SYMBOLS; symbol++) {
                int target = next(order.get(i), symbol);
                if (target != DEAD && --incoming[target] == 0) {
                    order.add(target);
                }
            }
        }
        return order.size() == states();
    }

    /** Returns the spellings, at most a number of them; the automaton must be finite. */
    List<String> spellings(int limit) {
        List<String> result = new ArrayList<>();
        collect(0, "", limit, result);
        return result;
    }

    private void collect(int state, String prefix, int limit, List<String> result) {
        if (result.size() >= limit) {
            return;
        }
        if (isAccepting(state)) {
            result.add(prefix);
        }
        for (int symbol = 0; symbol < SYMBOLS; symbol++) {
            int target = next(state, symbol);
            if (target != DEAD) {
                collect(target, prefix + "0123456789.-".charAt(symbol), limit, result);
            }
        }
    }

    int states() {
        return accepting.length;
    }

    /** Returns the state after a symbol; -1 if no number continues so. */
    int next(int state, int symbol) {
        return state == DEAD ? DEAD : next[state * SYMBOLS + symbol];
    }

    boolean isAccepting(int state) {
        return state != DEAD && accepting[state];
    }

    /** Returns whether a plain spelling is in this set. */
    boolean matches(String spelling) {
        int state = 0;
        for (int i = 0; i < spelling.length(); i++) {
            char c = spelling.charAt(i);
            state = next(state, c == '-' ? MINUS : c == '.' ? POINT : c - '0');
        }
        return isAccepting(state);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof DecimalSet set
                && Arrays.equals(next, set.next)
                && Arrays.equals(accepting, set.accepting);
    }

    @Override
    public int hashCode() {
        return 31 * Arrays.hashCode(next) + Arrays.hashCode(accepting);
    }
}

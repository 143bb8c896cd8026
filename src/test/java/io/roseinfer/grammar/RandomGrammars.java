package io.roseinfer.grammar;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/** Random small grammars and vocabularies over few characters, some of them outside of ASCII or special in JSON. */
final class RandomGrammars {
    /** The characters that random sets distinguish. */
    static final int[] NAMED = {'a', 'b', '"', '\\', '\n', 'é', 'ê', '€', 0x1F600};

    private static final String SPELLED = "aab\"\\\né€z1ß" + Character.toString(0x1F600) + Character.toString(0x1F601);
    private static final String[] RULES = {"root", "r1", "r2", "r3"};
    static final Map<String, Integer> SPECIAL = Map.of("<x>", 0, "<y>", 1);

    /** Maximum bytes of a token. */
    static final int MAX_TOKEN_BYTES = 24;

    private final SplittableRandom random;

    RandomGrammars(long seed) {
        random = new SplittableRandom(seed);
    }

    Grammar grammar() {
        int rules = 1 + random.nextInt(RULES.length);
        Map<String, Expression> right = new LinkedHashMap<>();
        for (int i = 0; i < rules; i++) {
            right.put(RULES[i], expression(3, rules));
        }
        return new Grammar(RULES[0], right);
    }

    private Expression expression(int depth, int rules) {
        int kind = depth == 0 ? random.nextInt(4) : random.nextInt(13);
        return switch (kind) {
            case 0, 1 -> Expression.terminal(regex(random.nextInt(4)));
            case 2 -> Expression.reference(RULES[random.nextInt(rules)]);
            case 3 ->
                random.nextInt(6) == 0
                        ? new Expression.TokenReference(random.nextBoolean() ? "<x>" : "<y>")
                        : Expression.literal(text(1 + random.nextInt(3)));
            case 4, 5, 6, 7 -> new Expression.Sequence(expressions(depth, rules));
            case 8, 9, 10 -> new Expression.Choice(expressions(depth, rules));
            default -> {
                int min = random.nextInt(3);
                int max = random.nextInt(3) == 0 ? min + random.nextInt(3) : Expression.Repeat.UNBOUNDED;
                yield new Expression.Repeat(expression(depth - 1, rules), min, max);
            }
        };
    }

    private List<Expression> expressions(int depth, int rules) {
        List<Expression> parts = new ArrayList<>();
        int count = random.nextInt(4);
        for (int i = 0; i < count; i++) {
            parts.add(expression(depth - 1, rules));
        }
        return parts;
    }

    Regex regex(int depth) {
        int kind = depth == 0 ? random.nextInt(5) : random.nextInt(14);
        return switch (kind) {
            case 0, 1 -> Regex.chars(set());
            case 2 -> Regex.literal(text(1 + random.nextInt(2)));
            case 3 -> Regex.star(Regex.chars(set()));
            case 4 ->
                random.nextInt(4) == 0
                        ? new Regex.Empty()
                        : Regex.repeat(Regex.chars(set()), random.nextInt(3), 8 + random.nextInt(12));
            case 5, 6, 7 -> Regex.concat(regex(depth - 1), regex(depth - 1));
            case 8, 9 -> Regex.or(regex(depth - 1), regex(depth - 1));
            case 10 -> Regex.and(regex(depth - 1), regex(depth - 1));
            case 11 -> Regex.not(regex(depth - 1));
            default -> {
                int min = random.nextInt(3);
                int max = random.nextBoolean() ? min + random.nextInt(3) : Regex.Repeat.UNBOUNDED;
                yield Regex.repeat(regex(depth - 1), min, max);
            }
        };
    }

    private CodePointSet set() {
        CodePointSet set = CodePointSet.NONE;
        int count = 1 + random.nextInt(3);
        for (int i = 0; i < count; i++) {
            set = set.union(CodePointSet.of(NAMED[random.nextInt(NAMED.length)]));
        }
        return random.nextInt(3) == 0 ? set.complement() : set;
    }

    private String text(int length) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < length; i++) {
            text.appendCodePoint(NAMED[random.nextInt(random.nextInt(3) == 0 ? NAMED.length : 3)]);
        }
        return text.toString();
    }

    /** Returns tokens for single bytes and for cuts of random texts; some are the same, some are special. */
    byte[][] vocabulary() {
        List<byte[]> tokens = new ArrayList<>();
        tokens.add("<x>".getBytes(StandardCharsets.UTF_8));
        tokens.add(new byte[0]);
        for (byte value : SPELLED.getBytes(StandardCharsets.UTF_8)) {
            if (random.nextInt(3) != 0) {
                tokens.add(new byte[] {value});
            }
        }
        int[] points = SPELLED.codePoints().toArray();
        for (int i = 0; i < 40; i++) {
            StringBuilder text = new StringBuilder();
            int length = 1 + random.nextInt(random.nextInt(8) == 0 ? 14 : 5);
            int kinds = random.nextBoolean() ? 4 : points.length;
            for (int j = 0; j < length; j++) {
                text.appendCodePoint(points[random.nextInt(kinds)]);
            }
            byte[] bytes = text.toString().getBytes(StandardCharsets.UTF_8);
            int from = random.nextInt(3) == 0 ? random.nextInt(bytes.length) : 0;
            int to = random.nextInt(3) == 0 ? from + random.nextInt(bytes.length - from + 1) : bytes.length;
            tokens.add(Arrays.copyOfRange(bytes, from, Math.min(to, from + MAX_TOKEN_BYTES)));
        }
        return tokens.toArray(byte[][]::new);
    }

    int next(int bound) {
        return random.nextInt(bound);
    }

    /** A memory of an oracle's answers about prefixes. */
    static final class Known {
        private final Map<List<Integer>, Boolean> answers = new HashMap<>();
        private final PrefixOracle oracle;

        Known(PrefixOracle oracle) {
            this.oracle = oracle;
        }

        boolean isPrefix(List<Integer> text) {
            return answers.computeIfAbsent(
                    text,
                    unused -> oracle.new Reading(text.stream().mapToInt(i -> i).toArray()).isPrefix());
        }
    }
}

package io.roseinfer.backend.cpu.panama;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The generator of the register tiles: sums in named local variables, one per row and vector, which only text can repeat.
 * {@code tools/tiles} runs it. A template is Java with
 *
 * <ul>
 *   <li>{@code $h}, {@code $r}, {@code $v}: the tile's height, a row of it, a vector of outputs. A line that names an unbound row
 *       or vector is repeated for each, vectors innermost.
 *   <li>{@code #each NAMES VALUES ...} to {@code #end}: lines repeated for every value; rows and vectors need none.
 *   <li>{@code #when NAME VALUES ...} to {@code #end}: lines for some values only.
 *   <li>sums of products between backquotes, which are shortened: {@code 1 * k} is {@code k}, and 0 is left out.
 * </ul>
 *
 * <p>What is longer than a line is broken as the formatter would break it.
 */
final class TileGenerator {
    private static final int VECTORS = 3;
    private static final int LINE = 120;
    private static final Pattern SUM = Pattern.compile("`([^`]*)`");
    private static final Pattern NUMBER = Pattern.compile("([0-9]+)L?");

    private TileGenerator() {}

    /** Writes the tiles to the source folder that is the only argument. */
    public static void main(String[] args) throws IOException {
        Path folder = Path.of(args[0], "io", "roseinfer", "backend", "cpu", "panama");
        for (Map.Entry<String, String> file : files().entrySet()) {
            Files.writeString(folder.resolve(file.getKey()), file.getValue());
        }
    }

    /** The text of every generated file, by its name. */
    static Map<String, String> files() {
        return Map.of(
                "TallTiles.java", expanded(TALL),
                "LowTiles.java", expanded(LOW),
                "LowByteTiles.java", expanded(BYTES),
                "TallInt4Tiles.java", expanded(TALL_INT4),
                "LowInt4Tiles.java", expanded(LOW_INT4));
    }

    private static String expanded(String template) {
        List<String> lines = new ArrayList<>();
        expand(template.lines().toList(), Map.of(), lines);
        return lines.stream().map(line -> line + "\n").collect(Collectors.joining());
    }

    private static void expand(List<String> template, Map<String, String> bound, List<String> lines) {
        for (int i = 0; i < template.size(); i++) {
            String line = template.get(i);
            if (line.startsWith("#")) {
                int end = end(template, i);
                List<String> block = template.subList(i + 1, end);
                directive(line.split(" "), bound).forEach(inner -> expand(block, inner, lines));
                i = end;
            } else if (line.contains("$r") && !bound.containsKey("r")) {
                values(new String[] {"#each", "r"}, bound).forEach(inner -> expand(List.of(line), inner, lines));
            } else if (line.contains("$v") && !bound.containsKey("v")) {
                values(new String[] {"#each", "v"}, bound).forEach(inner -> expand(List.of(line), inner, lines));
            } else {
                lines.addAll(broken(substituted(line, bound)));
            }
        }
    }

    /** The line of the {@code #end} that belongs to the directive in line {@code start}. */
    private static int end(List<String> template, int start) {
        int depth = 0;
        for (int i = start; i < template.size(); i++) {
            depth += template.get(i).equals("#end") ? -1 : template.get(i).startsWith("#") ? 1 : 0;
            if (depth == 0) {
                return i;
            }
        }
        throw new IllegalStateException(template.get(start) + " has no #end");
    }

    /** The bindings with which a directive's lines are expanded, one after the other. */
    private static List<Map<String, String>> directive(String[] words, Map<String, String> bound) {
        if (words[0].equals("#each")) {
            return values(words, bound);
        }
        boolean applies = List.of(words).subList(2, words.length).contains(bound.get(words[1]));
        return applies ? List.of(bound) : List.of();
    }

    private static List<Map<String, String>> values(String[] words, Map<String, String> bound) {
        String[] names = words[1].split(",");
        int count = words[1].equals("v") ? VECTORS : Integer.parseInt(bound.getOrDefault("h", "0"));
        List<String> values = words.length > 2
                ? List.of(words).subList(2, words.length)
                : IntStream.range(0, count).mapToObj(String::valueOf).toList();
        return values.stream().map(value -> with(bound, names, value.split(","))).toList();
    }

    private static Map<String, String> with(Map<String, String> bound, String[] names, String[] values) {
        Map<String, String> inner = new HashMap<>(bound);
        for (int i = 0; i < names.length; i++) {
            inner.put(names[i], values[i]);
        }
        return inner;
    }

    private static String substituted(String line, Map<String, String> bound) {
        String text = line;
        for (Map.Entry<String, String> entry : bound.entrySet()) {
            text = text.replace("$" + entry.getKey(), entry.getValue());
        }
        return SUM.matcher(text).replaceAll(sum -> shortened(sum.group(1)));
    }

    private static String shortened(String sum) {
        List<String> terms = new ArrayList<>();
        long constant = 0;
        for (String term : sum.split(" \\+ ")) {
            long factor = 1;
            String suffix = "";
            List<String> names = new ArrayList<>();
            for (String name : term.split(" \\* ")) {
                if (NUMBER.matcher(name).matches()) {
                    factor *= Long.parseLong(name.replace("L", ""));
                    suffix = name.endsWith("L") ? "L" : suffix;
                } else {
                    names.add(name);
                }
            }
            if (names.isEmpty()) {
                constant += factor;
            } else if (factor != 0) {
                terms.add((factor == 1 ? "" : factor + suffix + " * ") + String.join(" * ", names));
            }
        }
        if (constant != 0 || terms.isEmpty()) {
            terms.add(String.valueOf(constant));
        }
        return String.join(" + ", terms);
    }

    /** A call that is longer than a line: its arguments on a line of their own, or on one each. */
    private static List<String> broken(String line) {
        if (line.length() <= LINE || line.contains("* ") && line.strip().matches("/?\\*+ .*")) {
            return List.of(line);
        }
        int open = line.indexOf('(') + 1;
        String indent = " ".repeat(line.length() - line.stripLeading().length() + 8);
        String arguments = indent + line.substring(open);
        return arguments.length() <= LINE
                ? List.of(line.substring(0, open), arguments)
                : List.of((line.substring(0, open) + "\n" + arguments.replace(", ", ",\n" + indent)).split("\n"));
    }

    private static final String TALL = """
            package io.roseinfer.backend.cpu.panama;

            import static io.roseinfer.backend.cpu.kernel.PackedMatrix.COLUMNS;
            import static io.roseinfer.backend.cpu.kernel.PackedMatrix.ROW_BYTES;

            import io.roseinfer.backend.cpu.kernel.WeightFormat;
            import java.lang.foreign.MemorySegment;
            import java.lang.invoke.MethodHandles;
            import java.nio.ByteOrder;
            import jdk.incubator.vector.FloatVector;
            import jdk.incubator.vector.IntVector;
            import jdk.incubator.vector.VectorOperators;
            import jdk.incubator.vector.VectorSpecies;

            /**
             * Tiles of eight rows, and of four. A copy of this class serves one weight format: narrow weights are widened in registers as
             * they are loaded.
             */
            final class TallTiles implements RegisterTiles {
                private static final VectorSpecies<Float> F = Specialization.species(MethodHandles.lookup());
                private static final VectorSpecies<Integer> I = F.withLanes(int.class);
                private static final WeightFormat FORMAT = Specialization.format(MethodHandles.lookup());
                private static final int PER_WORD = FORMAT.perWord();
                private static final ByteOrder ORDER = ByteOrder.nativeOrder();
                private static final int L = F.length();
                private static final int VECTOR_BYTES = 4 * L;
                private static final int READERS = Specialization.readers(MethodHandles.lookup());
                private static final int STREAMS = NextBlock.streams(PER_WORD);
                private static final long STRIDE = NextBlock.stride(READERS);

                /** Keeps what is read ahead from being compiled away. */
                @SuppressWarnings("UnusedVariable")
                private int touched;

                TallTiles(int contextLength) {}

                @Override
                public void add(
                        int height, MemorySegment w, long at, long next, float[] x, int from, int steps, float[] sums, int to) {
                    if (height == 8) {
                        touched += tile8(w, at, next, x, from, steps, sums, to);
                    } else {
                        touched += tile4(w, at, next, x, from, steps, sums, to);
                    }
                }

                /** Where {@link #raised} loads the words of input {@code k}: up to three bytes before they begin, on a little-endian machine. */
                private static long offset(int k) {
                    return (k / PER_WORD) * (long) ROW_BYTES - (PER_WORD - 1 - k % PER_WORD) * (4L / PER_WORD);
                }

                /** Weights whose bits the address {@code at} puts at the top of their lanes; below them are another input's. */
                private static FloatVector raised(MemorySegment w, long at) {
                    return FORMAT == WeightFormat.F32
                            ? FloatVector.fromMemorySegment(F, w, at, ORDER)
                            : top(IntVector.fromMemorySegment(I, w, at, ORDER));
                }

                private static FloatVector top(IntVector word) {
                    return FORMAT == WeightFormat.BF16
                            ? word.and(0xffff0000).reinterpretAsFloats()
                            : (FloatVector) word.and(0xff000000).convert(VectorOperators.I2F, 0);
                }

            #each h 8 4
                private static int tile$h(MemorySegment w, long at, long next, float[] x, int from, int steps, float[] sums, int to) {
                    FloatVector s$r$v = FloatVector.fromArray(F, sums, `to + $r * COLUMNS + $v * L`);
                    int touched = 0;
                    long apart = steps * STRIDE;
                    for (int k = 0; k < steps; k++) {
                        long row = at + offset(k);
                        if (READERS > 0) {
                            touched += NextBlock.read(w, next + k * STRIDE, apart, STREAMS);
                        }
                        FloatVector w$v = raised(w, `row + $vL * VECTOR_BYTES`);
            #each r
                        FloatVector x$r = FloatVector.broadcast(F, x[`from + $h * k + $r`]);
                        s$r$v = x$r.fma(w$v, s$r$v);
            #end
                    }
                    s$r$v.intoArray(sums, `to + $r * COLUMNS + $v * L`);
                    return touched;
                }
            #when h 8

            #end
            #end
            }
            """;

    private static final String LOW = """
            package io.roseinfer.backend.cpu.panama;

            import static io.roseinfer.backend.cpu.kernel.PackedMatrix.COLUMNS;
            import static io.roseinfer.backend.cpu.kernel.PackedMatrix.ROW_BYTES;

            import io.roseinfer.backend.cpu.kernel.WeightFormat;
            import java.lang.foreign.MemorySegment;
            import java.lang.invoke.MethodHandles;
            import java.nio.ByteOrder;
            import jdk.incubator.vector.FloatVector;
            import jdk.incubator.vector.IntVector;
            import jdk.incubator.vector.VectorOperators;
            import jdk.incubator.vector.VectorSpecies;

            /** Tiles of two rows, and of one, for one format of weights that share a word with one other or none. */
            final class LowTiles implements RegisterTiles {
                private static final VectorSpecies<Float> F = Specialization.species(MethodHandles.lookup());
                private static final VectorSpecies<Integer> I = F.withLanes(int.class);
                private static final WeightFormat FORMAT = Specialization.format(MethodHandles.lookup());
                private static final int PER_WORD = FORMAT.perWord();
                private static final long ROW_STEP = ROW_BYTES / PER_WORD;
                private static final ByteOrder ORDER = ByteOrder.nativeOrder();
                private static final int L = F.length();
                private static final int VECTOR_BYTES = 4 * L;
                private static final int READERS = Specialization.readers(MethodHandles.lookup());
                private static final int STREAMS = NextBlock.streams(1);
                private static final long STRIDE = NextBlock.stride(READERS) / PER_WORD;

                /** Keeps what is read ahead from being compiled away. */
                @SuppressWarnings("UnusedVariable")
                private int touched;

                private static final int TILE_COLUMNS = RegisterTiles.VECTORS * L;

                LowTiles(int contextLength) {}

                @Override
                public void add(
                        int height, MemorySegment w, long at, long next, float[] x, int from, int steps, float[] sums, int to) {
                    if (height == 2) {
                        touched += tile2(w, at, next, x, from, steps, sums, to);
                    } else {
                        touched += tile1(w, at, next, x, from, steps, sums, to);
                    }
                }

                private static FloatVector first(IntVector words) {
                    return FORMAT == WeightFormat.BF16
                            ? words.lanewise(VectorOperators.LSHL, 16).reinterpretAsFloats()
                            : words.reinterpretAsFloats();
                }

                private static FloatVector second(IntVector words) {
                    return words.and(0xffff0000).reinterpretAsFloats();
                }

            #each h 2 1
                private static int tile$h(MemorySegment w, long at, long next, float[] x, int from, int steps, float[] sums, int to) {
                    int touched = 0;
                    long apart = steps * STRIDE;
                    FloatVector s$r$v = FloatVector.fromArray(F, sums, `to + $r * COLUMNS + $v * L`);
                    int whole = steps - steps % PER_WORD;
                    for (int k = 0; k < whole; k += PER_WORD) {
                        long row = at + k * ROW_STEP;
                        if (READERS > 0) {
                            touched += NextBlock.read(w, next + k * STRIDE, apart, STREAMS);
                        }
                        IntVector w$v = IntVector.fromMemorySegment(I, w, `row + $vL * VECTOR_BYTES`, ORDER);
            #each r
                        FloatVector x$r = FloatVector.broadcast(F, x[`from + $h * k + $r`]);
            #when r 0
                        FloatVector v$v = first(w$v);
            #end
                        s$r$v = x$r.fma(v$v, s$r$v);
            #end
                        if (FORMAT == WeightFormat.BF16) {
            #each r
                            FloatVector x`$h + $r` = FloatVector.broadcast(F, x[`from + $h * k + $h + $r`]);
            #when r 0
                            FloatVector u$v = second(w$v);
            #end
                            s$r$v = x`$h + $r`.fma(u$v, s$r$v);
            #end
                        }
                    }
                    s$r$v.intoArray(sums, `to + $r * COLUMNS + $v * L`);
                    if (whole < steps) {
                        LastWord.add(FORMAT, w, at + whole * ROW_STEP, x, `from + $h * whole`, $h, steps - whole, TILE_COLUMNS, sums, to);
                    }
                    return touched;
                }
            #when h 2

            #end
            #end
            }
            """;

    private static final String BYTES = """
            package io.roseinfer.backend.cpu.panama;

            import static io.roseinfer.backend.cpu.kernel.PackedMatrix.COLUMNS;
            import static io.roseinfer.backend.cpu.kernel.PackedMatrix.ROW_BYTES;

            import io.roseinfer.backend.cpu.kernel.WeightFormat;
            import java.lang.foreign.MemorySegment;
            import java.lang.invoke.MethodHandles;
            import java.nio.ByteOrder;
            import jdk.incubator.vector.FloatVector;
            import jdk.incubator.vector.IntVector;
            import jdk.incubator.vector.VectorOperators;
            import jdk.incubator.vector.VectorSpecies;

            /**
             * Tiles of two rows, and of one, of INT8 weights. Under so few rows the work is in making floats of bytes. A byte, its sign
             * flipped, becomes part of a float's mantissa where its last bit is worth {@link WeightFormat#INT8_UNIT}: one ternary bit
             * operation. The float then exceeds the weight by a constant, and to subtract that is exact. The lower two bytes of a word need
             * no shift for this, and one shift serves both upper ones.
             *
             * <p>Beside a shift, a mask and a conversion per byte (2 threads, GPT-2's matrices, one row and two): 1.3 times as fast.
             *
             * <p>The loops are written out, without small methods: the compiler stops inlining those in a method this long, and then
             * allocates every vector.
             */
            final class LowByteTiles implements RegisterTiles {
                private static final VectorSpecies<Float> F = Specialization.species(MethodHandles.lookup());
                private static final VectorSpecies<Integer> I = F.withLanes(int.class);
                private static final ByteOrder ORDER = ByteOrder.nativeOrder();
                private static final int L = F.length();
                private static final int VECTOR_BYTES = 4 * L;
                private static final int READERS = Specialization.readers(MethodHandles.lookup());
                private static final int STREAMS = NextBlock.streams(1);
                private static final long STRIDE = NextBlock.stride(READERS);

                /** Keeps what is read ahead from being compiled away. */
                @SuppressWarnings("UnusedVariable")
                private int touched;

                private static final int TILE_COLUMNS = RegisterTiles.VECTORS * L;
                private static final int PER_WORD = WeightFormat.INT8.perWord();
                /** Zero where a mantissa's last bit is worth one unit, and 128 units. */
                private static final float EVEN_BIAS = ((1 << 23) + 128) * WeightFormat.INT8_UNIT;
                /** Zero where a mantissa's ninth bit from the end is worth one unit, and 128 units. */
                private static final float ODD_BIAS = ((1 << 15) + 128) * WeightFormat.INT8_UNIT;

                LowByteTiles(int contextLength) {}

                @Override
                public void add(
                        int height, MemorySegment w, long at, long next, float[] x, int from, int steps, float[] sums, int to) {
                    if (height == 2) {
                        touched += tile2(w, at, next, x, from, steps, sums, to);
                    } else {
                        touched += tile1(w, at, next, x, from, steps, sums, to);
                    }
                }

            #each h 2 1
                private static int tile$h(MemorySegment w, long at, long next, float[] x, int from, int steps, float[] sums, int to) {
                    IntVector even = IntVector.broadcast(I, 0xff);
                    IntVector odd = IntVector.broadcast(I, 0xff00);
                    FloatVector evenBias = FloatVector.broadcast(F, EVEN_BIAS);
                    FloatVector oddBias = FloatVector.broadcast(F, ODD_BIAS);
                    IntVector evenBits = evenBias.reinterpretAsInts();
                    IntVector oddBits = oddBias.reinterpretAsInts();
                    int touched = 0;
                    long apart = steps / PER_WORD * STRIDE;
                    FloatVector s$r$v = FloatVector.fromArray(F, sums, `to + $r * COLUMNS + $v * L`);
                    int words = steps / PER_WORD;
                    for (int i = 0; i < words; i++) {
                        long row = at + i * (long) ROW_BYTES;
                        if (READERS > 0) {
                            touched += NextBlock.read(w, next + i * STRIDE, apart, STREAMS);
                        }
                        IntVector a$v = IntVector.fromMemorySegment(I, w, `row + $vL * VECTOR_BYTES`, ORDER);
            #each p,a,m 0,a,even 1,a,odd 2,b,even 3,b,odd
            #when p 2
                        IntVector b$v = a$v.lanewise(VectorOperators.LSHR, 16);
            #end
            #each r
                        FloatVector x`$p * $h + $r` = FloatVector.broadcast(F, x[`from + 4 * $h * i + $p * $h + $r`]);
            #when h 1
            #each v
                        s0$v = x$p.fma(
                                $a$v.and($m)
                                        .lanewise(VectorOperators.XOR, $mBits)
                                        .reinterpretAsFloats()
                                        .sub($mBias),
                                s0$v);
            #end
            #end
            #when h 2
            #when r 0
            #each v
                        FloatVector w$p$v = $a$v.and($m)
                                .lanewise(VectorOperators.XOR, $mBits)
                                .reinterpretAsFloats()
                                .sub($mBias);
            #end
            #end
                        s$r$v = x`$p * $h + $r`.fma(w$p$v, s$r$v);
            #end
            #end
            #end
                    }
                    s$r$v.intoArray(sums, `to + $r * COLUMNS + $v * L`);
                    int done = words * PER_WORD;
                    if (done < steps) {
                        LastWord.add(WeightFormat.INT8, w, at + words * (long) ROW_BYTES, x, `from + $h * done`, $h, steps - done, TILE_COLUMNS, sums, to);
                    }
                    return touched;
                }
            #when h 2

            #end
            #end
            }
            """;

    private static final String TALL_INT4 = """
            package io.roseinfer.backend.cpu.panama;

            import static io.roseinfer.backend.cpu.kernel.PackedMatrix.COLUMNS;
            import static io.roseinfer.backend.cpu.kernel.PackedMatrix.ROW_BYTES;

            import io.roseinfer.backend.cpu.kernel.PackedMatrix;
            import io.roseinfer.backend.cpu.kernel.QuantizedRows;
            import java.lang.foreign.MemorySegment;
            import java.lang.invoke.MethodHandles;
            import java.nio.ByteOrder;
            import jdk.incubator.vector.FloatVector;
            import jdk.incubator.vector.IntVector;
            import jdk.incubator.vector.ShortVector;
            import jdk.incubator.vector.VectorOperators;
            import jdk.incubator.vector.VectorSpecies;

            /**
             * Tiles of eight rows, and of four, of INT4 weights. A vector is 32-bit words, each a pair of 16-bit lanes that belong to one
             * output: a step takes two inputs of every word, by one multiplication and one addition. What a group of
             * inputs comes to is then scaled and added to the sums in memory, which stay in the first-level cache.
             *
             * <p>A round of the loop is one step, so it shifts by a vector; to write out the four steps of a word shifts by constants, but
             * the compiler then brings loads and products forward until it must spill them: 78 against 125 GFLOP/s of one thread at eight
             * rows (768×2304, Xeon, Emerald Rapids).
             */
            final class TallInt4Tiles implements Int4Tiles {
                private static final VectorSpecies<Float> F = Specialization.species(MethodHandles.lookup());
                private static final VectorSpecies<Integer> I = F.withLanes(int.class);
                private static final ByteOrder ORDER = ByteOrder.nativeOrder();
                private static final int L = F.length();
                private static final int VECTOR_BYTES = 4 * L;
                /** By how many bits a group's words are shifted in its steps. */
                private static final int[] SHIFTS = {0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12};

                /** What the group at hand came to, a pair of 16-bit sums per word. */
                private final int[] pairs = new int[8 * COLUMNS];

                TallInt4Tiles(int contextLength) {}

                @Override
                public void add(int height, MemorySegment w, long at, int[] x, int from, int groups, float[] sums, int to) {
                    for (int group = 0; group < groups; group++) {
                        int words = from + group * QuantizedRows.GROUP_WORDS * height;
                        long row = at + PackedMatrix.int4Weights(group);
                        if (height == 8) {
                            group8(w, row, x, words, pairs);
                        } else {
                            group4(w, row, x, words, pairs);
                        }
                        long scales = at + PackedMatrix.int4Scales(group) - 2L + 2L * (group % 2);
                        scale(w, scales, x, words + QuantizedRows.SCALE * height, height, pairs, sums, to);
                    }
                }

                /**
                 * Adds a group's sums, scaled. The address {@code at} puts the group's scales at the top of their lanes, two bytes before the
                 * words begin if the group is the first of two, on a little-endian machine.
                 */
                private static void scale(
                        MemorySegment w, long at, int[] x, int from, int height, int[] pairs, float[] sums, int to) {
            #each v
            #when v 0
                    FloatVector g0 =
                            IntVector.fromMemorySegment(I, w, at, ORDER).and(0xffff0000).reinterpretAsFloats();
            #end
            #when v 1 2
                    FloatVector g$v = IntVector.fromMemorySegment(I, w, `at + $vL * VECTOR_BYTES`, ORDER)
                            .and(0xffff0000)
                            .reinterpretAsFloats();
            #end
            #end
                    for (int r = 0; r < height; r++) {
                        int pair = r * COLUMNS;
                        int sum = to + r * COLUMNS;
                        FloatVector a = IntVector.broadcast(I, x[from + r]).reinterpretAsFloats();
                        IntVector v$v = IntVector.fromArray(I, pairs, `pair + $v * L`);
            #each v
                        FloatVector f$v = (FloatVector) v$v.lanewise(VectorOperators.LSHL, 16)
                                .add(v$v)
                                .lanewise(VectorOperators.ASHR, 16)
                                .convert(VectorOperators.I2F, 0);
                        f$v.fma(a.mul(g$v), FloatVector.fromArray(F, sums, `sum + $v * L`)).intoArray(sums, `sum + $v * L`);
            #end
                    }
                }

            #each h 8 4
                private static void group$h(MemorySegment w, long at, int[] x, int from, int[] v) {
            #each r
                    ShortVector s$r0 = IntVector.broadcast(I, x[`from + 16 * $h + $r`]).reinterpretAsShorts();
                    ShortVector s$r1 = s$r0;
                    ShortVector s$r2 = s$r0;
            #end
                    for (int i = 0; i < QuantizedRows.PAIRS; i++) {
                        IntVector shift = IntVector.broadcast(I, SHIFTS[i]);
                        long row = at + i / 4 * (long) ROW_BYTES;
            #each v
                        ShortVector w$v = IntVector.fromMemorySegment(I, w, `row + $vL * VECTOR_BYTES`, ORDER)
                                .lanewise(VectorOperators.LSHR, shift)
                                .reinterpretAsShorts();
            #end
            #each r
                        ShortVector x$r = IntVector.broadcast(I, x[`from + $h * i + $r`]).reinterpretAsShorts();
                        s$r$v = x$r.mul(w$v).add(s$r$v);
            #end
                    }
                    s$r$v.reinterpretAsInts().intoArray(v, `$r * COLUMNS + $v * L`);
                }
            #when h 8

            #end
            #end
            }
            """;

    private static final String LOW_INT4 = """
            package io.roseinfer.backend.cpu.panama;

            import static io.roseinfer.backend.cpu.kernel.PackedMatrix.COLUMNS;
            import static io.roseinfer.backend.cpu.kernel.PackedMatrix.ROW_BYTES;

            import io.roseinfer.backend.cpu.kernel.PackedMatrix;
            import java.lang.foreign.MemorySegment;
            import java.lang.invoke.MethodHandles;
            import java.nio.ByteOrder;
            import jdk.incubator.vector.FloatVector;
            import jdk.incubator.vector.IntVector;
            import jdk.incubator.vector.ShortVector;
            import jdk.incubator.vector.VectorOperators;
            import jdk.incubator.vector.VectorSpecies;

            /**
             * Tiles of two rows, and of one, of INT4 weights; see {@link TallInt4Tiles}. Under so few rows there are registers for the four
             * steps of a word and for the scaled sums.
             *
             * <p>What a group comes to begins at zero, and its offset is added last, as the receiver: the sums come round a loop, and of those
             * the compiler may not know the class.
             */
            final class LowInt4Tiles implements Int4Tiles {
                private static final VectorSpecies<Float> F = Specialization.species(MethodHandles.lookup());
                private static final VectorSpecies<Integer> I = F.withLanes(int.class);
                private static final VectorSpecies<Short> S = F.withLanes(short.class);
                private static final ByteOrder ORDER = ByteOrder.nativeOrder();
                private static final int L = F.length();
                private static final int VECTOR_BYTES = 4 * L;

                LowInt4Tiles(int contextLength) {}

                @Override
                public void add(int height, MemorySegment w, long at, int[] x, int from, int groups, float[] sums, int to) {
                    if (height == 2) {
                        tile2(w, at, x, from, groups, sums, to);
                    } else {
                        tile1(w, at, x, from, groups, sums, to);
                    }
                }

            #each h 2 1
                private static void tile$h(MemorySegment w, long at, int[] x, int from, int groups, float[] sums, int to) {
                    FloatVector t$r$v = FloatVector.fromArray(F, sums, `to + $r * COLUMNS + $v * L`);
                    for (int group = 0; group < groups; group++) {
                        int words = from + group * `18 * $h`;
                        long row = at + PackedMatrix.int4Weights(group);
                        ShortVector s$r$v = ShortVector.zero(S);
                        for (int i = 0; i < 4; i++) {
                            int pair = words + `4 * $h` * i;
                            long word = row + i * (long) ROW_BYTES;
                            IntVector w$v = IntVector.fromMemorySegment(I, w, `word + $vL * VECTOR_BYTES`, ORDER);
            #each p 0 1 2 3
            #when p 0
                            ShortVector u0$v = w$v.reinterpretAsShorts();
            #end
            #when p 1 2 3
                            ShortVector u$p$v = w$v.lanewise(VectorOperators.LSHR, `4 * $p`).reinterpretAsShorts();
            #end
            #each r
                            ShortVector x$p$r = IntVector.broadcast(I, x[`pair + $p * $h + $r`]).reinterpretAsShorts();
                            s$r$v = x$p$r.mul(u$p$v).add(s$r$v);
            #end
            #end
                        }
                        long scales = at + PackedMatrix.int4Scales(group) - 2L + 2L * (group % 2);
            #each v
                        FloatVector g$v = IntVector.fromMemorySegment(I, w, `scales + $vL * VECTOR_BYTES`, ORDER)
                                .and(0xffff0000)
                                .reinterpretAsFloats();
            #end
            #each r
                        ShortVector b$r = IntVector.broadcast(I, x[`words + 16 * $h + $r`]).reinterpretAsShorts();
                        FloatVector a$r = IntVector.broadcast(I, x[`words + 17 * $h + $r`]).reinterpretAsFloats();
            #each v
                        IntVector v$r$v = b$r.add(s$r$v).reinterpretAsInts();
                        FloatVector f$r$v = (FloatVector) v$r$v.lanewise(VectorOperators.LSHL, 16)
                                .add(v$r$v)
                                .lanewise(VectorOperators.ASHR, 16)
                                .convert(VectorOperators.I2F, 0);
                        t$r$v = f$r$v.fma(a$r.mul(g$v), t$r$v);
            #end
            #end
                    }
                    t$r$v.intoArray(sums, `to + $r * COLUMNS + $v * L`);
                }
            #when h 2

            #end
            #end
            }
            """;
}

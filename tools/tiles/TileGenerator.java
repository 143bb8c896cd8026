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
 * Generates the register tiles of the CPU kernels; the build runs it. A tile's sums are local variables, one per row and vector of
 * outputs, because C2 keeps those in registers, and only text can repeat local variables. {@link TileTemplates} is Java with
 *
 * <ul>
 *   <li>a margin up to a bar: the variables over whose values a line is repeated, together with adjacent lines that share them;
 *       capitals are the same variables, and begin another repetition
 *   <li>{@code $h}, {@code $r}, {@code $v} and so on, the variables' values: see {@link #values}
 *   <li>sums between backquotes, which are shortened: {@code 1 * k} is {@code k}, and what is zero is left out
 *   <li>{@code #imports} and {@code #constants}: those that the class uses
 * </ul>
 *
 * <p>So in a tile of two rows ({@code r}), whose outputs are three vectors ({@code v}), the template
 *
 * <pre>
 * r     |        float x$r = x[`from + $r * stride`];
 * Rv    |        s$r$v = w$v.fma(F.broadcast(x$r), s$r$v);
 * </pre>
 *
 * becomes
 *
 * <pre>
 *         float x0 = x[from];
 *         float x1 = x[from + stride];
 *         s00 = w0.fma(F.broadcast(x0), s00);
 *         s01 = w1.fma(F.broadcast(x0), s01);
 *         s02 = w2.fma(F.broadcast(x0), s02);
 *         s10 = w0.fma(F.broadcast(x1), s10);
 *         s11 = w1.fma(F.broadcast(x1), s11);
 *         s12 = w2.fma(F.broadcast(x1), s12);
 * </pre>
 *
 * and with {@code rv} in place of {@code Rv}, one repetition of both lines, each row's input would stand before its sums.
 */
final class TileGenerator {
    private static final Pattern SUM = Pattern.compile("`([^`]*)`");
    private static final Pattern NUMBER = Pattern.compile("[0-9]+L?");

    /** The classes that templates may name, in the order of imports. */
    private static final String IMPORTS = """
            io.roseinfer.backend.cpu.kernel.Bf16Weights
            io.roseinfer.backend.cpu.kernel.Fp32Weights
            io.roseinfer.backend.cpu.kernel.Int4Weights
            io.roseinfer.backend.cpu.kernel.Int8Weights
            io.roseinfer.backend.cpu.kernel.QuantizedRows
            io.roseinfer.backend.cpu.kernel.WeightFormat
            java.lang.foreign.MemorySegment
            java.lang.invoke.MethodHandles
            java.nio.ByteOrder
            jdk.incubator.vector.FloatVector
            jdk.incubator.vector.IntVector
            jdk.incubator.vector.ShortVector
            jdk.incubator.vector.VectorOperators
            jdk.incubator.vector.VectorSpecies
            """;

    private TileGenerator() {}

    /** Writes the tiles to the folder that is the only argument. */
    public static void main(String[] args) throws IOException {
        Path folder = Path.of(args[0]);
        for (Map.Entry<String, String> file : files().entrySet()) {
            Files.writeString(folder.resolve(file.getKey()), file.getValue());
        }
    }

    /** Returns the text of every generated file, by name. */
    static Map<String, String> files() {
        return Map.of(
                "GemmTiles.java", file(TileTemplates.GEMM, 8),
                "GemvTiles.java", file(TileTemplates.GEMV, 2),
                "GemvInt8Tiles.java", file(TileTemplates.GEMV_INT8, 2),
                "GemmInt4Tiles.java", file(TileTemplates.GEMM_INT4, 8),
                "GemvInt4Tiles.java", file(TileTemplates.GEMV_INT4, 2));
    }

    /** Returns the class of a template with tiles of {@code tallest} rows and half as many. */
    private static String file(String template, int tallest) {
        List<String> lines = new ArrayList<>();
        expand((TileTemplates.HEAD + template).lines().toList(), 0, Map.of('t', tallest, 'l', tallest / 2), lines);
        String text = lines.stream().map(line -> line + "\n").collect(Collectors.joining());
        for (String constant : TileTemplates.CONSTANTS.lines().toList().reversed()) {
            String name = constant.replaceAll(".* (\\w+) = .*", "$1");
            text = declared(text, "#constants\n", name, "    private static final " + constant);
        }
        for (String name : IMPORTS.lines().toList().reversed()) {
            text = declared(text, "#imports\n", name.replaceAll(".*\\.", ""), "import " + name);
        }
        return text.replaceAll("(?m)^#.*\n", "");
    }

    /** Returns the text with a declaration inserted after a mark, if it uses the declared name. */
    private static String declared(String text, String mark, String name, String declaration) {
        boolean used =
                Pattern.compile("(?<!\\.)\\b" + name + "\\b").matcher(text).find();
        return used ? text.replace(mark, mark + declaration + ";\n") : text;
    }

    private static void expand(List<String> template, int depth, Map<Character, Integer> bound, List<String> lines) {
        int end;
        for (int i = 0; i < template.size(); i = end) {
            char variable = template.get(i).charAt(depth);
            end = i + 1;
            if (variable == ' ' || variable == '|') {
                lines.add(substituted(template.get(i).replaceFirst("[^|]*\\|", ""), bound));
                continue;
            }
            while (end < template.size() && template.get(end).charAt(depth) == variable) {
                end++;
            }
            char name = Character.toLowerCase(variable);
            for (int value : values(name, bound)) {
                Map<Character, Integer> inner = new HashMap<>(bound);
                inner.put(name, value);
                expand(template.subList(i, end), depth + 1, inner, lines);
            }
        }
    }

    private static List<Integer> values(char variable, Map<Character, Integer> bound) {
        return switch (variable) {
            // The height of a tile, of the taller and the lower ones of its class.
            case 'h' -> List.of(bound.getOrDefault('t', 0), bound.getOrDefault('l', 0));
            // A row of the tile.
            case 'r' -> IntStream.range(0, bound.getOrDefault('h', 0)).boxed().toList();
            // A vector of outputs.
            case 'v' -> List.of(0, 1, 2);
            // A nibble of the lower half of a word.
            case 'n' -> List.of(0, 1, 2, 3);
            // The lower or upper half of a word; the even or odd byte of a half.
            case 'u', 'o' -> List.of(0, 1);
            default -> throw new IllegalArgumentException("no variable " + variable);
        };
    }

    private static String substituted(String line, Map<Character, Integer> bound) {
        String text = line;
        for (Map.Entry<Character, Integer> entry : bound.entrySet()) {
            text = text.replace("$" + entry.getKey(), entry.getValue().toString());
        }
        return SUM.matcher(text)
                .replaceAll(sum -> shortened(sum.group(1)))
                .replace(".lanewise(VectorOperators.LSHR, 0)", "");
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
}

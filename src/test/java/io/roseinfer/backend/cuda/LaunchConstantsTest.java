package io.roseinfer.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.model.Activation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Launch constants that the kernels' sources and Java both have, compared without a GPU and without nvcc: the test evaluates the
 * sources' {@code constexpr} expressions. With less shared memory than its ring a kernel would write past its end.
 */
class LaunchConstantsTest {
    private static final Path KERNELS = Path.of("kernels");

    /** The integer constants of a source file, given the arguments of its templates. */
    private static final class Constants {
        private static final Pattern CONSTANT = Pattern.compile("constexpr int (\\w+) = ([^;]+);");
        private static final Pattern TOKEN =
                Pattern.compile("\\s*(\\d+|[A-Za-z_][\\w:]*|\\|\\||&&|[=<>!]=|[-+*/%<>?:()])");

        private final Map<String, String> expressions = new HashMap<>();
        private final Map<String, Integer> values = new HashMap<>();

        Constants(String source, Map<String, Integer> arguments) {
            CONSTANT.matcher(source).results().forEach(each -> expressions.putIfAbsent(each.group(1), each.group(2)));
            values.putAll(arguments);
        }

        int get(String name) {
            Integer known = values.get(name);
            if (known == null) {
                String text = expressions.getOrDefault(name, "");
                assertThat(text).as("value of %s", name).isNotEmpty();
                known = new Expression(text).value();
                values.put(name, known);
            }
            return known;
        }

        /** An expression of integers, by recursive descent; conditions are 1 and 0. */
        private final class Expression {
            private final List<String> tokens = new ArrayList<>();
            private int at;

            Expression(String text) {
                Matcher token = TOKEN.matcher(text);
                int end = 0;
                while (token.find() && token.start() == end) {
                    tokens.add(token.group(1));
                    end = token.end();
                }
                assertThat(text.substring(end)).as("rest of %s", text).isBlank();
                tokens.add("");
            }

            int value() {
                int value = choice();
                assertThat(tokens.get(at)).isEmpty();
                return value;
            }

            private boolean skip(String token) {
                boolean found = tokens.get(at).equals(token);
                at += found ? 1 : 0;
                return found;
            }

            private int choice() {
                int condition = either();
                if (!skip("?")) {
                    return condition;
                }
                int first = choice();
                assertThat(skip(":")).isTrue();
                int second = choice();
                return condition != 0 ? first : second;
            }

            private int either() {
                int value = both();
                while (skip("||")) {
                    value |= both();
                }
                return value;
            }

            private int both() {
                int value = comparison();
                while (skip("&&")) {
                    value &= comparison();
                }
                return value;
            }

            private int comparison() {
                int value = sum();
                if (skip("==")) {
                    return value == sum() ? 1 : 0;
                }
                if (skip("<")) {
                    return value < sum() ? 1 : 0;
                }
                return value;
            }

            private int sum() {
                int value = product();
                while (true) {
                    if (skip("+")) {
                        value += product();
                    } else if (skip("-")) {
                        value -= product();
                    } else {
                        return value;
                    }
                }
            }

            private int product() {
                int value = operand();
                while (true) {
                    if (skip("*")) {
                        value *= operand();
                    } else if (skip("/")) {
                        value /= operand();
                    } else {
                        return value;
                    }
                }
            }

            private int operand() {
                if (skip("(")) {
                    int value = choice();
                    assertThat(skip(")")).isTrue();
                    return value;
                }
                String token = tokens.get(at++);
                return Character.isDigit(token.charAt(0)) ? Integer.parseInt(token) : get(token);
            }
        }
    }

    private static String source(String file) throws IOException {
        return Files.readString(KERNELS.resolve(file));
    }

    private static List<MatchResult> matches(String pattern, String text) {
        List<MatchResult> all = Pattern.compile(pattern).matcher(text).results().toList();
        assertThat(all).as(pattern).isNotEmpty();
        return all;
    }

    private static int number(MatchResult match, int group) {
        return Integer.parseInt(match.group(group));
    }

    @Test
    void wgmma_prefill_has_the_kernels_shared_memory_and_threads() throws IOException {
        String source = source("attention_prefill_wgmma.cu");
        List<String> kernels = new ArrayList<>();
        for (MatchResult entry : matches("ATTEND\\(T, (\\d+), (\\d+), (\\d+), (\\d+), (\\d+)\\)", source)) {
            int head = number(entry, 1);
            int warpgroups = number(entry, 4);
            Map<String, Integer> arguments = Map.of(
                    "HEAD", head, "KEYS", number(entry, 2), "STAGES", number(entry, 3), "WARPGROUPS", warpgroups);
            WgmmaPrefill launch = new WgmmaPrefill(head, 8, 8);
            kernels.add(launch.kernel(warpgroups));
            assertThat(launch.sharedBytes(warpgroups))
                    .as("shared memory of %s", launch.kernel(warpgroups))
                    .isEqualTo(new Constants(source, arguments).get("SHARED"));
            assertThat(source).contains("__launch_bounds__(128 * (WARPGROUPS + 1), BLOCKS)");
            assertThat(launch.threads(warpgroups)).isEqualTo(128 * (warpgroups + 1));
            assertThat(launch.blocks(warpgroups, 1 << 16, 1, 132))
                    .as("blocks that an SM has of %s", launch.kernel(warpgroups))
                    .isEqualTo(132 * number(entry, 5));
        }
        for (int head : new int[] {64, 128}) {
            WgmmaPrefill launch = new WgmmaPrefill(head, 8, 8);
            for (int tokens = 1; tokens < 1 << 16; tokens *= 2) {
                assertThat(kernels).contains(launch.kernel(launch.warpgroups(tokens, 1, 132)));
            }
        }
    }

    @Test
    void prompt_tiles_have_the_kernels_shape_and_shared_memory() throws IOException {
        String base = source("include/gemm_prompt.cuh");
        String entries = source("include/gemm_prompt_entries.cuh");
        List<PromptTile> tiles = PromptTile.load();
        List<String> compiled = new ArrayList<>();
        for (MatchResult entry :
                matches("PROMPT_GEMMS\\(T, NAME, (\\w+), \\w+<T, (\\d+), (\\d+), (\\d+)(?:, (\\d+))?>\\)", entries)) {
            compiled.add(entry.group(1));
            PromptTile tile = tiles.stream()
                    .filter(each -> each.name().equals(entry.group(1)))
                    .findFirst()
                    .orElseThrow();
            assertThat(List.of(tile.columns(), tile.stages(), tile.split(), tile.pair()))
                    .as("columns, stages, split and pair of %s", tile.name())
                    .containsExactly(
                            number(entry, 2),
                            number(entry, 3),
                            number(entry, 4),
                            entry.group(5) == null ? 1 : number(entry, 5));
            Map<String, Integer> arguments =
                    Map.of("N", tile.columns(), "STAGES", tile.stages(), "PANEL_BYTES", panelBytes());
            int accumulators = PromptTile.ROWS * tile.columns() / 2 * Float.BYTES; // half of a tile's, for the peer
            assertThat(tile.sharedBytes())
                    .as("shared memory of %s", tile.name())
                    .isEqualTo(new Constants(base, arguments).get("RING_BYTES")
                            + (tile.split() > 1 ? accumulators : 0)
                            + 1024);
        }
        assertThat(tiles).extracting(PromptTile::name).containsExactlyInAnyOrderElementsOf(compiled);
        Constants constants = new Constants(base, Map.of());
        assertThat(PromptTile.ROWS).isEqualTo(constants.get("PROMPT_ROWS"));
        assertThat(PromptTile.THREADS).isEqualTo(constants.get("PROMPT_THREADS"));
    }

    @Test
    void tiles_with_whole_heads_have_kernels_with_qk_norm() throws IOException {
        assertThat(matches("PROMPT_QKV_NORM_ROPE\\(T, T, NAME, (\\w+), ", source("include/gemm_prompt_entries.cuh")))
                .extracting(entry -> entry.group(1))
                .containsAll(PromptTile.load().stream()
                        .filter(PromptTile::wholeHeads)
                        .map(PromptTile::name)
                        .toList());
    }

    private static int panelBytes() throws IOException {
        return new Constants(source("include/panel.cuh"), Map.of()).get("PANEL_BYTES");
    }

    @Test
    void gqa_attention_has_the_kernels_shared_memory() throws IOException {
        String decode = source("attention_decode_gqa.cu");
        Constants prefill = new Constants(source("attention_prefill.cu"), Map.of());
        for (int head : new int[] {64, 128}) {
            for (int elementBytes : new int[] {1, 2}) {
                GqaAttention attention = new GqaAttention(head, elementBytes);
                int rowBytes = head * elementBytes;
                Constants ring = new Constants(decode, Map.of("HEAD", head, "Row::BYTES", rowBytes));
                assertThat(attention.stages(1, 8, 132)).isEqualTo(ring.get("STAGES"));
                int stages = attention.stages(1 << 16, 8, 132);
                assertThat(attention.sharedBytes(1 << 16, 8, 132))
                        .as("shared memory of decode rows, heads of %d, %d bytes", head, elementBytes)
                        .isEqualTo(ring.get("WARPS") * stages * ring.get("STAGE_BYTES") + ring.get("RECEIVED_BYTES"));
                assertThat(attention.prefillSharedBytes())
                        .as("shared memory of prompts, heads of %d, %d bytes", head, elementBytes)
                        .isEqualTo(2 * prefill.get("STAGES") * prefill.get("TILE") * rowBytes + 256);
            }
        }
    }

    @Test
    void activations_have_the_kernels_numbers() throws IOException {
        Map<Activation, Integer> numbers = new EnumMap<>(Activation.class);
        for (MatchResult constant : matches("(\\w+) = (\\d+)[,} ]", source("contract/activations.h"))) {
            numbers.put(Activation.valueOf(constant.group(1)), number(constant, 2));
        }
        assertThat(Stream.of(Activation.values()))
                .allSatisfy(activation -> assertThat(ForwardPass.number(activation))
                        .as("%s", activation)
                        .isEqualTo(numbers.get(activation)));
        assertThat(numbers.values()).doesNotHaveDuplicates();
    }
}

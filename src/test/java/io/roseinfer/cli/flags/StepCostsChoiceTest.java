package io.roseinfer.cli.flags;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.RoseException;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.bench.replay.CostModel;
import io.roseinfer.bench.replay.ShippedCosts;
import io.roseinfer.bench.replay.StepCosts;
import io.roseinfer.bench.replay.StepShape;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.SpecBuilder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class StepCostsChoiceTest {
    private static final ModelSpec MODEL = SpecBuilder.named("sim").build();
    private static final StepShape DECODE = new StepShape(4, 4, 0, 100, 25);

    @TempDir
    private Path directory = Path.of("");

    /** A constant cost in nanoseconds. */
    public static final class Constant implements CostModel {
        private final double nanos;

        public Constant(String nanos) {
            this.nanos = Double.parseDouble(nanos);
        }

        @Override
        public double nanos(StepShape shape) {
            return nanos;
        }
    }

    /** Costs that fail. */
    public static final class Failing implements CostModel {
        @Override
        public double nanos(StepShape shape) {
            throw new IllegalStateException("no data");
        }
    }

    private static StepCosts costs(String text) {
        return StepCostsChoice.of("--step-costs", text).costs().apply(MODEL);
    }

    private static double nanos(String text) {
        return costs(text).times().costs().nanos(DECODE);
    }

    @Test
    void linear_costs_are_a_sum() {
        assertThat(nanos("token:0.5,step:2,attended:0.01")).isEqualTo(2e6 + 4 * 5e5 + 100 * 1e4);
    }

    @Test
    void class_and_source_file_are_cost_models() throws IOException {
        assertThat(nanos(Constant.class.getName() + ":7")).isEqualTo(7);
        Path source = directory.resolve("Squares.java");
        Files.writeString(source, """
                import io.roseinfer.bench.replay.*;

                public final class Squares implements CostModel {
                    @Override
                    public double nanos(StepShape shape) {
                        return 1000.0 * shape.rows() * shape.rows();
                    }
                }
                """);
        assertThat(nanos(source.toString())).isEqualTo(16_000);
        assertThat(costs(source.toString()).source()).isEqualTo("step costs " + source);
    }

    @Test
    void built_in_name_precedes_a_file() {
        assertThat(costs(ShippedCosts.names().getFirst()).source()).startsWith("costs: NVIDIA");
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0.0 ns",
        "-1, -1.0 ns",
        "NaN, NaN ns",
        "Infinity, Infinity ns",
        "1e18, 1.0E18 ns",
        "1.1e13, 1.1E13 ns"
    })
    void duration_that_is_not_positive_or_is_too_long_is_rejected(String value, String shown) {
        String text = Constant.class.getName() + ":" + value;
        assertThatThrownBy(() -> nanos(text))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining(text + " returned " + shown + " for StepShape[rows=4")
                .hasMessageEndingWith("; it must be positive and at most 1e13, which is 10,000 s");
    }

    @Test
    void failure_names_flag_and_step() {
        assertThatThrownBy(() -> nanos(Failing.class.getName()))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("--step-costs " + Failing.class.getName() + " failed at StepShape[rows=4")
                .hasMessageContaining("no data");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "step:x",
                "step:1,rows:2",
                "step",
                "roofline:h1000",
                "missing.json",
                "a.b.Missing",
                "step:-1",
                "step:1e305",
                "step:1,step:2"
            })
    void invalid_value_is_rejected_by_name(String text) {
        assertThatThrownBy(() -> costs(text))
                .isInstanceOf(RoseException.class)
                .hasMessageContaining(text.replaceFirst(".*[:,]", ""));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "'' | is ",
                "',' | has ",
                "tokens:1 | is tokens:1",
                "H100-GPT2 | is H100-GPT2",
                "missing.json, | has missing.json"
            })
    void name_that_is_no_file_is_rejected_with_what_is_allowed(String text, String problem) {
        assertThatThrownBy(() -> costs(text))
                .isInstanceOf(BadInput.class)
                .hasMessageStartingWith("--step-costs " + problem)
                .hasMessageContaining(
                        ": no such file; it must be a result file (or several, separated by commas), step:MS")
                .hasMessageContaining("h100-gpt2");
    }

    @ParameterizedTest
    @CsvSource({"h100-llama-3.1-70b, h100-llama-3.1-8b", "h100-gpt3, h100-gpt2", "a100-qwen3-0.6b, h100-qwen3-0.6b"})
    void misspelled_name_is_rejected_with_the_nearest(String text, String nearest) {
        assertThatThrownBy(() -> costs(text))
                .isInstanceOf(BadInput.class)
                .hasMessageStartingWith("--step-costs is " + text + ": no such file;")
                .hasMessageContaining("; did you mean " + nearest);
    }

    @Test
    void file_may_have_commas_in_its_name() throws IOException {
        Path file = directory.resolve("a,b.json");
        Files.copy(Path.of("src/test/resources/results/serve-simulated.json"), file);
        assertThat(costs(file.toString()).source())
                .endsWith("a,b.json (8 requests, 1970-01-01, commit abc), recorded with a 'model' <b>");
    }

    @Test
    void message_for_a_class_that_is_missing_has_no_gap() {
        assertThatThrownBy(() -> costs("a.b.Missing")).hasMessageContaining("it must be FILE.java, or a public class");
    }
}

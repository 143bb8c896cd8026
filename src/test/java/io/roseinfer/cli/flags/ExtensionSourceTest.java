package io.roseinfer.cli.flags;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.backend.sim.SimRunner;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.cli.terminal.Machine;
import io.roseinfer.engine.Engine;
import io.roseinfer.engine.EngineLimits;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.family.Families;
import io.roseinfer.observe.Observers;
import io.roseinfer.observe.RequestObserver;
import io.roseinfer.scheduler.SchedulerOptions;
import io.roseinfer.scheduler.policy.AdmissionPolicy;
import io.roseinfer.scheduler.policy.QueueView;
import io.roseinfer.scheduler.policy.StepBuilder;
import io.roseinfer.scheduler.policy.StepPolicy;
import io.roseinfer.scheduler.policy.WaitingRequest;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of flags whose value is a source file, such as policies. */
class ExtensionSourceTest {
    private static final String POLICY = """
            import io.roseinfer.scheduler.policy.*;

            public record Look(int lookahead) implements AdmissionPolicy {
                public Look() {
                    this(%d);
                }

                public Look(String lookahead) {
                    this(Integer.parseInt(lookahead));
                }

                @Override
                public long rank(WaitingRequest request, QueueView queue) {
                    return 0;
                }
            }
            """;

    @TempDir
    private Path folder;

    private static AdmissionPolicy make(String value) {
        return ExtensionChoice.of("--policy", AdmissionPolicy.class)
                .or("fifo", AdmissionPolicy::fifo)
                .make(value);
    }

    private String file(String text) throws IOException {
        return Files.writeString(folder.resolve("Look.java"), text).toString();
    }

    @Test
    void source_file_declares_its_policy() throws IOException {
        assertThat(make(file(POLICY.formatted(12))).lookahead()).isEqualTo(12);
    }

    private static Map<String, String> hashes(AdmissionPolicy policy) {
        return Machine.policies(
                SchedulerOptions.builder().admission(policy).build().policies());
    }

    @Test
    void results_have_the_hash_of_a_policy_that_is_not_built_in() throws IOException {
        assertThat(hashes(make("fifo"))).isEmpty();
        Map<String, String> hash = hashes(make(file(POLICY.formatted(12))));
        assertThat(hash).containsOnlyKeys("Look");
        assertThat(hash.get("Look")).matches("[0-9a-f]{64}");
        String other = Files.writeString(
                        folder.resolve("Other.java"), POLICY.formatted(13).replace("Look", "Other"))
                .toString();
        assertThat(hashes(make(other)).get("Other")).isNotEqualTo(hash.get("Look"));
    }

    /** Maven compiles with the first options. */
    @ParameterizedTest
    @ValueSource(strings = {"-g -parameters", "-g:none", "-g:source,lines"})
    void policy_has_one_hash_as_source_file_and_as_compiled_class(String options) throws Exception {
        String source = file(POLICY.formatted(12));
        List<String> words = new ArrayList<>(List.of(options.split(" ")));
        words.addAll(List.of("-proc:none", "-d", folder.toString(), source));
        int code = ToolProvider.getSystemJavaCompiler().run(null, null, null, words.toArray(String[]::new));
        assertThat(code).isZero();
        try (URLClassLoader compiled =
                new URLClassLoader(new URL[] {folder.toUri().toURL()})) {
            Object policy = compiled.loadClass("Look").getConstructor().newInstance();
            assertThat(Machine.policies(List.of(policy))).isEqualTo(hashes(make(source)));
        }
    }

    @Test
    void comments_do_not_change_the_hash_of_a_policy() throws IOException {
        String one = file(POLICY.formatted(12));
        Path folderOfOther = Files.createDirectory(folder.resolve("other"));
        String other = Files.writeString(
                        folderOfOther.resolve("Look.java"),
                        POLICY.formatted(12).replace("    @Override\n", "    // Every request.\n\n    @Override\n"))
                .toString();
        assertThat(hashes(make(other))).isEqualTo(hashes(make(one)));
    }

    @Test
    void nested_class_changes_the_hash_of_its_policy() throws IOException {
        String nested = POLICY.replace("    @Override\n", """
                    static final class Rank {
                        long of(WaitingRequest request) {
                            return RANK;
                        }
                    }

                    @Override
                """)
                .formatted(12)
                .replace("return 0;", "return new Rank().of(request);");
        String one = file(nested.replace("RANK", "1"));
        Path folderOfOther = Files.createDirectory(folder.resolve("other"));
        String other = Files.writeString(folderOfOther.resolve("Look.java"), nested.replace("RANK", "2"))
                .toString();
        assertThat(hashes(make(one))).hasSize(1);
        assertThat(hashes(make(other))).isNotEqualTo(hashes(make(one)));
    }

    /** A policy of two kinds. */
    public static final class Both implements AdmissionPolicy, StepPolicy {
        public Both(String unused) {}

        @Override
        public int lookahead() {
            return 1;
        }

        @Override
        public long rank(WaitingRequest request, QueueView queue) {
            return 0;
        }

        @Override
        public void plan(StepBuilder step) {}
    }

    @Test
    void flags_with_the_same_text_share_one_object() {
        Map<String, Object> made = new HashMap<>();
        String name = Both.class.getName();
        AdmissionPolicy admission = ExtensionChoice.of("--policy", AdmissionPolicy.class)
                .sharing(made)
                .make(name + ":1");
        ExtensionChoice<StepPolicy> steps =
                ExtensionChoice.of("--step", StepPolicy.class).sharing(made);
        assertThat((Object) steps.make(name + ":1")).isSameAs(admission);
        assertThat((Object) steps.make(name + ":2")).isNotSameAs(admission);
    }

    @Test
    void text_after_the_file_is_the_constructor_argument() throws IOException {
        assertThat(make(file(POLICY.formatted(12)) + ":34").lookahead()).isEqualTo(34);
    }

    @Test
    void missing_argument_is_rejected_with_the_remedy() throws IOException {
        String source = file(POLICY.formatted(1).replace("public Look() {\n        this(1);\n    }", ""));
        assertThatThrownBy(() -> make(source))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("no constructor without parameters; append :ARG");
    }

    @Test
    void edited_file_is_an_equal_policy() throws IOException {
        AdmissionPolicy first = make(file(POLICY.formatted(12)));
        AdmissionPolicy second = make(file(POLICY.formatted(99)));
        assertThat(second).isNotSameAs(first).isEqualTo(first);
    }

    @Test
    void policy_class_in_a_package_is_found() throws IOException {
        assertThat(make(file("package some.where;\n" + POLICY.formatted(5))).lookahead())
                .isEqualTo(5);
    }

    /** {@link ExtensionChoice} is on the class path. */
    @Test
    void class_of_the_file_takes_precedence_over_the_class_path() throws IOException {
        String source =
                "package io.roseinfer.cli.flags;\n" + POLICY.formatted(8).replace("Look", "ExtensionChoice");
        Path file = Files.writeString(folder.resolve("ExtensionChoice.java"), source);
        assertThat(make(file.toString()).lookahead()).isEqualTo(8);
    }

    @Test
    void helper_class_is_not_the_policy() throws IOException {
        assertThat(make(file(POLICY.formatted(7) + "class Helper {}")).lookahead())
                .isEqualTo(7);
    }

    @Test
    void file_that_does_not_compile_is_rejected_with_its_first_error() throws IOException {
        String source = file("class Look {\n int a = missing;\n int b = gone;\n}");
        assertThatThrownBy(() -> make(source))
                .isInstanceOf(BadInput.class)
                .hasMessageContainingAll("--policy is ", source, "line 2: cannot find symbol; symbol:", "(and 1 more)")
                .message()
                .hasLineCount(1);
    }

    @Test
    void file_without_a_policy_is_rejected() throws IOException {
        String source = file("public class Look {}");
        assertThatThrownBy(() -> make(source))
                .isInstanceOf(BadInput.class)
                .hasMessageContainingAll(source, "declares no class", AdmissionPolicy.class.getName());
    }

    @Test
    void file_with_two_policies_is_rejected_with_their_names() throws IOException {
        String source = file(POLICY.formatted(1)
                + POLICY.formatted(2)
                        .replace("import io.roseinfer.scheduler.policy.*;", "")
                        .replace("public record Look", "record Other")
                        .replace("Look(", "Other("));
        assertThatThrownBy(() -> make(source))
                .isInstanceOf(BadInput.class)
                .hasMessageContainingAll("2 classes (Look, Other)", "must declare one");
    }

    @Test
    void missing_file_is_rejected() {
        String missing = folder.resolve("Missing.java").toString();
        assertThatThrownBy(() -> make(missing))
                .isInstanceOf(BadInput.class)
                .hasMessageContainingAll("--policy is ", missing, "no such file");
    }

    @ParameterizedTest
    @ValueSource(strings = {"record Look", "Look()"})
    void nonpublic_class_or_constructor_is_rejected(String declared) throws IOException {
        String source = file(POLICY.formatted(1).replace("public " + declared, declared));
        assertThatThrownBy(() -> make(source))
                .isInstanceOf(BadInput.class)
                .hasMessage(
                        "--policy is '" + source + "', whose class or constructor is not public; declare both public");
    }

    @Test
    void example_request_csv_has_no_ttft_of_a_request_without_tokens() throws Exception {
        Path file = folder.resolve("requests.csv");
        RequestObserver example =
                ExtensionChoice.of("--observe", RequestObserver.class).make("tools/examples/RequestCsv.java:" + file);
        EngineOptions options = EngineOptions.defaults().withKvBlocks(100);
        ModelSpec spec = Families.shape("gpt2").orElseThrow();
        SimRunner device = new SimRunner(spec, EngineLimits.runnerLimits(options, spec), SimOptions.defaults());
        Observers observers = Observers.ofRequests(example);
        try (Engine engine = Engine.open(device, Optional.empty(), options, () -> 100, observers)) {
            engine.generate(GenerationRequest.ofTokens(1, 2, 3).withDeadline(1));
        }
        ((AutoCloseable) example).close();
        assertThat(Files.readAllLines(file)).last().isEqualTo("0,0,3,0,0,,0,DEADLINE");
    }
}

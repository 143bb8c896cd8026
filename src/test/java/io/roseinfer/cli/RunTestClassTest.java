package io.roseinfer.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.cli.Checkout.Outcome;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests of {@code tools/run-test-class} in a checkout of stubs. */
@DisabledOnOs(OS.WINDOWS)
class RunTestClassTest {
    @TempDir
    Path folder;

    private Checkout checkout;

    @BeforeEach
    void checkOut() throws IOException {
        checkout = new Checkout(folder.resolve("a checkout"));
        checkout.write("target/test.classpath", "/some where/junit.jar");
        checkout.write("src/test/java/a/b/Load.java", """
                class Load {
                    public static void main(String[] args) {}
                }
                """);
        checkout.write("src/test/java/a/SomeTest.java", """
                class SomeTest {
                    @Test
                    void holds() {}
                    static class Child {
                        public static void main(String[] args) {}
                    }
                }
                """);
    }

    private Outcome run(String... arguments) throws Exception {
        String[] command = new String[arguments.length + 1];
        command[0] = "tools/run-test-class";
        System.arraycopy(arguments, 0, command, 1, arguments.length);
        return checkout.run(Map.of(), command);
    }

    @Test
    void class_with_a_main_method_runs_with_its_arguments() throws Exception {
        Outcome outcome = run("Load", "1", "two words");
        assertThat(outcome.code()).isZero();
        assertThat(outcome.out())
                .contains("<--add-modules=jdk.incubator.vector>")
                .endsWith("<-cp><target/test-classes:target/classes:/some where/junit.jar><a.b.Load><1><two words>");
        assertThat(checkout.path("mvn.log")).content().contains("test-compile").doesNotContain("-Dtest");
    }

    @Test
    void class_with_tests_runs_in_maven_even_with_a_nested_main_method() throws Exception {
        assertThat(run("SomeTest#holds").code()).isZero();
        assertThat(checkout.path("mvn.log")).content().contains("test -Dtest=SomeTest#holds");
    }

    @ParameterizedTest
    @CsvSource({
        "'', name a class",
        "Absent, no Absent.java",
        "SomeTest#nosuch, no method nosuch",
        "SomeTest 1, no arguments"
    })
    void unrunnable_class_is_rejected_before_compilation(String arguments, String said) throws Exception {
        Outcome outcome = arguments.isEmpty() ? run() : run(arguments.split(" "));
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err()).contains(said).hasLineCount(1);
        assertThat(checkout.path("mvn.log")).doesNotExist();
    }
}

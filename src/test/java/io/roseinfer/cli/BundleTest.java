package io.roseinfer.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.roseinfer.cli.Checkout.Outcome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of the bundle's scripts with a {@code java} stub that prints its arguments, and of missing tools of {@code tools/bundle}. */
@Tag("process")
@EnabledOnOs(OS.LINUX)
class BundleTest {
    @TempDir
    Path folder;

    private Checkout checkout;
    private Path bundle;

    @BeforeEach
    void unpack() throws IOException {
        checkout = new Checkout(folder.resolve("checkout"));
        bundle = checkout.path("a bundle");
        Checkout.executable(bundle.resolve("java/bin/java"), Files.readString(checkout.path("jdk/bin/java")));
        for (String script : new String[] {"roseinfer", "jmh", "java-with-flags"}) {
            Checkout.executable(
                    bundle.resolve("bin").resolve(script), Files.readString(Path.of("tools/bundled", script)));
        }
        Checkout.executable(bundle.resolve("bin/gpu-check"), Files.readString(Path.of("tools/gpu-check")));
    }

    private Outcome run(Map<String, String> environment, String... command) throws Exception {
        return checkout.run(environment, command);
    }

    @ParameterizedTest
    @CsvSource({"roseinfer, io.roseinfer.cli.Main", "jmh, org.openjdk.jmh.Main", "java-with-flags, <doctor>"})
    void script_called_through_a_link_finds_its_bundle(String script, String started) throws Exception {
        Path link = Files.createSymbolicLink(
                folder.resolve("linked"), bundle.resolve("bin").resolve(script));
        Outcome outcome = run(Map.of("CDPATH", "."), link.toString(), "doctor");
        assertThat(outcome.err()).isEmpty();
        assertThat(outcome.out()).contains(started).contains("<doctor>");
        if (!script.equals("java-with-flags")) {
            assertThat(outcome.out()).contains(bundle + "/lib/*");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "serve, '', ZGC",
        "generate, '', SerialGC",
        "serve, -XX:+UseG1GC, G1GC",
        "generate, -Xmx8g -XX:+UseG1GC, G1GC"
    })
    void roseinfer_uses_the_collector_of_the_command_or_the_user(String command, String flags, String collector)
            throws Exception {
        String script = bundle.resolve("bin/roseinfer").toString();
        assertThat(run(Map.of("ROSEINFER_JAVA_OPTS", flags), script, command).out())
                .containsOnlyOnce("<-XX:+Use" + collector + ">")
                .containsOnlyOnce("<-XX:+Use");
    }

    @Test
    void roseinfer_without_a_utf8_locale_reads_arguments_as_utf8() throws Exception {
        String script = bundle.resolve("bin/roseinfer").toString();
        assertThat(run(Map.of("LANG", "en_US.UTF-8"), script).out()).contains("locale=C.UTF-8\n");
        assertThat(run(Map.of("LANG", "en_US.UTF-8", "INSTALLED", "en_US.UTF-8"), script)
                        .out())
                .contains("locale=\n");
    }

    @Test
    void roseinfer_reports_the_commit_of_its_build() throws Exception {
        String script = bundle.resolve("bin/roseinfer").toString();
        assertThat(run(Map.of(), script).out()).doesNotContain("commit");
        Files.writeString(bundle.resolve("commit"), "0123abc\n");
        assertThat(run(Map.of(), script).out()).contains("<-Droseinfer.commit=0123abc>");
    }

    @Test
    void roseinfer_is_interactive_only_on_a_terminal() throws Exception {
        String script = bundle.resolve("bin/roseinfer").toString();
        assertThat(run(Map.of(), script).out()).doesNotContain("interactive");
        Outcome onTerminal = run(Map.of(), "script", "-qec", "'" + script + "'", "/dev/null");
        assumeTrue(onTerminal.code() == 0, "script(1) makes a terminal");
        assertThat(onTerminal.out()).contains("<-Droseinfer.interactive=true>");
    }

    @Test
    void missing_zip_is_reported_before_the_build() throws Exception {
        Path bin = Files.createDirectories(folder.resolve("bin"));
        for (String tool : new String[] {"bash", "env", "readlink", "locale", "sed", "dirname", "cat"}) {
            Checkout.executable(bin.resolve(tool), "#!/bin/sh\nexec /usr/bin/" + tool + " \"$@\"\n");
        }
        Outcome outcome = run(Map.of("PATH", bin.toString()), "tools/bundle");
        assertThat(outcome.code()).isEqualTo(1);
        assertThat(outcome.err()).contains("zip").contains("apt install zip").hasLineCount(1);
        assertThat(checkout.path("mvn.log")).doesNotExist();
    }

    @ParameterizedTest
    @CsvSource({"--help, 0", "--no-kernels, 2"})
    void help_and_unknown_arguments_of_the_bundle_start_no_build(String argument, int code) throws Exception {
        checkout.stub("make", "#!/bin/sh\nexit 1\n");
        Outcome outcome = run(Map.of("NVCC", "sh"), "tools/bundle", argument);
        assertThat(outcome.code()).isEqualTo(code);
        assertThat(outcome.out() + outcome.err())
                .contains("usage: tools/bundle")
                .contains("NVCC");
        assertThat(checkout.path("mvn.log")).doesNotExist();
    }

    /** Runs gpu-check in a bundle of stubs whose doctor prints {@code doctor}. */
    private Outcome gpuCheck(String doctor, String... arguments) throws Exception {
        Checkout.executable(bundle.resolve("bin/roseinfer"), "#!/bin/sh\necho '" + doctor + "'\n");
        Checkout.executable(bundle.resolve("bin/java-with-flags"), "#!/bin/sh\n");
        Checkout.executable(bundle.resolve("bin/jmh"), "#!/bin/sh\n");
        for (String harness : new String[] {"check", "time"}) {
            Checkout.executable(bundle.resolve("kernels").resolve(harness), "#!/bin/sh\n");
        }
        checkout.stub("nvidia-smi", "#!/bin/sh\nexit 127\n");
        List<String> command =
                new ArrayList<>(List.of(bundle.resolve("bin/gpu-check").toString()));
        command.addAll(List.of(arguments));
        return run(Map.of(), command.toArray(String[]::new));
    }

    private static final String HOPPER =
            "CUDA backend   NVIDIA H200, compute capability 9.0, 132 SMs, 139.8 GiB; sm_90a";

    /** Each line of the result table belongs to one part. */
    @ParameterizedTest
    @CsvSource({
        "tests, GPU tests",
        "sm_80, sm_80: GPU tests",
        "sm_90, sm_90: GPU tests",
        "kernels, kernels against the reference",
        "speed, the model alone"
    })
    void gpu_check_runs_only_the_given_part(String part, String line) throws Exception {
        Outcome outcome = gpuCheck(HOPPER, part);
        assertThat(outcome.code()).isZero();
        assertThat(outcome.out()).containsPattern("(?m)^" + line + " +passed");
        for (String other : new String[] {
            "GPU tests", "sm_80: GPU tests", "sm_90: GPU tests", "kernels against the reference", "the model alone"
        }) {
            if (!other.equals(line)) {
                assertThat(outcome.out()).doesNotContainPattern("(?m)^" + other + " ");
            }
        }
        assertThat(gpuCheck(HOPPER).out()).containsPattern("(?m)^" + line + " +passed");
    }

    @Test
    void gpu_check_lists_the_parts_for_an_unknown_one() throws Exception {
        Outcome outcome = gpuCheck(HOPPER, "test");
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err())
                .isEqualTo("gpu-check: the part is \"test\"; it must be tests, sm_80, sm_90, kernels, speed or all\n");
    }

    @Test
    void gpu_check_verifies_kernels_without_nvidia_smi() throws Exception {
        Outcome outcome = gpuCheck("CUDA backend   NVIDIA H200, compute capability 9.0, 132 SMs, 139.8 GiB; sm_90a");
        assertThat(outcome.code()).isZero();
        assertThat(outcome.out()).containsPattern("kernels against the reference +passed");
    }

    @ParameterizedTest
    @ValueSource(strings = {"8.9", "10.0"})
    void gpu_check_gives_the_reason_for_skipping_kernels(String capability) throws Exception {
        Outcome outcome = gpuCheck("CUDA backend   GPU, compute capability " + capability + ", 1 SMs, 1 GiB");
        assertThat(outcome.code()).isZero();
        assertThat(outcome.out())
                .containsPattern("kernels against the reference +skipped.*" + capability)
                .containsPattern("sm_80: GPU tests +skipped.*" + capability)
                .containsPattern("sm_90: GPU tests +skipped.*" + capability);
    }

    @Test
    void gpu_check_fails_without_a_gpu() throws Exception {
        Outcome outcome = gpuCheck("CUDA backend   not usable, --device auto uses the CPU");
        assertThat(outcome.code()).isEqualTo(1);
        assertThat(outcome.out()).containsPattern("kernels against the reference +FAILED");
    }
}

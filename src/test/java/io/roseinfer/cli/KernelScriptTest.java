package io.roseinfer.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.roseinfer.cli.Checkout.Outcome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of {@code tools/kernels} and the kernels' Makefile with an {@code nvcc} stub that writes its version instead of compiling. */
@Tag("process")
@DisabledOnOs(OS.WINDOWS)
class KernelScriptTest {
    /** A compiler of release {@code VERSION}. It fails on the file {@code FAIL} after writing its output. */
    private static final String NVCC = """
            #!/bin/sh
            if [ "$1" = --version ]; then
                echo "Cuda compilation tools, release ${VERSION:-13.0}, V${VERSION:-13.0}.1"
                exit 0
            fi
            echo "$*" >> "$LOG"
            while [ $# -gt 1 ]; do
                [ "$1" != -o ] || made=$2
                shift
            done
            echo "made by ${VERSION:-13.0}" > "$made"
            [ "${FAIL:-}" != "$1" ]
            """;

    /** Some of the kernels: a make of all starts hundreds of processes. */
    private static final String FEW = "ANYWHERE = load embed\nHOPPER = gemm_f16\n";

    @TempDir
    Path folder;

    private Checkout checkout;

    private void checkOut(String name) throws IOException {
        checkout = new Checkout(folder.resolve(name));
        checkout.copy("kernels");
        checkout.copy("kernels/include");
        checkout.write("kernels/files.mk", FEW);
        checkout.stub("nvcc", NVCC);
    }

    @BeforeEach
    void checkOut() throws Exception {
        checkOut("checkout");
        assumeTrue(checkout.run(Map.of(), "sh", "-c", "command -v make").code() == 0, "there is a make");
    }

    private Outcome compile(String... variables) throws Exception {
        return run(List.of("tools/kernels"), variables);
    }

    private Outcome run(List<String> command, String... variables) throws Exception {
        Map<String, String> environment = checkout.environment();
        environment.remove("NVCC");
        environment.put("LOG", checkout.path("nvcc.log").toString());
        for (int i = 0; i < variables.length; i += 2) {
            environment.put(variables[i], variables[i + 1]);
        }
        Files.deleteIfExists(checkout.path("nvcc.log"));
        return checkout.runIn(environment, command.toArray(String[]::new));
    }

    /** Returns the message printed only before kernels are compiled. */
    private static String compiling(String release) {
        return "roseinfer: compiling the CUDA kernels with nvcc " + release + ", which takes minutes\n";
    }

    private Path shipped() {
        return checkout.path("target/classes/io/roseinfer/backend/cuda/kernels");
    }

    private long compiled() throws IOException {
        Path log = checkout.path("nvcc.log");
        return Files.exists(log) ? Files.readAllLines(log).size() : 0;
    }

    private void assertShipped(String release) throws IOException {
        assertThat(shipped().resolve("manifest.properties")).content().contains("toolkit=" + release + "\n");
        try (Stream<Path> files = Files.list(shipped())) {
            assertThat(files.filter(file -> !file.endsWith("manifest.properties")))
                    .isNotEmpty()
                    .allSatisfy(file -> assertThat(file).hasContent("made by " + release));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"checkout", "a space", "žluťoučký", "a'quote"})
    void kernels_are_compiled_in_a_checkout_of_any_name(String name) throws Exception {
        if (!name.equals("checkout")) {
            checkOut(name);
        }
        Outcome outcome = compile();
        assertThat(outcome.err()).isEqualTo(compiling("13.0"));
        assertThat(outcome.code()).isZero();
        assertShipped("13.0");
    }

    @Test
    void every_kernel_is_compiled() throws Exception {
        Files.copy(Path.of("kernels/files.mk"), checkout.path("kernels/files.mk"), StandardCopyOption.REPLACE_EXISTING);
        assertThat(compile().code()).isZero();
        assertShipped("13.0");
        try (Stream<Path> sources = Files.list(Path.of("kernels"))) {
            assertThat(sources.map(source -> source.getFileName().toString())
                            .filter(name -> name.endsWith(".cu"))
                            .map(name -> name.replace(".cu", ".sm_90a")))
                    .isNotEmpty()
                    .allSatisfy(image -> {
                        assertThat(shipped().resolve(image + ".ptx")).exists();
                        assertThat(shipped().resolve(image + ".cubin")).exists();
                    });
        }
    }

    @Test
    void nvcc_path_may_contain_spaces() throws Exception {
        Checkout.executable(folder.resolve("CUDA 13/bin/nvcc"), NVCC);
        assertThat(compile("NVCC", "../CUDA 13/bin/nvcc").err()).isEqualTo(compiling("13.0"));
        assertShipped("13.0");
    }

    @Test
    void unchanged_kernels_are_not_recompiled() throws Exception {
        compile();
        assertThat(compiled()).isPositive();
        assertThat(compile().err()).isEmpty();
        assertThat(compiled()).isZero();
        assertShipped("13.0");
    }

    @Test
    void kernels_compiled_ahead_are_shipped_later() throws Exception {
        Outcome ahead = run(List.of("tools/kernels", "--ahead"));
        assertThat(ahead.out() + ahead.err()).isEmpty();
        assertThat(compiled()).isPositive();
        assertThat(shipped()).doesNotExist();
        assertThat(compile().err()).isEmpty();
        assertThat(compiled()).isZero();
        assertShipped("13.0");
    }

    /** The first compilers wait until the second call has said that it compiles. */
    @Test
    void kernels_are_compiled_once_if_they_are_wanted_during_compilation_ahead() throws Exception {
        compile();
        final long all = compiled();
        compile("VERSION", "13.1");
        checkout.stub("nvcc", NVCC + "until [ -f go ]; do :; done\n");
        run(List.of("sh", "-c", """
                tools/kernels --ahead &
                until [ -f nvcc.log ]; do :; done
                tools/kernels 2> said &
                until [ -s said ]; do :; done
                : > kernels/go
                wait
                """));
        assertThat(compiled()).isEqualTo(all);
        assertShipped("13.0");
    }

    @Test
    void failure_ahead_is_reported_later() throws Exception {
        Outcome ahead = run(List.of("tools/kernels", "--ahead"), "FAIL", "load.cu");
        assertThat(ahead.out() + ahead.err()).isEmpty();
        assertCpuOnly(compile("FAIL", "load.cu"), "target/kernels.log", "NVCC=none");
    }

    @Test
    void another_nvcc_recompiles_all_kernels() throws Exception {
        compile();
        long all = compiled();
        assertThat(compile("VERSION", "13.1").err()).isEqualTo(compiling("13.1"));
        assertThat(compiled()).isEqualTo(all);
        assertShipped("13.1");
    }

    @Test
    void other_flags_recompile_all_kernels() throws Exception {
        compile();
        long all = compiled();
        Path makefile = checkout.path("kernels/Makefile");
        Files.writeString(makefile, Files.readString(makefile).replace("-lineinfo", "-lineinfo -G"));
        compile();
        assertThat(compiled()).isEqualTo(all);
    }

    @Test
    void obsolete_kernel_image_is_not_shipped() throws Exception {
        compile();
        checkout.write("target/ptx/load.sm_70.ptx", "of an older state");
        compile();
        assertThat(shipped().resolve("load.sm_80.ptx")).exists();
        assertThat(shipped().resolve("load.sm_70.ptx")).doesNotExist();
    }

    private void assertCpuOnly(Outcome outcome, String... said) {
        assertThat(outcome.code()).isZero();
        assertThat(outcome.err().replace(compiling("13.0"), ""))
                .startsWith("roseinfer: ")
                .contains("CPU alone")
                .contains(said)
                .hasLineCount(1);
        assertThat(shipped()).doesNotExist();
    }

    @Test
    void outdated_nvcc_gives_a_cpu_only_build_with_a_note() throws Exception {
        compile();
        assertCpuOnly(compile("VERSION", "12.4"), "12.4", "13.0 or newer", "NVCC=none");
        assertThat(compiled()).isZero();
    }

    @Test
    void broken_nvcc_gives_a_cpu_only_build_with_a_note() throws Exception {
        checkout.stub("nvcc", "#!/bin/sh\nexit 1\n");
        assertCpuOnly(compile(), "unknown", "NVCC=none");
    }

    @Test
    void failed_nvcc_gives_a_cpu_only_build_and_names_the_log() throws Exception {
        assertCpuOnly(compile("FAIL", "load.cu"), "target/kernels.log", "NVCC=none");
    }

    @Test
    void failed_nvcc_fails_the_build_if_kernels_are_required() throws Exception {
        Outcome outcome = compile("FAIL", "load.cu", "ROSEINFER_REQUIRE_KERNELS", "1");
        assertThat(outcome.code()).isEqualTo(1);
        assertThat(outcome.err()).contains("could not compile");
    }

    @Test
    void harness_is_compiled_once_with_the_kernels() throws Exception {
        checkout.copy("kernels/contract");
        checkout.copy("kernels/test");
        assertThat(compile().err()).isEqualTo(compiling("13.0"));
        assertThat(checkout.path("nvcc.log")).content().contains(" test/check.cu\n", " test/time.cu\n");
        compile();
        assertThat(compiled()).isZero();
    }

    @Test
    void harness_that_does_not_compile_fails_the_build() throws Exception {
        checkout.copy("kernels/contract");
        checkout.copy("kernels/test");
        Outcome outcome = compile("FAIL", "test/check.cu");
        assertThat(outcome.code()).isEqualTo(1);
        assertThat(outcome.err()).contains("compiled the kernels and not their harness");
    }

    @Test
    void partially_written_kernels_are_recompiled() throws Exception {
        compile("FAIL", "load.cu");
        compile();
        assertThat(checkout.path("nvcc.log")).content().contains("load.sm_80.ptx");
        assertShipped("13.0");
    }

    @Test
    void missing_nvcc_gives_a_cpu_only_build_with_a_note() throws Exception {
        assertCpuOnly(compile("NVCC", "none"), "NVCC is none");
        assertCpuOnly(compile("NVCC", "no-such-nvcc"), "no-such-nvcc");
    }

    @Test
    void kernel_edited_during_compilation_is_recompiled_next_time() throws Exception {
        checkout.stub("nvcc", NVCC + """
                [ -f "$LOG.edit" ] || exit 0
                until [ load.cu -nt ../target/build.begun ]; do touch load.cu; done
                until [ "$made" -nt load.cu ]; do touch "$made"; done
                """);
        checkout.write("nvcc.log.edit", "");
        checkout.run(Map.of(), "tools/stamps", "begin");
        compile();
        checkout.run(Map.of(), "tools/stamps", "compiled");
        Files.delete(checkout.path("nvcc.log.edit"));
        compile();
        assertThat(Files.readAllLines(checkout.path("nvcc.log")))
                .allMatch(line -> line.endsWith("load.cu") || line.endsWith("/load.sm_90a.ptx"));
        assertThat(compiled()).isEqualTo(4);
    }
}

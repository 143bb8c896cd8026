package io.roseinfer.backend.cuda.nvtx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The JNI library: built if possible, with a reason if unused. */
@EnabledOnOs(OS.LINUX)
class NativeLibraryTest {
    @TempDir
    Path folder;

    private String build(Map<String, String> environment) throws IOException, InterruptedException {
        ProcessBuilder builder =
                new ProcessBuilder("bash", "tools/native", folder.toString()).redirectErrorStream(true);
        builder.environment().putAll(environment);
        Process process = builder.start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(said).isZero();
        return said;
    }

    private Path built() {
        return folder.resolve(NativeLibrary.resource().substring(1));
    }

    @Test
    void build_with_a_compiler_makes_the_library_silently() throws Exception {
        CLibrary.compile(folder, "injection.c", "compiler-is-there.so");
        assertThat(build(Map.of())).isEmpty();
        assertThat(built()).exists();
    }

    @ParameterizedTest
    @ValueSource(strings = {"env cc", "cc -g"})
    void compiler_with_a_launcher_or_a_flag_makes_the_library(String compiler) throws Exception {
        CLibrary.compile(folder, "injection.c", "compiler-is-there.so");
        assertThat(build(Map.of("CC", compiler))).isEmpty();
        assertThat(built()).exists();
    }

    @Test
    void build_without_a_compiler_succeeds_with_one_message() throws Exception {
        assertThat(build(Map.of("CC", "no-such-compiler")).lines())
                .singleElement()
                .asString()
                .contains("no C compiler (no-such-compiler)", "no native library");
        assertThat(built()).doesNotExist();
    }

    @Test
    void failed_load_names_the_missing_library() {
        NativeLibrary absent = NativeLibrary.load("/io/roseinfer/native/none.so", folder);
        assertThat(absent.loaded()).isFalse();
        assertThat(absent.hasNvtx()).isFalse();
        assertThat(absent.description()).contains("by Java", "no C compiler");
    }

    /** The loader rejects an unmappable file like a library on a noexec mount. */
    @Test
    void rejected_library_is_reported_and_leaves_no_file() throws IOException {
        NativeLibrary refused = NativeLibrary.load("/golden/README.md", folder);
        assertThat(refused.loaded()).isFalse();
        assertThat(refused.description()).contains(folder.toString(), "noexec", "-Djava.io.tmpdir=FOLDER");
        try (Stream<Path> left = Files.list(folder)) {
            assertThat(left).isEmpty();
        }
    }

    @Test
    void load_into_a_missing_folder_is_reported() {
        NativeLibrary refused = NativeLibrary.load("/golden/README.md", folder.resolve("absent"));
        assertThat(refused.description()).contains("absent", "-Djava.io.tmpdir=FOLDER");
    }

    @Test
    void load_library_of_this_build_is_in_use() {
        assumeTrue(getClass().getResource(NativeLibrary.resource()) != null, "skipped: this build has no library");
        assertThat(NativeLibrary.instance().loaded()).isTrue();
        assertThat(NativeLibrary.instance().description())
                .contains("NVTX's header")
                .doesNotContain("without the native library");
    }
}

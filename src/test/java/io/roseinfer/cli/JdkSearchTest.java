package io.roseinfer.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Tests of {@code tools/jdk} with directories that look like JDKs. */
@DisabledOnOs(OS.WINDOWS)
class JdkSearchTest {
    private static final String MODULES = "MODULES=\"java.base jdk.incubator.vector\"\n";

    @TempDir
    Path folder;

    private Path jdk(String name, String release) throws IOException {
        Path home = folder.resolve(name);
        Files.createDirectories(home.resolve("bin"));
        for (String tool : new String[] {"java", "javac"}) {
            Files.createFile(home.resolve("bin").resolve(tool)).toFile().setExecutable(true);
        }
        Files.writeString(home.resolve("release"), release);
        return home;
    }

    private String search(Map<String, String> environment) throws IOException, InterruptedException {
        Path script = Path.of("tools/jdk").toAbsolutePath();
        ProcessBuilder builder = new ProcessBuilder("bash", script.toString())
                .directory(folder.toFile())
                .redirectErrorStream(true);
        builder.environment().remove("ROSEINFER_JAVA_HOME");
        builder.environment().putAll(environment);
        Process process = builder.start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
        return said.strip();
    }

    @Test
    void suitable_java_home_is_used() throws Exception {
        Path home = jdk("with space", "JAVA_VERSION=\"25.0.3\"\n" + MODULES);
        assertThat(search(Map.of("JAVA_HOME", home.toString()))).isEqualTo(home.toString());
    }

    @Test
    void roseinfer_java_home_overrides_java_home() throws Exception {
        Path first = jdk("first", "JAVA_VERSION=\"26-ea\"\n" + MODULES);
        Path second = jdk("second", "JAVA_VERSION=\"25\"\n" + MODULES);
        assertThat(search(Map.of("ROSEINFER_JAVA_HOME", first.toString(), "JAVA_HOME", second.toString())))
                .isEqualTo(first.toString());
    }

    @Test
    void unusable_roseinfer_java_home_is_an_error() throws Exception {
        Path usable = jdk("usable", "JAVA_VERSION=\"25\"\n" + MODULES);
        Path old = jdk("old", "JAVA_VERSION=\"17.0.15\"\n" + MODULES);
        for (Path chosen : List.of(old, folder.resolve("missing"))) {
            assertThat(search(Map.of("ROSEINFER_JAVA_HOME", chosen.toString(), "JAVA_HOME", usable.toString())))
                    .startsWith("roseinfer: ROSEINFER_JAVA_HOME is " + chosen + ", which is no JDK 25 or newer")
                    .hasLineCount(1);
        }
    }

    @Test
    void outdated_java_home_is_skipped() throws Exception {
        Path old = jdk("old", "JAVA_VERSION=\"17.0.15\"\n" + MODULES);
        assertThat(search(Map.of("JAVA_HOME", old.toString()))).doesNotContain(old.toString());
    }

    @Test
    void java_home_without_the_vector_module_is_skipped() throws Exception {
        Path bare = jdk("bare", "JAVA_VERSION=\"25.0.3\"\nMODULES=\"java.base\"\n");
        assertThat(search(Map.of("JAVA_HOME", bare.toString()))).doesNotContain(bare.toString());
    }

    @Test
    void linked_java_on_the_path_is_resolved_to_its_home() throws Exception {
        Path home = jdk("linked", "JAVA_VERSION=\"25.0.3\"\n" + MODULES);
        Path bin = Files.createDirectory(folder.resolve("bin"));
        Files.createSymbolicLink(bin.resolve("java"), home.resolve("bin/java"));
        String path = bin + ":" + System.getenv("PATH");
        assertThat(search(Map.of("JAVA_HOME", "", "PATH", path))).isEqualTo(home.toString());
    }

    @Test
    void search_works_without_a_home_directory() throws Exception {
        Path home = jdk("jdk", "JAVA_VERSION=\"25.0.3\"\n" + MODULES);
        assertThat(search(Map.of("JAVA_HOME", home.toString(), "HOME", ""))).isEqualTo(home.toString());
        ProcessBuilder builder = new ProcessBuilder(
                "env", "-u", "HOME", "bash", Path.of("tools/jdk").toString());
        builder.environment().put("JAVA_HOME", home.toString());
        assertThat(builder.start().waitFor()).isZero();
    }

    @Test
    void relative_java_home_is_printed_as_an_absolute_path() throws Exception {
        Path home = jdk("near", "JAVA_VERSION=\"25.0.3\"\n" + MODULES);
        assertThat(Path.of(search(Map.of("JAVA_HOME", "near")))).isAbsolute().isEqualTo(home.toRealPath());
        String path = "near/bin:" + System.getenv("PATH");
        assertThat(Path.of(search(Map.of("JAVA_HOME", "", "PATH", path))))
                .isAbsolute()
                .isEqualTo(home.toRealPath());
    }

    @Test
    void shell_function_named_java_is_ignored() throws Exception {
        Path home = jdk("program", "JAVA_VERSION=\"25.0.3\"\n" + MODULES);
        String path = home.resolve("bin") + ":" + System.getenv("PATH");
        assertThat(search(Map.of("JAVA_HOME", "", "PATH", path, "BASH_FUNC_java%%", "() { :; }")))
                .isEqualTo(home.toString());
    }
}

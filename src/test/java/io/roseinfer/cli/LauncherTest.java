package io.roseinfer.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** {@code tools/roseinfer} in a tree that is built, with a {@code java} that says how it was started. */
@DisabledOnOs(OS.WINDOWS)
class LauncherTest {
    @TempDir
    Path root;

    @BeforeEach
    void build() throws IOException {
        Path tools = Files.createDirectories(root.resolve("tools"));
        executable(tools.resolve("roseinfer"), Files.readString(Path.of("tools/roseinfer")));
        executable(tools.resolve("jdk"), "#!/usr/bin/env bash\necho '" + root.resolve("jdk") + "'\n");
        Path bin = Files.createDirectories(root.resolve("jdk/bin"));
        executable(bin.resolve("java"), "#!/usr/bin/env bash\necho \"locale=${LC_ALL:-}\"\nprintf '<%s>' \"$@\"\n");
        Files.createDirectories(root.resolve("src/main"));
        Files.createDirectories(root.resolve(".mvn"));
        Files.createFile(root.resolve("pom.xml"));
        Files.createDirectories(root.resolve("target/lib"));
        Files.createFile(root.resolve("target/roseinfer.jar"));
    }

    private static void executable(Path file, String content) throws IOException {
        Files.writeString(file, content);
        assertThat(file.toFile().setExecutable(true)).isTrue();
    }

    private String launch(Map<String, String> environment) throws IOException, InterruptedException {
        ProcessBuilder builder =
                new ProcessBuilder(root.resolve("tools/roseinfer").toString(), "doctor").redirectErrorStream(true);
        builder.environment()
                .keySet()
                .removeIf(name -> name.startsWith("LC_") || name.startsWith("ROSEINFER_") || name.equals("LANG"));
        builder.environment().putAll(environment);
        Process process = builder.start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
        return said;
    }

    @Test
    void launch_withoutALocale_readsArgumentsAsUtf8() throws Exception {
        assertThat(launch(Map.of())).contains("locale=C.UTF-8");
        assertThat(launch(Map.of("LC_ALL", "C"))).contains("locale=C.UTF-8");
        assertThat(launch(Map.of("LANG", "de_DE.ISO-8859-1"))).contains("locale=C.UTF-8");
    }

    @Test
    void launch_withAUtf8Locale_leavesItAlone() throws Exception {
        assertThat(launch(Map.of("LC_ALL", "de_DE.UTF-8"))).contains("locale=de_DE.UTF-8");
        assertThat(launch(Map.of("LANG", "en_US.utf8"))).contains("locale=\n");
    }

    @Test
    void launch_classPathOfOnesOwn_comesAfterOurs() throws Exception {
        String jars = root.toRealPath() + "/target/roseinfer.jar:" + root.toRealPath() + "/target/lib/*";
        assertThat(launch(Map.of())).contains("<-cp><" + jars + "><io.roseinfer.cli.Main><doctor>");
        assertThat(launch(Map.of("ROSEINFER_CLASSPATH", "mine.jar"))).contains("<-cp><" + jars + ":mine.jar>");
    }
}

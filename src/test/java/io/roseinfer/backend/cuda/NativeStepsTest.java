package io.roseinfer.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What a step asks of the driver, with the JNI library and without, told by a driver that stands in for one ({@link StandInSteps}).
 * Skipped where there is no C compiler to make it with.
 */
@EnabledOnOs(value = OS.LINUX, architectures = "amd64")
class NativeStepsTest {
    private static final Map<List<String>, List<String>> SEEN = new HashMap<>();

    @TempDir
    static Path folder;

    @BeforeAll
    static void compile() {
        for (String library : List.of("libcuda.so.1", "libcudart.so.13")) {
            CLibrary.compile(folder, "driver.c", library, "-Wl,-soname," + library);
        }
    }

    /** What the program printed; the same arguments are run once. */
    private static List<String> run(boolean nativeCalls, String... arguments) throws Exception {
        List<String> key = new ArrayList<>(List.of(arguments));
        key.add("" + nativeCalls);
        if (!SEEN.containsKey(key)) {
            SEEN.put(key, start(nativeCalls, arguments));
        }
        return SEEN.get(key);
    }

    private static List<String> start(boolean nativeCalls, String... arguments) throws Exception {
        assumeTrue(!nativeCalls || NativeLibrary.instance().loaded(), "skipped: this build has no native library");
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--add-modules=jdk.incubator.vector",
                "--enable-native-access=ALL-UNNAMED",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-Droseinfer.native=" + nativeCalls,
                "-cp",
                System.getProperty("java.class.path"),
                StandInSteps.class.getName()));
        command.addAll(List.of(arguments));
        Path errors = folder.resolve("errors.txt");
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(errors.toFile());
        builder.environment().put("LD_LIBRARY_PATH", folder.toString());
        Process process = builder.start();
        String said;
        try (InputStream out = process.getInputStream()) {
            said = new String(out.readAllBytes(), StandardCharsets.UTF_8);
        }
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as("%s", errors).isZero();
        return said.lines().toList();
    }

    /** The lines of the step of this name, the first of several. */
    private static List<String> step(List<String> lines, String name) {
        return lines.stream()
                .dropWhile(line -> !line.startsWith("== " + name + " ->"))
                .skip(1)
                .takeWhile(line -> !line.startsWith("=="))
                .toList();
    }

    private static long launches(List<String> lines) {
        return lines.stream().filter(line -> line.contains("<<<")).count();
    }

    @ParameterizedTest
    @ValueSource(strings = {"every-kind", "without-graphs"})
    void steps_askTheSameOfTheDriver_withTheLibraryAndWithout(String kind) throws Exception {
        List<String> single = run(false, kind);
        assertThat(launches(single)).isGreaterThan(700);
        assertThat(run(true, kind)).isEqualTo(single);
    }

    @Test
    void calls_areMadeByTheLibrary_ifItIsThereAndNotSwitchedOff() throws Exception {
        assertThat(run(true, "calls").getFirst()).isEqualTo("true");
        assertThat(run(false, "calls"))
                .containsExactly(
                        "false",
                        "no native library, Java makes a step's calls one by one: -Droseinfer.native=false leaves it out");
    }

    /** A prompt's graph is that of its bucket: 20 tokens run as 24, 512 as they are, and 513 as launches of their own. */
    @Test
    void prompts_runAsTheirBucketsGraph() throws Exception {
        List<String> lines = run(false, "every-kind");
        assertThat(step(lines, "prompt of 20"))
                .anyMatch(line -> line.startsWith("graph "))
                .anyMatch(line -> line.startsWith("embed_f16<<<24x1"));
        assertThat(step(lines, "prompt of 512"))
                .anyMatch(line -> line.startsWith("graph "))
                .anyMatch(line -> line.startsWith("embed_f16<<<512x1"));
        assertThat(step(lines, "prompt of 513"))
                .noneMatch(line -> line.startsWith("graph "))
                .anyMatch(line -> line.startsWith("embed_f16<<<513x1"));
        assertThat(step(lines, "chunk 0")).noneMatch(line -> line.startsWith("graph "));
        assertThat(step(lines, "chunk 2")).anyMatch(line -> line.startsWith("graph "));
        assertThat(step(lines, "two prompts, again 0")).noneMatch(line -> line.startsWith("graph "));
    }

    /** Padding is in a graph alone: every launch of a padded prompt but for its counts of tokens is the launch without a graph. */
    @Test
    void prompts_runTheKernelsTheyHaveWithoutGraphs() throws Exception {
        List<String> graphs = run(false, "every-kind");
        List<String> single = run(false, "without-graphs");
        for (String prompt : List.of("prompt of 2", "prompt of 16", "prompt of 20", "prompt of 512")) {
            assertThat(kernels(step(graphs, prompt))).as(prompt).hasSize(24).isEqualTo(kernels(step(single, prompt)));
        }
    }

    /** Names, threads and shared memory of the launches. */
    private static List<String> kernels(List<String> lines) {
        return lines.stream()
                .filter(line -> line.contains("<<<"))
                .map(line -> line.replaceFirst("<<<[0-9]+x[0-9]+", "").replaceFirst(">>>.*", ""))
                .toList();
    }

    /** The copy, its event, the wait and the graph; or the copy and then kernels, the first 16 of them in one call. */
    @ParameterizedTest
    @CsvSource({
        "0, 16, copying a step's inputs to the device",
        "1, 16, recording an event",
        "2, 16, waiting for a step's inputs",
        "3, 16, 'replaying graph of 1 rows, 16 tokens'",
        "3, 600, launching embed_f16",
        "5, 600, launching attention_prefill_f16",
        "20, 600, launching attention_prefill_f16",
        "26, 600, launching select_best"
    })
    void refusals_nameTheCallThatWasRefused_nowAndLater(int calls, int tokens, String what) throws Exception {
        String message = "device cuda:0: " + what + ": kernel launch failed (CUDA error 719)";
        for (boolean nativeCalls : new boolean[] {false, true}) {
            assertThat(run(nativeCalls, "refused", "" + calls, "" + tokens))
                    .as("native calls: %s", nativeCalls)
                    .containsExactly(message, message);
        }
    }
}

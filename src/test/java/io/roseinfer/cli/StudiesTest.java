package io.roseinfer.cli;

import static org.assertj.core.api.Assertions.as;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.LIST;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.roseinfer.cli.CliRunner.Outcome;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests of {@code tools/examples/studies}, whose commands run in this process on the simulated device. */
@Tag("process")
@Timeout(180)
class StudiesTest {
    private static final Path SCRIPT = Path.of("tools/examples/studies");
    private static final Pattern USAGE = Pattern.compile("NAME is one of ([\\w, -]+)\"");

    /** Writes one line per argument and an empty line after each call. */
    private static final String RECORDER = "#!/bin/sh\nprintf '%s\\n' \"$@\" '' >> calls\n";

    /** More requests than this take longer and show no more of a report. */
    private static final int MANY = 400;

    /** Flags that simulated time rejects, each with a value. */
    private static final List<String> OF_THE_MACHINE =
            List.of("--threads", "--warmup-requests", "--max-dispatch-lag-ms");

    @TempDir
    private Path folder;

    private Checkout checkout;

    @BeforeEach
    void makeCheckout() throws IOException {
        checkout = new Checkout(folder.resolve("checkout"));
        checkout.copy("tools/examples");
        checkout.copy("tools/examples/policies");
        checkout.executable("tools/roseinfer", RECORDER);
    }

    static List<String> names() throws IOException {
        Matcher usage = USAGE.matcher(Files.readString(SCRIPT));
        assertThat(usage.find()).isTrue();
        return List.of(usage.group(1).split(", "));
    }

    /** Returns the arguments of every command in a study. */
    private List<List<String>> calls(String... words) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(words));
        command.addFirst(checkout.path(SCRIPT.toString()).toString());
        Checkout.Outcome outcome = checkout.run(Map.of(), command.toArray(String[]::new));
        assertThat(outcome.code()).as(outcome.err()).isZero();
        List<List<String>> calls = new ArrayList<>();
        List<String> call = new ArrayList<>();
        for (String line : Files.readAllLines(checkout.path("calls"))) {
            if (line.isEmpty()) {
                calls.add(List.copyOf(call));
                call.clear();
            } else {
                call.add(line);
            }
        }
        return calls;
    }

    /** Returns the command on simulated time or on the simulated device, with few requests. */
    private static String[] simulated(List<String> call) {
        List<String> arguments = new ArrayList<>(call);
        int requests = call.indexOf("--num-prompts");
        if (requests >= 0 && Integer.parseInt(call.get(requests + 1)) > MANY) {
            arguments.set(requests + 1, Integer.toString(MANY));
        }
        int backend = call.indexOf("--backend");
        if (backend >= 0) {
            arguments.set(backend + 1, "sim");
            for (String flag : OF_THE_MACHINE) {
                int at = arguments.indexOf(flag);
                if (at >= 0) {
                    arguments.subList(at, at + 2).clear();
                }
            }
            if (!arguments.contains("--step-costs")) {
                arguments.addAll(List.of("--step-costs", "step:2,token:0.1"));
            }
            // Otherwise every pair of a burst of equal lengths is the same run.
            if (arguments.contains("--pairs")
                    && arguments.stream().noneMatch(flag -> flag.matches("--(request-rate|ramp-up).*"))) {
                arguments.add("--request-rate=100");
            }
        } else if (call.getFirst().equals("bench")) {
            arguments.addAll(List.of("--device", "sim"));
        }
        return arguments.toArray(String[]::new);
    }

    @ParameterizedTest
    @MethodSource("names")
    void every_study_writes_its_report(String name) throws IOException, InterruptedException {
        for (List<String> call : calls(name)) {
            CliRunner.parse(call.toArray(String[]::new));
            Outcome outcome = CliRunner.run(simulated(call));
            assertThat(outcome.code()).as(outcome.err()).isIn(0, 9);
            assertThat(outcome.out()).isNotEmpty();
        }
        assertThat(checkout.path("target/" + name + ".html")).content().startsWith("<!DOCTYPE html>");
    }

    @Test
    void policy_study_takes_a_file_before_other_flags() throws IOException, InterruptedException {
        assertThat(calls("policy", "mine/Mine.java", "--pairs", "4"))
                .singleElement(as(LIST))
                .containsSubsequence("--b", "--prefill-admission-policy mine/Mine.java", "--pairs", "4")
                .doesNotContain("mine/Mine.java");
    }

    @Test
    void flag_of_the_caller_replaces_the_studys_own() throws IOException, InterruptedException {
        List<String> call = calls("policy", "Mine.java:3", "--request-rate=60", "--metric", "p99_ttft_ms")
                .getFirst();
        assertThat(call)
                .contains("--request-rate=60", "--prefill-admission-policy Mine.java:3", "--num-prompts")
                .containsSubsequence("--metric", "p99_ttft_ms")
                .doesNotContain("--request-rate", "30", "median_ttft_ms");
    }

    /** The study is simulated, so every machine draws the same picture. */
    @Test
    void picture_in_the_readme_is_drawn_from_the_study_of_a_policy() throws IOException, InterruptedException {
        assumeTrue(
                Stream.of(System.getenv("PATH").split(":"))
                        .anyMatch(directory -> Files.isExecutable(Path.of(directory, "python3"))),
                "python3 is not installed");
        Path results = folder.resolve("policy.json");
        List<String> call = calls("policy", "--json", results.toString()).getFirst();
        assertThat(CliRunner.run(call.toArray(String[]::new)).code()).isZero();
        ProcessBuilder builder = new ProcessBuilder("python3", "tools/examples/policy_picture.py", results.toString());
        builder.environment().put("PYTHONIOENCODING", "utf-8");
        Process script = builder.redirectErrorStream(true).start();
        String drawn = new String(script.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(script.waitFor()).as(drawn).isZero();
        assertThat(drawn).isEqualTo(Files.readString(Path.of("src/site/resources/policy.svg")));
    }

    @Test
    void every_study_is_in_the_examples_list() throws IOException {
        assertThat(Files.readString(Path.of("tools/examples/README.md")))
                .contains(names().stream().map(name -> "| `" + name + "` |").toList());
    }

    @Test
    void unknown_name_lists_the_known_ones() throws IOException, InterruptedException {
        Checkout.Outcome outcome =
                checkout.run(Map.of(), checkout.path(SCRIPT.toString()).toString(), "other");
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err()).contains(names());
    }
}

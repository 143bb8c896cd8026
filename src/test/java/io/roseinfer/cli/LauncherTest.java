package io.roseinfer.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.roseinfer.cli.Checkout.Outcome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of {@code tools/roseinfer} in a checkout of stubs: how it starts Java, and when it builds. */
@Tag("process")
@DisabledOnOs(OS.WINDOWS)
class LauncherTest {
    private static final String LAUNCHER = "tools/roseinfer";

    @TempDir
    Path folder;

    private Checkout checkout;

    @BeforeEach
    void checkOut() throws IOException {
        checkout = new Checkout(folder.resolve("checkout"));
    }

    /** Changes environment variables; may create files in a directory. */
    @FunctionalInterface
    private interface Change {
        void apply(Map<String, String> variables, Path folder) throws IOException;
    }

    /** A peculiarity of a user's environment. */
    record Environment(String name, Change change) {
        @Override
        public String toString() {
            return name;
        }
    }

    static List<Environment> environments() {
        return List.of(
                new Environment("ordinary", (variables, folder) -> {}),
                new Environment(
                        "nearly empty",
                        (variables, folder) -> variables.keySet().retainAll(List.of("PATH", "JAVA_HOME", "NVCC"))),
                new Environment("no HOME", (variables, folder) -> variables.remove("HOME")),
                new Environment("CDPATH that makes cd print", (variables, folder) -> variables.put("CDPATH", ".")),
                new Environment("CDPATH with another checkout", LauncherTest::nameAnotherCheckout),
                new Environment("BASH_ENV that prints and sets IFS", LauncherTest::printBeforeEveryScript),
                new Environment(
                        "cd that is a function",
                        (variables, folder) ->
                                variables.put("BASH_FUNC_cd%%", "() { builtin cd \"$@\" && echo in $PWD; }")),
                new Environment(
                        "no temporary folder",
                        (variables, folder) -> variables.put(
                                "TMPDIR", folder.resolve("missing").toString())),
                new Environment(
                        "locale that is not installed", (variables, folder) -> variables.put("LANG", "xx_XX.UTF-8")),
                new Environment("POSIX mode", (variables, folder) -> variables.put("POSIXLY_CORRECT", "1")));
    }

    private static void nameAnotherCheckout(Map<String, String> variables, Path folder) throws IOException {
        Files.createDirectories(folder.resolve("other/tools"));
        variables.put("CDPATH", folder.resolve("other").toString());
    }

    private static void printBeforeEveryScript(Map<String, String> variables, Path folder) throws IOException {
        Path file = folder.resolve("bash_env");
        Files.writeString(file, "[ -n \"$GREETED\" ] && echo welcome again; export GREETED=1; IFS=/\n");
        variables.put("BASH_ENV", file.toString());
    }

    private Outcome launch(Map<String, String> environment, String... arguments) throws Exception {
        String[] command = new String[arguments.length + 1];
        command[0] = LAUNCHER;
        System.arraycopy(arguments, 0, command, 1, arguments.length);
        return checkout.run(environment, command);
    }

    private static void assertStarted(Outcome outcome, Path root) {
        String target = root + "/target/";
        assertThat(outcome.err()).doesNotContain("unbound", "No such file", "rror");
        assertThat(outcome.code()).isZero();
        assertThat(outcome.out())
                .startsWith("locale=")
                .contains("<-cp><" + target + "roseinfer.jar:" + target + "lib/*><io.roseinfer.cli.Main><doctor>")
                .hasLineCount(2);
    }

    @ParameterizedTest
    @MethodSource("environments")
    void launcher_starts_java_in_any_environment(Environment environment) throws Exception {
        checkout.built();
        Map<String, String> variables = checkout.environment();
        environment.change().apply(variables, folder);
        Outcome outcome = checkout.runIn(variables, LAUNCHER, "doctor");
        assertStarted(outcome, checkout.root());
        assertThat(outcome.err()).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("environments")
    void launcher_builds_first_in_any_environment(Environment environment) throws Exception {
        Map<String, String> variables = checkout.environment();
        environment.change().apply(variables, folder);
        assertStarted(checkout.runIn(variables, LAUNCHER, "doctor"), checkout.root());
        assertThat(checkout.path("mvn.log"))
                .content()
                .startsWith(checkout.root() + " ")
                .hasLineCount(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"a space", "žluťoučký 世界", "tools", "*", "-v", "a'quote"})
    void launcher_works_in_a_checkout_of_any_name(String name) throws Exception {
        checkout = new Checkout(folder.resolve(name));
        assertStarted(launch(Map.of(), "doctor"), checkout.root());
    }

    @Test
    void checkout_path_with_a_colon_is_rejected_with_the_reason() throws Exception {
        checkout = new Checkout(folder.resolve("a:b")).built();
        Outcome outcome = launch(Map.of(), "doctor");
        assertThat(outcome.code()).isEqualTo(1);
        assertThat(outcome.err()).contains("a:b", "colon").hasLineCount(1);
    }

    @Test
    void launcher_called_through_links_finds_its_checkout() throws Exception {
        checkout.built();
        Path bin = Files.createDirectories(folder.resolve("bin"));
        Files.createSymbolicLink(bin.resolve("near"), Path.of("../checkout/tools/roseinfer"));
        Files.createSymbolicLink(bin.resolve("far"), Path.of("near"));
        assertStarted(checkout.run(Map.of(), bin.resolve("far").toString(), "doctor"), checkout.root());
        String path = bin + ":" + checkout.environment().get("PATH");
        assertStarted(checkout.run(Map.of("PATH", path), "env", "near", "doctor"), checkout.root());
    }

    @Test
    void arguments_are_utf8_without_a_utf8_locale() throws Exception {
        checkout.built();
        assertThat(launch(Map.of()).out()).contains("locale=C.UTF-8\n");
        assertThat(launch(Map.of("LC_ALL", "C")).out()).contains("locale=C.UTF-8\n");
        assertThat(launch(Map.of("LANG", "de_DE.ISO-8859-1", "INSTALLED", "de_DE.ISO-8859-1"))
                        .out())
                .contains("locale=C.UTF-8\n");
        assertThat(launch(Map.of("LANG", "en_US.UTF-8")).out()).contains("locale=C.UTF-8\n");
    }

    @Test
    void installed_utf8_locale_is_kept() throws Exception {
        checkout.built();
        Map<String, String> german = Map.of("LANG", "de_DE.UTF-8", "INSTALLED", "de_DE.UTF-8");
        assertThat(launch(german).out()).contains("locale=\n");
    }

    @Test
    void custom_class_path_follows_the_builtin_one() throws Exception {
        String jars = checkout.root() + "/target/roseinfer.jar:" + checkout.root() + "/target/lib/*";
        assertThat(launch(Map.of("ROSEINFER_CLASSPATH", "mine.jar"), "doctor").out())
                .contains("<-cp><" + jars + ":mine.jar><io.roseinfer.cli.Main><doctor>");
    }

    @Test
    void additional_flags_are_split_at_spaces_without_expansion() throws Exception {
        checkout.built();
        assertThat(launch(Map.of("ROSEINFER_JAVA_OPTS", "-Xmx8g  -Da=pom*"), "doctor")
                        .out())
                .contains("<-Xmx8g><-Da=pom*><-cp>");
        assertThat(launch(Map.of("ROSEINFER_JAVA_OPTS", "pom*"), "doctor").out())
                .contains("<pom*><-cp>");
    }

    @ParameterizedTest
    @CsvSource({
        "serve, '', ZGC",
        "generate, '', SerialGC",
        "serve, -XX:+UseG1GC, G1GC",
        "generate, -Xmx8g -XX:+UseG1GC, G1GC"
    })
    void launcher_uses_the_collector_of_the_command_or_the_user(String command, String flags, String collector)
            throws Exception {
        checkout.built();
        assertThat(launch(Map.of("ROSEINFER_JAVA_OPTS", flags), command).out())
                .containsOnlyOnce("<-XX:+Use" + collector + ">")
                .containsOnlyOnce("<-XX:+Use");
    }

    private static final String USES_CLASS_DATA = "-XX:SharedArchiveFile=";
    private static final String MAKES_CLASS_DATA = "-XX:ArchiveClassesAtExit=";

    /** Installs a Java that logs its calls and creates the requested archive with this content. */
    private void archives(String content) throws IOException {
        checkout.executable("jdk/bin/java", """
                #!/bin/sh
                echo "$@" >> java.log
                for flag in "$@"; do
                    case $flag in -XX:ArchiveClassesAtExit=*) printf '%%s' '%s' > "${flag#*=}" ;; esac
                done
                printf '<%%s>' "$@"
                """.formatted(content));
    }

    private List<String> callsOfJava() throws IOException {
        return Files.readAllLines(checkout.path("java.log"));
    }

    @Test
    void java_starts_with_the_class_data_of_the_build() throws Exception {
        archives("classes");
        assertThat(launch(Map.of(), "doctor").out())
                .contains("<" + USES_CLASS_DATA + checkout.root() + "/target/roseinfer.jsa>")
                .contains("<-cp><" + checkout.root() + "/target/roseinfer.jar:")
                .doesNotContain(MAKES_CLASS_DATA);
    }

    @Test
    void missing_class_data_are_created_once() throws Exception {
        checkout.built();
        archives("classes");
        assertThat(launch(Map.of(), "doctor").out()).contains(USES_CLASS_DATA).doesNotContain(MAKES_CLASS_DATA);
        launch(Map.of(), "doctor");
        assertThat(callsOfJava())
                .hasSize(3)
                .filteredOn(call -> call.contains(MAKES_CLASS_DATA))
                .hasSize(1);
    }

    @Test
    void outdated_class_data_are_created_again() throws Exception {
        checkout.built();
        checkout.write("target/roseinfer.jsa", "of another jar");
        Files.setLastModifiedTime(checkout.path("target/roseinfer.jsa"), FileTime.fromMillis(0));
        archives("classes");
        launch(Map.of(), "doctor");
        assertThat(checkout.path("target/roseinfer.jsa")).hasContent("classes");
    }

    @Test
    void failed_class_data_creation_is_not_retried() throws Exception {
        checkout.built();
        checkout.executable(
                "jdk/bin/java",
                "#!/bin/sh\necho \"$@\" >> java.log\ncase $* in *ArchiveClassesAtExit*) exit 1 ;; esac\n");
        assertThat(launch(Map.of(), "doctor").code()).isZero();
        assertThat(launch(Map.of(), "doctor").code()).isZero();
        assertThat(callsOfJava()).hasSize(3).noneMatch(call -> call.contains(USES_CLASS_DATA));
    }

    @Test
    void read_only_checkout_starts_without_class_data() throws Exception {
        checkout.built();
        makeUnwritable();
        archives("classes");
        launch(Map.of(), "doctor");
        assertThat(callsOfJava()).singleElement().asString().doesNotContain(USES_CLASS_DATA, MAKES_CLASS_DATA);
    }

    @Test
    void unusable_class_data_are_ignored_silently() throws Exception {
        checkout.built();
        checkout.write("target/roseinfer.jsa", "not an archive");
        Files.setLastModifiedTime(
                checkout.path("target/roseinfer.jsa"),
                FileTime.from(Instant.now().plusSeconds(60)));
        checkout.executable(
                "jdk/bin/java",
                "#!/bin/sh\necho \"$@\" >> java.log\nexec '" + System.getProperty("java.home") + "/bin/java' \"$@\"\n");
        Outcome outcome = launch(Map.of("ROSEINFER_JAVA_OPTS", "--version"), "doctor");
        assertThat(checkout.path("java.log")).content().contains("-XX:SharedArchiveFile=");
        assertThat(outcome.out()).contains(Runtime.version().toString()).doesNotContain("archive", "cds");
        assertThat(outcome.err()).isEmpty();
    }

    /** Simulates a read-only checkout: even root cannot open a directory for writing. */
    private void makeUnwritable() throws IOException {
        Files.createDirectories(checkout.path("target/.build-lock"));
    }

    private void edit(String source) throws IOException {
        Files.setLastModifiedTime(
                checkout.path(source), FileTime.from(Instant.now().plusSeconds(60)));
    }

    @Test
    void outdated_read_only_checkout_runs_with_a_note() throws Exception {
        checkout.built();
        makeUnwritable();
        edit("src/main/java/A.java");
        Outcome outcome = launch(Map.of(), "doctor");
        assertStarted(outcome, checkout.root());
        assertThat(outcome.err()).contains("older state").hasLineCount(1);
    }

    @Test
    void read_only_checkout_without_a_jar_suggests_a_remedy() throws Exception {
        makeUnwritable();
        Outcome outcome = launch(Map.of(), "doctor");
        assertThat(outcome.code()).isEqualTo(1);
        assertThat(outcome.err()).contains("nothing is built", "writable").hasLineCount(1);
    }

    @Test
    void source_edited_during_the_build_is_built_next_time() throws Exception {
        checkout.editDuringBuild();
        launch(Map.of(), "doctor");
        Files.delete(checkout.path("during"));
        launch(Map.of(), "doctor");
        launch(Map.of(), "doctor");
        assertThat(checkout.path("mvn.log")).content().hasLineCount(2);
    }

    /** Maven compiles sources newer than their classes, so a class must not be newer than an edit it lacks. */
    @Test
    void source_edited_during_compilation_is_newer_than_its_class() throws Exception {
        checkout.editDuringBuild();
        launch(Map.of(), "doctor");
        assertThat(Files.getLastModifiedTime(checkout.path("src/main/java/A.java")))
                .isGreaterThan(Files.getLastModifiedTime(checkout.path("target/classes/A.class")));
    }

    @Test
    void sim_builds_a_source_edited_during_the_build_next_time() throws Exception {
        checkout.editDuringBuild();
        checkout.run(Map.of(), "tools/sim");
        Files.delete(checkout.path("during"));
        checkout.run(Map.of(), "tools/sim");
        checkout.run(Map.of(), "tools/sim");
        assertThat(checkout.path("mvn.log")).content().hasLineCount(2);
    }

    @Test
    void changed_dependency_version_replaces_the_library() throws Exception {
        checkout.write("libraries", "picocli-4.7.6.jar zstd-jni-1.5.7-9.jar");
        launch(Map.of(), "doctor");
        checkout.write("libraries", "picocli-4.7.7.jar zstd-jni-1.5.7-9.jar");
        edit("pom.xml");
        launch(Map.of(), "doctor");
        assertThat(checkout.path("target/lib").toFile().list())
                .containsExactlyInAnyOrder("picocli-4.7.7.jar", "zstd-jni-1.5.7-9.jar");
    }

    @Test
    void newer_native_source_is_built_again() throws Exception {
        checkout.write("native/a.c", "");
        checkout.built();
        assertThat(launch(Map.of(), "doctor").err()).doesNotContain("building");
        edit("native/a.c");
        assertThat(launch(Map.of(), "doctor").err()).contains("roseinfer: building");
    }

    @Test
    void build_prints_the_output_of_its_stages() throws Exception {
        assertThat(launch(Map.of(), "doctor").err()).doesNotContain("CPU alone");
        checkout.write("kernels/a.cu", "");
        assertThat(launch(Map.of(), "doctor").err())
                .containsPattern("roseinfer: +\\d+ s  NVCC is none")
                .contains("CPU alone");
    }

    @Test
    void build_without_a_gpu_says_once_that_it_has_no_kernels() throws Exception {
        assumeTrue(Files.notExists(Path.of("/dev/nvidiactl")), "a machine without a GPU");
        assumeTrue(Files.notExists(Path.of("/dev/dxg")), "a machine without a GPU");
        checkout.write("kernels/a.cu", "");
        assertThat(launch(Map.of("NVCC", ""), "doctor").err().lines())
                .filteredOn(line -> line.contains("kernels"))
                .singleElement(InstanceOfAssertFactories.STRING)
                .contains("this machine has no NVIDIA GPU", "CPU alone", "NVCC=nvcc");
    }

    @Test
    void build_prints_each_stage_with_the_elapsed_seconds() throws Exception {
        checkout.write("during", """
                echo '[INFO] Downloading from central: https://one'
                echo '[INFO] Downloading from central: https://two'
                echo '[INFO] Compiling 3 source files with javac [forked debug release 25] to target/classes'
                echo '[INFO] Building jar: target/roseinfer.jar'
                """);
        List<String> lines = launch(Map.of(), "doctor").err().lines().toList();
        assertThat(lines.getFirst()).startsWith("roseinfer: building; ");
        assertThat(lines.subList(1, lines.size()))
                .allMatch(line -> line.matches("roseinfer: +\\d+ s  .+"))
                .map(line -> line.replaceFirst(".*\\d s  ", ""))
                .filteredOn(line -> !line.contains("native library"))
                .containsExactly(
                        "downloading what Maven does not have yet",
                        "compiling 3 files of Java",
                        "packing the jar",
                        "recording the classes of a short run, for quicker starts",
                        "built");
    }

    @Test
    void failed_build_prints_only_errors() throws Exception {
        checkout.write("during", "echo '[INFO] fine so far'\necho '[ERROR] A.java: broken'\nexit 1\n");
        Outcome outcome = launch(Map.of(), "doctor");
        assertThat(outcome.code()).isEqualTo(1);
        assertThat(outcome.err())
                .contains("[ERROR] A.java: broken", "the build failed; all of it is in ")
                .doesNotContain("fine so far", "built");
    }

    private void git(String... arguments) throws Exception {
        String[] command = new String[arguments.length + 5];
        System.arraycopy(new String[] {"git", "-c", "user.name=a", "-c", "user.email=a@b"}, 0, command, 0, 5);
        System.arraycopy(arguments, 0, command, 5, arguments.length);
        assumeTrue(checkout.run(Map.of(), command).code() == 0, "git works here");
    }

    @Test
    void results_have_the_commit_of_the_checkout() throws Exception {
        checkout.built();
        git("init", "-q");
        git("add", "pom.xml");
        git("commit", "-q", "-m", "a");
        Path other = folder.resolve("other.git");
        git("init", "-q", "--bare", other.toString());
        String commit = checkout.run(Map.of(), "git", "rev-parse", "HEAD").out().strip();
        assertThat(launch(Map.of(), "bench", "--json", "a").out()).contains("<-Droseinfer.commit=" + commit);
        assertThat(launch(Map.of("GIT_DIR", other.toString()), "bench", "--json", "a")
                        .out())
                .contains("<-Droseinfer.commit=" + commit);
        for (String flag : List.of("--report", "--save-result", "--result-filename")) {
            assertThat(launch(Map.of(), "bench", "serve", flag, "a").out())
                    .as(flag)
                    .contains("<-Droseinfer.commit=" + commit);
        }
        assertThat(launch(Map.of(), "bench").out()).doesNotContain("commit");
    }

    @Test
    void checkout_inside_another_repository_has_no_commit() throws Exception {
        git("init", "-q", folder.toString());
        git("-C", folder.toString(), "commit", "-q", "--allow-empty", "-m", "a");
        checkout.built();
        assertThat(launch(Map.of(), "bench", "--json", "a").out()).doesNotContain("commit");
    }
}

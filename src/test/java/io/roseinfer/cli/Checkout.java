package io.roseinfer.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Element;
import org.w3c.dom.Node;

/**
 * A checkout with the real scripts, and stubs of the programs that they start: a {@code java} that prints its arguments, a
 * {@code locale} that knows a few locales, and a {@code mvn} that runs the steps of the real pom.xml and creates empty files instead
 * of Maven's own output.
 */
final class Checkout {
    private static final List<String> PHASES =
            List.of("initialize", "process-classes", "test-compile", "prepare-package", "package");

    /** Prints its working directory, its locale, and each argument in angle brackets. */
    private static final String JAVA = """
            #!/bin/sh
            echo "locale=${LC_ALL:-}"
            printf '<%s>' "$@"
            """;

    /** Knows C, C.UTF-8 and the locales in {@code INSTALLED}; prints ANSI_X3.4-1968, like the real one, for others. */
    private static final String LOCALE = """
            #!/bin/sh
            name=${LC_ALL:-${LC_CTYPE:-${LANG:-C}}}
            case " C.UTF-8 ${INSTALLED:-} " in
                *" $name "*) case $name in *UTF-8 | *utf8) echo UTF-8 ;; *) echo ISO-8859-1 ;; esac ;;
                *) echo ANSI_X3.4-1968 ;;
            esac
            """;

    private final Path root;
    private final Path stubs;

    /** Exit code and output of a script. */
    record Outcome(int code, String out, String err) {}

    Checkout(Path root) throws IOException {
        this.root = Files.createDirectories(root).toRealPath();
        this.stubs = Files.createDirectories(this.root.resolve("stubs"));
        copy(".mvn");
        copy("tools");
        Files.copy(Path.of("pom.xml"), path("pom.xml"));
        write("src/main/java/A.java", "");
        write("jdk/release", "JAVA_VERSION=\"25\"\nMODULES=\"java.base jdk.incubator.vector\"\n");
        executable(this.root.resolve("jdk/bin/java"), JAVA);
        executable(this.root.resolve("jdk/bin/javac"), "");
        executable(stubs.resolve("locale"), LOCALE);
        executable(stubs.resolve("mvn"), maven());
    }

    Path root() {
        return root;
    }

    /** Returns a file or directory of this checkout. */
    Path path(String name) {
        return root.resolve(name);
    }

    /** Creates the output of a build, newer than all sources. */
    Checkout built() throws IOException {
        write("target/lib/library-1.jar", "");
        write("target/roseinfer.jar", "");
        return this;
    }

    void write(String name, String content) throws IOException {
        Path file = path(name);
        Files.createDirectories(file.getParent());
        Files.writeString(file, content);
    }

    /** Edits a source file after Maven has read the sources. */
    void editDuringBuild() throws IOException {
        write("during", "until [ src/main/java/A.java -nt target/build.begun ]; do touch src/main/java/A.java; done\n");
    }

    /** Puts a program first on the search path. */
    void stub(String name, String script) throws IOException {
        executable(stubs.resolve(name), script);
    }

    /** Writes a program into this checkout. */
    void executable(String name, String content) throws IOException {
        executable(path(name), content);
    }

    static void executable(Path file, String content) throws IOException {
        Files.createDirectories(file.getParent());
        Files.writeString(file, content);
        assertThat(file.toFile().setExecutable(true)).isTrue();
    }

    /** Returns the environment of this process without the variables that scripts read, and with the stubs. */
    Map<String, String> environment() {
        Map<String, String> environment = new HashMap<>(System.getenv());
        environment
                .keySet()
                .removeIf(name -> name.startsWith("LC_") || name.startsWith("ROSEINFER_") || name.startsWith("GIT_"));
        environment.keySet().removeAll(List.of("LANG", "CDPATH", "BASH_ENV", "MAVEN_OPTS"));
        environment.put("PATH", stubs + ":" + System.getenv("PATH"));
        environment.put("JAVA_HOME", path("jdk").toString());
        environment.put("NVCC", "none");
        return environment;
    }

    /** Runs a command in this checkout's directory, with {@link #environment()} and additional variables. */
    Outcome run(Map<String, String> more, String... command) throws IOException, InterruptedException {
        Map<String, String> environment = environment();
        environment.putAll(more);
        return runIn(environment, command);
    }

    /** Runs a command in this checkout's directory, in exactly this environment. */
    Outcome runIn(Map<String, String> environment, String... command) throws IOException, InterruptedException {
        Path out = Files.createTempFile(stubs, "out", "");
        Path err = Files.createTempFile(stubs, "err", "");
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(root.toFile())
                .redirectOutput(out.toFile())
                .redirectError(err.toFile());
        builder.environment().clear();
        builder.environment().putAll(environment);
        Process process = builder.start();
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        return new Outcome(process.exitValue(), read(out), read(err));
    }

    private static String read(Path file) throws IOException {
        String text = Files.readString(file, StandardCharsets.UTF_8);
        Files.delete(file);
        return text;
    }

    /** Copies the files of a directory of the real checkout, without subdirectories. */
    void copy(String folder) throws IOException {
        Files.createDirectories(path(folder));
        try (Stream<Path> files = Files.list(Path.of(folder))) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                Files.copy(file, path(file.toString()));
            }
        }
    }

    /**
     * Returns a Maven that logs every call to {@code mvn.log}. Between "reading" sources and writing classes it runs the file
     * {@code during}, if there is one; the libraries it copies are the names in the file {@code libraries}.
     */
    private static String maven() throws IOException {
        StringBuilder script =
                new StringBuilder("#!/bin/sh -e\necho \"$PWD $*\" >> mvn.log\nmkdir -p target/classes target/lib\n");
        for (String phase : PHASES) {
            if (phase.equals("process-classes")) {
                script.append("[ ! -f during ] || sh during\n")
                        .append(
                                "until [ target/classes/A.class -nt src/main/java/A.java ]; do touch target/classes/A.class; done\n");
            }
            if (phase.equals("prepare-package")) {
                script.append("case $* in *package*) ;; *) exit 0 ;; esac\n")
                        .append("[ -f libraries ] || echo library-1.jar > libraries\n")
                        .append(": > target/lib.classpath\n")
                        .append("for jar in $(cat libraries); do touch target/lib/$jar;")
                        .append(" printf '/some where/%s:' $jar >> target/lib.classpath; done\n")
                        .append("touch target/roseinfer.jar\n");
            }
            steps(phase).forEach(step -> script.append(step).append('\n'));
        }
        return script.toString();
    }

    /** Returns the command lines of the pom's exec-maven-plugin in one phase, for a shell in the checkout's directory. */
    private static List<String> steps(String phase) throws IOException {
        List<String> steps = new ArrayList<>();
        for (Element execution : elements(pom(), "execution")) {
            List<Element> executable = elements(execution, "executable");
            if (!executable.isEmpty() && text(execution, "phase").equals(phase)) {
                List<String> words =
                        new ArrayList<>(List.of(executable.getFirst().getTextContent()));
                elements(execution, "argument").forEach(argument -> words.add(argument.getTextContent()));
                steps.add(String.join(" ", words)
                        .replace("${project.basedir}", ".")
                        .replace("${project.build.outputDirectory}", "target/classes")
                        .replace("${project.build.directory}", "target"));
            }
        }
        return steps;
    }

    private static Element pom() throws IOException {
        try (InputStream in = Files.newInputStream(Path.of("pom.xml"))) {
            return DocumentBuilderFactory.newInstance()
                    .newDocumentBuilder()
                    .parse(in)
                    .getDocumentElement();
        } catch (javax.xml.parsers.ParserConfigurationException | org.xml.sax.SAXException e) {
            throw new IOException(e);
        }
    }

    private static String text(Element parent, String name) {
        return elements(parent, name).stream()
                .map(Node::getTextContent)
                .findFirst()
                .orElse("");
    }

    private static List<Element> elements(Element parent, String name) {
        List<Element> elements = new ArrayList<>();
        var nodes = parent.getElementsByTagName(name);
        for (int i = 0; i < nodes.getLength(); i++) {
            elements.add((Element) nodes.item(i));
        }
        return elements;
    }
}

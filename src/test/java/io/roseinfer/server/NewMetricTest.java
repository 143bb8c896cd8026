package io.roseinfer.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Follows {@code adding-a-metric.md} with copies of its three files: the fact, the count, the name. */
class NewMetricTest {
    private static final Path PAGE = Path.of("src/site/markdown/adding-a-metric.md");
    private static final Path MAIN = Path.of("src/main/java/io/roseinfer");
    private static final Pattern CODE = Pattern.compile("(?s)```java\n(.*?)```");

    /** Serves more requests than the pool has blocks for, then compares the sum, the steps and the scraped text. */
    private static final String TRIAL = """
            package io.roseinfer.server;

            import io.roseinfer.backend.sim.SimOptions;
            import io.roseinfer.engine.GenerationRequest;
            import io.roseinfer.engine.TokenStream;
            import io.roseinfer.metrics.StepRecord.Fact;
            import java.util.List;
            import java.util.concurrent.CountDownLatch;
            import java.util.regex.Pattern;
            import java.util.stream.IntStream;

            public final class Trial implements java.util.function.Supplier<String> {
                public String get() {
                    CountDownLatch submitted = new CountDownLatch(1);
                    SimOptions waitsForAll = SimOptions.defaults().withOnStep(step -> await(submitted));
                    try (TestServer server = new TestServer(
                            TestServer.engineOptions().withKvBlocks(6), waitsForAll, TestServer.options())) {
                        List<TokenStream> streams = IntStream.range(0, 6)
                                .mapToObj(i -> GenerationRequest.ofTokens(i, 2, 3).withMaxNewTokens(60).withIgnoreEndOfText(true))
                                .map(server.engine::submit)
                                .toList();
                        submitted.countDown();
                        streams.forEach(TokenStream::completion);
                        long total = server.engine.stats().total(Fact.LOST_TOKENS);
                        long ofSteps = server.engine.steps().stream().mapToLong(step -> step.get(Fact.LOST_TOKENS)).sum();
                        List<String> printed = Pattern.compile("(?m)^roseinfer:lost_tokens_total\\\\{.*\\\\} (\\\\S+)$")
                                .matcher(server.get("/metrics").body())
                                .results()
                                .map(line -> line.group(1))
                                .toList();
                        return total > 0 && ofSteps == total && printed.equals(List.of(total + ".0"))
                                ? "all agree"
                                : total + " in all, " + ofSteps + " of steps, printed " + printed;
                    } catch (java.io.IOException e) {
                        throw new java.io.UncheckedIOException(e);
                    }
                }

                private static void await(CountDownLatch latch) {
                    try {
                        latch.await();
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                }
            }
            """;

    @TempDir
    private Path folder;

    private final List<JavaFileObject> sources = new ArrayList<>();

    private void add(String name, String text) {
        sources.add(new SimpleJavaFileObject(URI.create("string:///" + name), JavaFileObject.Kind.SOURCE) {
            @Override
            public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                return text;
            }
        });
    }

    /** Copies a source, with lines of the page inserted before a text that occurs once. */
    private void add(String file, String lines, String before) throws IOException {
        String text = Files.readString(MAIN.resolve(file));
        assertThat(text).as(file).containsOnlyOnce(before);
        add(Path.of(file).getFileName().toString(), text.replace(before, lines + before));
    }

    private List<String> compile() {
        DiagnosticCollector<JavaFileObject> found = new DiagnosticCollector<>();
        String classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        List<String> options = List.of("-d", folder.toString(), "-cp", classPath, "-proc:none", "-Xlint:none");
        boolean done = ToolProvider.getSystemJavaCompiler()
                .getTask(new StringWriter(), null, found, options, null, sources)
                .call();
        return done
                ? List.of()
                : found.getDiagnostics().stream().map(Object::toString).toList();
    }

    /** Reloads all classes of the project, preferring those that were compiled here. */
    private static final class Anew extends ClassLoader {
        private final Path folder;

        Anew(Path folder) {
            super(NewMetricTest.class.getClassLoader());
            this.folder = folder;
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            synchronized (getClassLoadingLock(name)) {
                return name.startsWith("io.roseinfer.") && findLoadedClass(name) == null
                        ? findClass(name)
                        : super.loadClass(name, resolve);
            }
        }

        @Override
        protected Class<?> findClass(String name) throws ClassNotFoundException {
            String file = name.replace('.', '/') + ".class";
            try (InputStream code = Files.exists(folder.resolve(file))
                    ? Files.newInputStream(folder.resolve(file))
                    : getParent().getResourceAsStream(file)) {
                if (code == null) {
                    throw new ClassNotFoundException(name);
                }
                byte[] bytes = code.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    @Test
    void metric_of_three_files_is_in_the_sums_in_the_steps_and_in_the_scraped_text() throws Exception {
        List<String> code = CODE.matcher(Files.readString(PAGE))
                .results()
                .map(MatchResult::group)
                .map(block -> CODE.matcher(block).replaceFirst("$1"))
                .toList();
        assertThat(code).hasSize(3);
        add("metrics/StepRecord.java", code.get(0), "/** The engine that ran the step");
        add("scheduler/BlockAllocator.java", code.get(1), "queues.restart(sequence);");
        add("server/ServerMetrics.java", code.get(2), "attachWaiting(engine);\n");
        add("Trial.java", TRIAL);
        assertThat(compile()).isEmpty();
        Supplier<?> trial = (Supplier<?>) new Anew(folder)
                .loadClass("io.roseinfer.server.Trial")
                .getConstructor()
                .newInstance();
        assertThat(trial.get()).isEqualTo("all agree");
    }
}

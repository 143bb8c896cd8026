package io.roseinfer.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.RecipeTrial;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Follows {@code add-a-metric.md} with copies of its three files: the fact, the count, the name. */
class NewMetricTest {
    private static final Path MAIN = Path.of("src/main/java/io/roseinfer");

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
                        long total = server.engine.stats().total(Fact.TRIAL_TOKENS);
                        long ofSteps = server.engine.steps().stream().mapToLong(step -> step.get(Fact.TRIAL_TOKENS)).sum();
                        List<String> printed = Pattern.compile("(?m)^roseinfer:trial_tokens_total\\\\{.*\\\\} (\\\\S+)$")
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

    /** Returns lines of the page with another name, so that the sources may already have the page's example. */
    private static String renamed(String lines) {
        return lines.replace("LOST_TOKENS", "TRIAL_TOKENS")
                .replace("lost_tokens", "trial_tokens")
                .replace("Lost Tokens", "Trial Tokens");
    }

    /** Copies a source, with lines of the page inserted before a text that occurs once. */
    private static void add(RecipeTrial trial, String file, String lines, String before) throws IOException {
        String name = Path.of(file).getFileName().toString();
        trial.add(name, Files.readString(MAIN.resolve(file)));
        trial.edit(name, before, lines + "\n" + before);
    }

    @Test
    void metric_of_three_files_is_in_the_sums_in_the_steps_and_in_the_scraped_text(@TempDir Path folder)
            throws Exception {
        RecipeTrial trial = new RecipeTrial(folder);
        List<String> code = RecipeTrial.blocks("how-to/add-a-metric.md").stream()
                .map(NewMetricTest::renamed)
                .toList();
        assertThat(code).hasSize(3);
        add(trial, "metrics/StepRecord.java", code.get(0), "/** The engine that ran the step");
        add(trial, "scheduler/BlockAllocator.java", code.get(1), "queues.restart(sequence);");
        add(trial, "server/ServerMetrics.java", code.get(2), "attachWaiting(engine);\n");
        trial.add("Trial.java", TRIAL);
        assertThat(trial.compile()).isEmpty();
        Supplier<?> made = (Supplier<?>) trial.make("io.roseinfer.server.Trial");
        assertThat(made.get()).isEqualTo("all agree");
    }
}

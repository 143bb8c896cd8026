package io.roseinfer.backend;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.backend.StepDriver.Sampled;
import io.roseinfer.backend.StepDriver.Sequence;
import io.roseinfer.backend.StepOutputs.Status;
import io.roseinfer.base.TokenMask;
import io.roseinfer.sampling.SampleRequest;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/** Compares samples that report a given token with samples that draw it because a mask allows no other. */
public final class ReportedSamples {
    private static final int LENGTH = 30;

    private ReportedSamples() {}

    /** Requires the reports of several rows, next to drawn samples, to be bit-identical to the drawn samples of shorter rows. */
    public static void assertEqualDrawn(ModelRunner runner) {
        int[] tokens = IntStream.range(0, LENGTH)
                .map(i -> (i * i * 5 + 3 * i) % Math.min(23, runner.spec().vocabularySize()))
                .toArray();
        StepDriver driver = new StepDriver(runner);
        Sampled drawn = driver.add(new Sequence(tokens), 9, true).step().getFirst();
        int[] wanted = wanted(tokens, drawn.tops());
        driver.add(new Sequence(tokens), 9, true);
        Sequence whole = new Sequence(tokens);
        for (int count : new int[] {11, LENGTH - 11}) {
            report(driver, whole, count, wanted);
            driver.add(new Sequence(tokens), 9, true);
            List<Sampled> samples = driver.step();
            List<Integer> ranks = IntStream.range(0, samples.size())
                    .mapToObj(driver.outputs::rank)
                    .toList();
            int first = whole.computed == count ? 1 : 0;
            assertThat(samples.getLast()).isEqualTo(drawn);
            for (int i = first; i < samples.size() - 1; i++) {
                int position = whole.computed - count + i - first;
                Sampled forced = forced(driver, Arrays.copyOf(tokens, position + 1), wanted[position]);
                assertThat(samples.get(i)).as("after token %d", position).isEqualTo(forced);
                int place = forced.tops().indexOf(wanted[position]);
                if (place >= 0) {
                    assertThat(ranks.get(i)).isEqualTo(place + 1);
                } else {
                    assertThat(ranks.get(i))
                            .isBetween(StepDriver.TOPS + 1, runner.spec().vocabularySize());
                }
            }
        }
    }

    /** Returns the token to report after each token: the next one, or one of the likely ones. */
    private static int[] wanted(int[] tokens, List<Integer> likely) {
        return IntStream.range(0, LENGTH)
                .map(i -> i % 3 == 2 || i == LENGTH - 1 ? likely.get(i % likely.size()) : tokens[i + 1])
                .toArray();
    }

    private static void report(StepDriver driver, Sequence sequence, int count, int... wanted) {
        driver.addSampling(sequence, count);
        int first = driver.inputs.tokens() - sequence.computed;
        for (int position = sequence.computed - count; position < sequence.computed; position++) {
            SampleRequest request = new SampleRequest(driver.params, driver.seed, sequence);
            driver.inputs.report(first + position, request, wanted[position]);
        }
    }

    private static Sampled forced(StepDriver driver, int[] tokens, int token) {
        driver.add(new Sequence(tokens), tokens.length, true)
                .inputs
                .mask(TokenMask.of(driver.runner.spec().vocabularySize(), List.of(token)));
        Sampled forced = driver.step().getFirst();
        assertThat(forced.status()).isEqualTo(Status.OK);
        assertThat(forced.token()).isEqualTo(token);
        return forced;
    }
}

package io.roseinfer.backend;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.backend.StepDriver.Sampled;
import io.roseinfer.backend.StepDriver.Sequence;
import io.roseinfer.backend.StepOutputs.Status;
import io.roseinfer.base.TokenMask;
import java.util.List;

/** Checks a runner's masks and biases by the most likely tokens that it reports. */
public final class ConstrainedSamples {
    private static final int[] PROMPT = {3, 1, 4, 1, 5, 9, 2, 6};

    private ConstrainedSamples() {}

    /**
     * Requires a greedy sample to be the most likely allowed token, with the log-probabilities of the unconstrained sample, next to
     * unconstrained samples and in the middle of a row.
     */
    public static void assertMostLikelyAllowedToken(ModelRunner runner) {
        StepDriver driver = new StepDriver(runner);
        Sampled free = alone(driver);
        List<Integer> tops = free.tops();
        TokenMask allButFirst = all(runner);
        allButFirst.forbid(tops.getFirst());
        TokenMask onlyThird = TokenMask.of(runner.spec().vocabularySize(), List.of(tops.get(2)));
        for (int step = 0; step < 2; step++) {
            driver.addSampling(new Sequence(PROMPT), PROMPT.length, 2, 4, PROMPT.length - 1);
            driver.inputs.mask(allButFirst);
            sampleAlone(driver).inputs.mask(onlyThird);
            sampleAlone(driver);
            sampleAlone(driver).inputs.mask(allButFirst);
            driver.inputs.bias(tops.get(1), Float.NEGATIVE_INFINITY);
            sampleAlone(driver).inputs.bias(tops.getFirst(), Float.NEGATIVE_INFINITY);
            List<Sampled> samples = driver.step();
            assertThat(samples.subList(2, samples.size()).stream().map(Sampled::token))
                    .containsExactly(tops.get(1), tops.get(2), tops.getFirst(), tops.get(2), tops.get(1));
            for (Sampled sampled : samples.subList(2, samples.size())) {
                assertThat(sampled.tops()).isEqualTo(tops);
                assertThat(sampled.logprobs()).isEqualTo(free.logprobs());
                assertThat(sampled.status()).isEqualTo(Status.OK);
            }
        }
    }

    /** Requires a finite bias to make an unlikely token the most likely. */
    public static void assertBiasesAreAdded(ModelRunner runner) {
        StepDriver driver = new StepDriver(runner);
        Sampled free = alone(driver);
        int unlikely = free.tops().getLast();
        sampleAlone(driver).inputs.bias(unlikely, 100);
        driver.inputs.bias(free.tops().get(1), 1);
        Sampled biased = driver.step().getFirst();
        assertThat(biased.token()).isEqualTo(unlikely);
        assertThat(biased.logprob()).isEqualTo(free.logprobs().getLast());
        assertThat(biased.logprobs()).isEqualTo(free.logprobs());
    }

    /** Requires a sample without an allowed token to fail alone. */
    public static void assertNoAllowedToken(ModelRunner runner) {
        StepDriver driver = new StepDriver(runner);
        Sampled free = alone(driver);
        TokenMask nothing = new TokenMask(runner.spec().vocabularySize());
        sampleAlone(driver).inputs.mask(nothing);
        sampleAlone(driver);
        sampleAlone(driver).inputs.mask(TokenMask.of(runner.spec().vocabularySize(), List.of(7)));
        driver.inputs.bias(7, Float.NEGATIVE_INFINITY);
        List<Sampled> samples = driver.step();
        assertThat(samples.stream().map(Sampled::status))
                .containsExactly(Status.NO_ALLOWED_TOKEN, Status.OK, Status.NO_ALLOWED_TOKEN);
        assertThat(samples.get(1)).isEqualTo(free);
    }

    private static TokenMask all(ModelRunner runner) {
        TokenMask mask = new TokenMask(runner.spec().vocabularySize());
        for (int token = 0; token < mask.vocabularySize(); token++) {
            mask.allow(token);
        }
        return mask;
    }

    private static StepDriver sampleAlone(StepDriver driver) {
        return driver.add(new Sequence(PROMPT), PROMPT.length, true);
    }

    private static Sampled alone(StepDriver driver) {
        return sampleAlone(driver).step().getFirst();
    }
}

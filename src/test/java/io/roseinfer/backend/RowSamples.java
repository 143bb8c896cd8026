package io.roseinfer.backend;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.backend.StepDriver.Sampled;
import io.roseinfer.backend.StepDriver.Sequence;
import io.roseinfer.sampling.SamplingParams;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/** Compares the samples in the middle of a row with runs that have only the tokens up to there. */
public final class RowSamples {
    /** Tokens of a sequence. */
    private static final int LENGTH = 37;

    /** Those of its prompt; the others are its completion. */
    private static final int PROMPT = 9;

    /** Limits of a runner that these checks drive. */
    public static final RunnerLimits LIMITS = new RunnerLimits(6, 64, 16, 512).withMaxSamples(64);

    private RowSamples() {}

    /** Returns parameters that use each input of a sample: argmax, random number, tokens so far, log-probabilities. */
    public static List<SamplingParams> params() {
        SamplingParams penalized = SamplingParams.greedy()
                .withRepetitionPenalty(1.4f)
                .withPresencePenalty(0.6f)
                .withFrequencyPenalty(0.9f);
        return List.of(
                SamplingParams.greedy().withLogprobs(StepDriver.TOPS),
                SamplingParams.random().withTopK(20).withLogprobs(3),
                penalized.withLogprobs(0),
                penalized.withTemperature(1.3f).withTopP(0.9f).withLogprobs(5));
    }

    /**
     * Requires each of several samples in one row to be bit-identical to the only sample of a shorter row.
     *
     * @param chunks tokens of the sequence in each step; two of three are sampled
     */
    public static void assertEachEqualsItsPrefix(ModelRunner runner, int... chunks) {
        int[] tokens = IntStream.range(0, LENGTH)
                .map(i -> (i * i * 5 + 3 * i) % Math.min(23, runner.spec().vocabularySize()))
                .toArray();
        for (SamplingParams params : params()) {
            StepDriver driver = new StepDriver(runner);
            driver.params = params;
            Sequence whole = sequence(tokens);
            for (int chunk : chunks) {
                int[] sampled = IntStream.range(whole.computed, whole.computed + chunk)
                        .filter(position -> position % 3 != 1)
                        .toArray();
                driver.add(sequence(tokens), 5, false);
                driver.addSampling(whole, chunk, sampled).add(sequence(tokens), 7, true);
                List<Sampled> samples = driver.step();
                assertThat(samples).hasSize(sampled.length + 1);
                for (int i = 0; i < sampled.length; i++) {
                    assertThat(samples.get(i))
                            .as("%s after token %d", params, sampled[i])
                            .isEqualTo(alone(driver, Arrays.copyOf(tokens, sampled[i] + 1)));
                }
                assertThat(samples.getLast()).isEqualTo(alone(driver, Arrays.copyOf(tokens, 7)));
            }
        }
    }

    /**
     * Requires the samples of a row that begins with a token still on the device, followed by known ones, to be bit-identical to the samples
     * of the same row with known tokens. The runner must allow two steps in flight.
     */
    public static void assertTokensAfterOneOnTheDevice(ModelRunner runner) {
        int[] prompt = {3, 1, 4, 1, 5};
        int[] drafts = {1, 2};
        for (SamplingParams params : params()) {
            StepDriver driver = new StepDriver(runner);
            driver.params = params;
            Sampled first = alone(driver, prompt);
            Sequence sequence = new Sequence(prompt);
            StepInputs before = runner.newInputs();
            before.clear();
            StepOutputs sampledBefore = runner.newOutputs();
            driver.addTo(before, sequence, prompt.length, prompt.length - 1);
            sequence.append(~0);
            for (int draft : drafts) {
                sequence.append(draft);
            }
            driver.addSampling(sequence, 3, 5, 6, 7);
            runner.submit(before, sampledBefore);
            List<Sampled> samples = driver.step(runner::await);
            assertThat(sampledBefore.token(0)).isEqualTo(first.token());
            for (int i = 0; i < samples.size(); i++) {
                int[] known = Arrays.copyOf(prompt, prompt.length + 1 + i);
                known[prompt.length] = first.token();
                System.arraycopy(drafts, 0, known, prompt.length + 1, i);
                assertThat(samples.get(i)).as("%s, sample %d", params, i).isEqualTo(alone(driver, known));
            }
        }
    }

    private static Sequence sequence(int[] tokens) {
        return new Sequence(tokens).withPrompt(PROMPT);
    }

    private static Sampled alone(StepDriver driver, int[] tokens) {
        return driver.add(sequence(tokens), tokens.length, true).step().getFirst();
    }
}

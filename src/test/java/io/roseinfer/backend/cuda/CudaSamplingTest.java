package io.roseinfer.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.Precision;
import io.roseinfer.backend.StepDriver;
import io.roseinfer.backend.StepDriver.Sampled;
import io.roseinfer.backend.StepDriver.Sequence;
import io.roseinfer.backend.StepOutputs.Status;
import io.roseinfer.base.Clock;
import io.roseinfer.golden.Golden;
import io.roseinfer.golden.GoldenLogits;
import io.roseinfer.model.files.ModelFiles;
import io.roseinfer.sampling.OneSample;
import io.roseinfer.sampling.SampleRequest;
import io.roseinfer.sampling.Sampler;
import io.roseinfer.sampling.SamplingParams;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Compares the device's samples and log-probabilities with the reference sampler over the same logits. */
@RequiresCuda
class CudaSamplingTest {
    /** Seed of the requests of {@link StepDriver}. */
    private static final long SEED = 7;

    private static final int STEPS = 12;
    private static final int TOPS = SamplingParams.MAX_LOGPROBS;

    static Stream<Arguments> ways() {
        List<SamplingParams> ways = List.of(
                SamplingParams.greedy(),
                SamplingParams.random(),
                SamplingParams.greedy().withTemperature(0.7f).withTopK(5),
                SamplingParams.greedy().withTemperature(1.2f).withTopP(0.8f),
                SamplingParams.greedy().withTemperature(0.02f).withTopK(40),
                SamplingParams.greedy().withTemperature(1.5f).withTopK(40).withMinP(0.2f),
                SamplingParams.greedy().withTemperature(30).withTopK(1500).withTopP(0.99f),
                SamplingParams.greedy().withTemperature(0.9f).withMinP(0.05f).withRepetitionPenalty(1.4f),
                SamplingParams.greedy()
                        .withRepetitionPenalty(1.3f)
                        .withPresencePenalty(0.5f)
                        .withFrequencyPenalty(0.25f),
                SamplingParams.random()
                        .withTopK(50)
                        .withTopP(0.9f)
                        .withMinP(0.01f)
                        .withRepetitionPenalty(0.9f)
                        .withPresencePenalty(-0.4f)
                        .withFrequencyPenalty(0.6f));
        return Stream.of("gpt2-random", "builtin-tiny")
                .flatMap(model -> ways.stream().map(way -> Arguments.of(model, way.withLogprobs(TOPS))));
    }

    @ParameterizedTest
    @MethodSource("ways")
    void tokens_and_logprobs_match_the_reference_sampler(String model, SamplingParams params) {
        Golden golden = Golden.read(model);
        try (ModelFiles files = golden.open();
                CudaBackend backend =
                        CudaBackend.open(CudaOptions.defaults().withPrecision(Precision.FP16), Clock.system());
                StepDriver driver = new StepDriver(
                        backend.load(files.spec(), files.weights(), GoldenLogits.limits(files.spec())))) {
            driver.params = params;
            Sequence sequence = new Sequence(golden.ids(0));
            for (int step = 0; step < STEPS; step++) {
                Sampled seen = driver.add(sequence, sequence.tokens.length - sequence.computed, true)
                        .step()
                        .getFirst();
                Sampled wanted = reference(driver.runner, params, sequence);
                assertThat(seen.token()).as("token of step %d", step).isEqualTo(wanted.token());
                assertThat(seen.tops())
                        .as("most likely tokens of step %d", step)
                        .isEqualTo(wanted.tops());
                assertThat(seen.logprob()).isCloseTo(wanted.logprob(), within(1e-4f));
                for (int rank = 0; rank < wanted.logprobs().size(); rank++) {
                    assertThat(seen.logprobs().get(rank))
                            .isCloseTo(wanted.logprobs().get(rank), within(1e-4f));
                }
                sequence.append(seen.token());
            }
        }
    }

    private static Sampled reference(ModelRunner runner, SamplingParams params, Sequence sequence) {
        float[] raw = CudaProbe.logits(runner, 0);
        Sampler sampler = new Sampler(raw.length);
        int token = sampler.sample(
                raw.clone(), 0, OneSample.of(new SampleRequest(params, SEED, sequence), sequence.length()));
        float normalizer = sampler.logSumExp(raw, 0);
        int[] tops = new int[Math.min(TOPS, raw.length)];
        sampler.top(raw, 0, tops.length, tops);
        List<Integer> tokens = new ArrayList<>();
        List<Float> logprobs = new ArrayList<>();
        for (int top : tops) {
            tokens.add(top);
            logprobs.add(raw[top] - normalizer);
        }
        return new Sampled(Status.OK, token, raw[token] - normalizer, tokens, logprobs);
    }
}

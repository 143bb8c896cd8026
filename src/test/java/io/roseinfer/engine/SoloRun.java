package io.roseinfer.engine;

import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.StepInputs;
import io.roseinfer.backend.StepOutputs;
import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.backend.sim.SimRunner;
import io.roseinfer.engine.GeneratedToken.TopToken;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.sampling.SampleRequest;
import io.roseinfer.sampling.TokenHistory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The oracle: the result of a request that the device serves alone. It uses one row and one block as long as the
 * context, without the project's scheduler, pool or loop.
 */
final class SoloRun implements AutoCloseable {
    private static final TokenHistory UNREAD = new TokenHistory() {
        @Override
        public int promptLength() {
            return 0;
        }

        @Override
        public int length() {
            return 0;
        }

        @Override
        public int token(int index) {
            throw new AssertionError("the simulated device reads no history");
        }
    };

    private static final int[] ONE_BLOCK = {0};

    private final SimRunner device;
    private final StepInputs inputs;
    private final StepOutputs outputs;
    private final ModelSpec spec;

    SoloRun(SimulationSettings settings) {
        this(settings.spec(), settings.seed());
    }

    /** Creates a device. */
    SoloRun(ModelSpec spec, long deviceSeed) {
        this.spec = spec;
        int context = spec.contextLength();
        device = new SimRunner(
                spec,
                new RunnerLimits(1, context, context, 1),
                SimOptions.defaults().withSeed(deviceSeed));
        inputs = device.newInputs();
        outputs = device.newOutputs();
    }

    /** Returns the completion's ids, including an end-of-text token that ends it. */
    int[] ids(int[] prompt, GenerationRequest request, long seed) {
        return tokens(prompt, request, seed).stream()
                .mapToInt(GeneratedToken::id)
                .toArray();
    }

    /** Returns the completion's tokens without text, with the requested log-probabilities. */
    List<GeneratedToken> tokens(int[] prompt, GenerationRequest request, long seed) {
        int most = Math.min(spec.contextLength() - prompt.length, request.maxNewTokens());
        int[] tokens = Arrays.copyOf(prompt, prompt.length + most);
        SampleRequest sampling = new SampleRequest(request.sampling(), seed, UNREAD);
        List<GeneratedToken> completion = new ArrayList<>();
        int computed = 0;
        for (int length = prompt.length; length < tokens.length; length++) {
            GeneratedToken next = next(tokens, computed, length, sampling);
            completion.add(next);
            tokens[length] = next.id();
            computed = length;
            if (!request.ignoreEndOfText() && spec.endOfText().contains(tokens[length])) {
                break;
            }
        }
        return completion;
    }

    private GeneratedToken next(int[] tokens, int from, int to, SampleRequest sampling) {
        inputs.clear();
        inputs.beginRow(from, ONE_BLOCK);
        for (int position = from; position < to; position++) {
            inputs.addToken(tokens[position]);
        }
        inputs.endRow();
        inputs.sample(inputs.tokens() - 1, sampling);
        device.submit(inputs, outputs);
        device.await();
        int alternatives = sampling.params().logprobs();
        List<TopToken> top = IntStream.range(0, Math.min(spec.vocabularySize(), Math.max(0, alternatives)))
                .mapToObj(rank -> new TopToken(outputs.topToken(0, rank), outputs.topLogprob(0, rank)))
                .toList();
        return new GeneratedToken(outputs.token(0), "", alternatives < 0 ? Float.NaN : outputs.logprob(0), top);
    }

    @Override
    public void close() {
        device.close();
    }
}

package io.roseinfer.bench.load;

import io.roseinfer.base.Limits;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.SplitMix64;
import io.roseinfer.engine.Prompt;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;

/**
 * The dataset {@code random}: prompts of random token ids. Lengths are uniform in {@code [length · (1 − ratio), length · (1 + ratio)]}.
 *
 * @param inputTokens mean prompt length after the prefix
 * @param outputTokens mean output length
 * @param rangeRatio relative deviation of lengths, in [0, 1)
 * @param prefixTokens length of the prefix shared by all prompts
 * @param vocabularySize exclusive upper bound of ids
 * @param seed the same seed gives the same requests
 */
public record RandomPrompts(
        int inputTokens, int outputTokens, double rangeRatio, int prefixTokens, int vocabularySize, long seed) {
    private static final long LENGTHS = 2;
    private static final long PREFIX = 3;
    private static final long IDS = 4;
    private static final long PREDICTIONS = 9;
    private static final Tenant NO_TENANT =
            new Tenant(1, OptionalInt.empty(), OptionalInt.empty(), OfferedRequest.Traits.NONE);

    public RandomPrompts {
        if (!(rangeRatio >= 0 && rangeRatio < 1)) {
            throw new BadInput("--random-range-ratio is " + rangeRatio + "; it must be 0 or more and below 1");
        }
        if (inputTokens * (1 + rangeRatio) + prefixTokens > Limits.PROMPT_CHARS) {
            throw new BadInput("--random-input-len and --random-prefix-len make prompts of "
                    + (inputTokens + (long) prefixTokens) + " tokens; at most " + Limits.PROMPT_CHARS + " are allowed");
        }
    }

    /** Returns {@code count} requests, all scheduled at the start. */
    public List<OfferedRequest> requests(int count) {
        return requests(count, List.of());
    }

    /**
     * Returns {@code count} requests, all scheduled at the start, with the traits and mean lengths of tenants.
     *
     * @param tenants drawn by their shares; may be empty
     */
    public List<OfferedRequest> requests(int count, List<Tenant> tenants) {
        RandomStream lengths = new RandomStream(seed, LENGTHS);
        List<Tenant> drawn = tenants.isEmpty() ? List.of() : Tenant.draw(tenants, count, seed);
        List<OfferedRequest> requests = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Tenant tenant = drawn.isEmpty() ? NO_TENANT : drawn.get(i);
            int input = length(tenant.inputTokens().orElse(inputTokens), lengths);
            int output = length(tenant.outputTokens().orElse(outputTokens), lengths);
            requests.add(
                    OfferedRequest.of(0, new Source(this, i, input), output).withTraits(tenant.traits()));
        }
        return requests;
    }

    /**
     * Returns requests with a prediction of their lengths for policies.
     *
     * @param deviation standard deviation of the logarithm of prediction / length; 0 predicts exactly
     */
    public static List<OfferedRequest> predicted(List<OfferedRequest> requests, double deviation, long seed) {
        RandomStream draws = new RandomStream(seed, PREDICTIONS);
        return requests.stream()
                .map(request -> {
                    double predicted = request.outputTokens() * StrictMath.exp(deviation * draws.normal());
                    int tokens = Math.clamp(Math.round(predicted), 1, request.maxTokens());
                    return request.withTraits(request.traits().withPredictedTokens(tokens));
                })
                .toList();
    }

    private int length(int mean, RandomStream lengths) {
        int least = Math.max(1, (int) Math.floor(mean * (1 - rangeRatio)));
        return lengths.between(least, (int) Math.ceil(mean * (1 + rangeRatio)));
    }

    /**
     * The prompt of a request.
     *
     * @param length tokens after the prefix
     */
    private record Source(RandomPrompts prompts, int request, int length) implements PromptSource {
        @Override
        public Prompt prompt() {
            return new Prompt.Tokens(prompts.ids(request, length));
        }

        @Override
        public int tokens() {
            return prompts.prefixTokens + length;
        }
    }

    private int[] ids(int request, int length) {
        long own = SplitMix64.at(SplitMix64.at(seed, IDS), request);
        long shared = SplitMix64.at(seed, PREFIX);
        int[] ids = new int[prefixTokens + length];
        for (int i = 0; i < ids.length; i++) {
            ids[i] = id(i < prefixTokens ? shared : own, i, vocabularySize);
        }
        return ids;
    }

    /** Returns an id of a reproducible sequence. */
    static int id(long key, int index, int vocabularySize) {
        return (int) (SplitMix64.uniform(key, index) * vocabularySize);
    }
}

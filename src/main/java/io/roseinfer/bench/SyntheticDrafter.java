package io.roseinfer.bench;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.SplitMix64;
import io.roseinfer.sampling.TokenHistory;
import io.roseinfer.scheduler.policy.Drafter;
import io.roseinfer.scheduler.policy.PolicyRequest;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntBinaryOperator;

/**
 * A drafter with a given acceptance, to measure what drafts of some quality gain. It learns the completion of each prompt, and drafts it
 * when the prompt comes again, with wrong tokens in between. So a run needs a run of the same requests before it, greedy or with seeds.
 * The tokens of a simulated device follow from each other ({@link #withNextToken}), so there every draft can be right at once. Drafts are
 * verified as all others are.
 *
 * <p>Thread-safe. Keeps all completions in memory.
 */
public final class SyntheticDrafter implements Drafter {
    private static final int INITIAL_TOKENS = 256;

    private final double[] rates;
    private final Optional<IntBinaryOperator> nextToken;
    private final Map<Long, Completion> completions = new ConcurrentHashMap<>();

    /**
     * Creates a drafter from the argument of {@code --speculate}.
     *
     * @param rates for each draft of a row, the probability that it is accepted if those before it are; such as {@code 0.8/0.7/0.6}
     * @throws BadInput if a rate is not in [0, 1], or there are none or too many
     */
    public SyntheticDrafter(String rates) {
        this(
                Arrays.stream(rates.split("/", -1))
                        .mapToDouble(SyntheticDrafter::rate)
                        .toArray(),
                Optional.empty());
    }

    private SyntheticDrafter(double[] rates, Optional<IntBinaryOperator> nextToken) {
        BadInput.require(
                rates.length < MAX_ROW_TOKENS, "acceptance rates", rates.length, "1 to " + (MAX_ROW_TOKENS - 1));
        this.rates = rates;
        this.nextToken = nextToken;
    }

    /**
     * Returns a drafter that learns nothing, as it knows each request's tokens beforehand.
     *
     * @param next returns the token after a token and the number of tokens up to it
     */
    public SyntheticDrafter withNextToken(IntBinaryOperator next) {
        return new SyntheticDrafter(rates, Optional.of(next));
    }

    private static double rate(String text) {
        try {
            double rate = Double.parseDouble(text);
            if (rate >= 0 && rate <= 1) {
                return rate;
            }
        } catch (NumberFormatException e) {
            throw new BadInput("an acceptance rate is '" + text + "'; it must be a number from 0 to 1", e);
        }
        throw new BadInput("an acceptance rate is " + text + "; it must be a number from 0 to 1");
    }

    @Override
    public int maxTokens() {
        return rates.length;
    }

    @Override
    public Drafts newDrafts(PolicyRequest request) {
        return new Request();
    }

    @Override
    public String toString() {
        return "synthetic:"
                + String.join(
                        "/", Arrays.stream(rates).mapToObj(Double::toString).toList());
    }

    /** The known tokens of a prompt's completion. */
    private static final class Completion {
        private int[] tokens = new int[INITIAL_TOKENS];
        private int length;

        synchronized void learn(TokenHistory history) {
            int prompt = history.promptLength();
            for (int i = length; i < history.length() - prompt; i++) {
                if (i == tokens.length) {
                    tokens = Arrays.copyOf(tokens, 2 * i);
                }
                tokens[i] = history.token(prompt + i);
                length = i + 1;
            }
        }

        /** Copies up to {@code max} tokens from {@code from} on; returns their number. */
        synchronized int copy(int from, int max, int[] into) {
            int count = Math.clamp(length - from, 0, max);
            System.arraycopy(tokens, from, into, 0, count);
            return count;
        }
    }

    private final class Request implements Drafts {
        private boolean started;
        private long prompt;
        private Completion completion = new Completion();

        @Override
        public int propose(TokenHistory tokens, int max, int[] into) {
            if (!started) {
                started = true;
                for (int i = 0; i < tokens.promptLength(); i++) {
                    prompt = SplitMix64.mix(prompt * 31 + tokens.token(i));
                }
                if (nextToken.isEmpty()) {
                    completion = completions.computeIfAbsent(prompt, key -> new Completion());
                }
            }
            int from = tokens.length() - tokens.promptLength();
            int count = nextToken.isPresent()
                    ? follow(nextToken.get(), tokens, max, into)
                    : learnAndCopy(tokens, from, max, into);
            for (int i = 0; i < count; i++) {
                boolean isRight = SplitMix64.uniform(prompt + i, from) < rates[i];
                into[i] = isRight ? into[i] : into[i] == 0 ? 1 : into[i] - 1;
            }
            return count;
        }

        private int learnAndCopy(TokenHistory tokens, int from, int max, int[] into) {
            completion.learn(tokens);
            return completion.copy(from, max, into);
        }

        private static int follow(IntBinaryOperator next, TokenHistory tokens, int max, int[] into) {
            int last = tokens.token(tokens.length() - 1);
            for (int i = 0; i < max; i++) {
                last = next.applyAsInt(last, tokens.length() + i);
                into[i] = last;
            }
            return max;
        }
    }
}

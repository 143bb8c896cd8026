import io.roseinfer.Roseinfer;
import io.roseinfer.engine.Completion;
import io.roseinfer.engine.Engine;
import io.roseinfer.engine.GeneratedToken;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.engine.TokenStream;
import io.roseinfer.sampling.SamplingParams;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;

/**
 * The effect of sampling parameters on the built-in model: each setting runs the same prompt with seeds 0, 1, 2…, all in one batch. The
 * table has the mean natural log-probability of a token and the share of distinct texts. A request's seed decides its tokens
 * regardless of the batch, so the table is the same every time.
 *
 * <p>{@code tools/examples/run SamplerStudy}
 */
final class SamplerStudy {
    private static final int SAMPLES = 16;
    private static final int TOKENS = 16;

    private SamplerStudy() {}

    public static void main(String[] args) {
        try (Engine engine = Roseinfer.open("builtin:tiny")) {
            System.out.printf(Locale.ROOT, "%-28s%10s%18s%18s%n", "", "logprob", "different texts", "different tokens");
            study(engine, "greedy", SamplingParams.greedy());
            for (float temperature : new float[] {0.4f, 0.8f, 1.2f, 1.6f}) {
                study(
                        engine,
                        "temperature " + temperature,
                        SamplingParams.random().withTemperature(temperature));
            }
            SamplingParams hot = SamplingParams.random().withTemperature(1.6f);
            study(engine, "temperature 1.6, top-k 5", hot.withTopK(5));
            study(engine, "temperature 1.6, top-p 0.8", hot.withTopP(0.8f));
            study(engine, "temperature 1.6, min-p 0.1", hot.withMinP(0.1f));
        }
    }

    private static void study(Engine engine, String name, SamplingParams sampling) {
        GenerationRequest request = GenerationRequest.of("Once upon a time")
                .withMaxNewTokens(TOKENS)
                .withSampling(sampling.withLogprobs(0));
        List<TokenStream> streams = IntStream.range(0, SAMPLES)
                .mapToObj(seed -> engine.submit(request.withSeed(seed)))
                .toList();
        List<Completion> completions =
                streams.stream().map(TokenStream::completion).toList();
        List<GeneratedToken> tokens = completions.stream()
                .flatMap(completion -> completion.tokens().stream())
                .toList();
        double logprob =
                tokens.stream().mapToDouble(GeneratedToken::logprob).average().orElseThrow();
        long texts = completions.stream().map(Completion::text).distinct().count();
        long ids = tokens.stream().mapToInt(GeneratedToken::id).distinct().count();
        System.out.printf(Locale.ROOT, "%-28s%10.3f%18d%18d%n", name, logprob, texts, ids);
    }
}

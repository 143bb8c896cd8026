import io.roseinfer.Roseinfer;
import io.roseinfer.engine.Completion;
import io.roseinfer.engine.Engine;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.engine.TokenStream;
import io.roseinfer.sampling.SamplingParams;

/**
 * The library in a few lines: opens a model and submits two requests to one batch, one read token by token, the other when complete.
 *
 * <p>{@code tools/examples/run Hello}
 */
final class Hello {
    private Hello() {}

    public static void main(String[] args) {
        try (Engine engine = Roseinfer.open("builtin:tiny")) {
            TokenStream story =
                    engine.submit(GenerationRequest.of("Once upon a time").withMaxNewTokens(24));
            TokenStream other = engine.submit(GenerationRequest.of("The lighthouse")
                    .withMaxNewTokens(24)
                    .withSampling(SamplingParams.random().withTemperature(0.8f).withTopK(40))
                    .withSeed(7));

            System.out.print("Once upon a time");
            story.forEachRemaining(token -> System.out.print(token.text()));
            System.out.println();

            Completion completion = other.completion();
            System.out.println("The lighthouse" + completion.text().orElseThrow());
            System.out.println(completion.tokens().size() + " tokens, ended by " + completion.finishReason());
        }
    }
}

import io.roseinfer.Roseinfer;
import io.roseinfer.engine.Completion;
import io.roseinfer.engine.Engine;
import io.roseinfer.engine.GenerationRequest;

/** The smallest program on the library. */
final class Hello {
    private Hello() {}

    public static void main(String[] args) {
        try (Engine engine = Roseinfer.open("builtin:tiny")) {
            Completion completion =
                    engine.generate(GenerationRequest.of("Once upon a time").withMaxNewTokens(8));
            System.out.println(
                    completion.tokens().size() + " tokens:" + completion.text().orElseThrow());
        }
    }
}

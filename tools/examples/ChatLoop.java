import io.roseinfer.Roseinfer;
import io.roseinfer.engine.Completion;
import io.roseinfer.engine.Engine;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.engine.Prompt;
import io.roseinfer.engine.TokenStream;
import io.roseinfer.tokenizer.Tokenizer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * A loop that reads a line and has the model go on from all that was said so far, until the input ends. The built-in model is no chat
 * model: it continues text, so give it the beginning of a story rather than a question. In brackets stands how much of the prompt
 * did not have to be computed, because the turns before had left it in the prefix cache.
 *
 * <p>{@code tools/examples/run ChatLoop}, or with another model {@code tools/examples/run ChatLoop gpt2}
 */
final class ChatLoop {
    private static final int REPLY_TOKENS = 24;

    private ChatLoop() {}

    public static void main(String[] args) throws IOException {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try (Engine engine = Roseinfer.open(args.length > 0 ? args[0] : "builtin:tiny")) {
            Tokenizer tokenizer = engine.tokenizer().orElseThrow();
            int mostPromptTokens = engine.spec().contextLength() - REPLY_TOKENS;
            String said = "";
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (line.isBlank()) {
                    continue;
                }
                said += said.isEmpty() ? line : " " + line;
                int[] ids = tokenizer.encode(said);
                int[] newest = Arrays.copyOfRange(ids, Math.max(0, ids.length - mostPromptTokens), ids.length);
                said += reply(engine, newest);
            }
        }
    }

    /** Prints a reply as it is made, and returns it. */
    private static String reply(Engine engine, int[] prompt) {
        try (TokenStream stream =
                engine.submit(GenerationRequest.of(new Prompt.Tokens(prompt)).withMaxNewTokens(REPLY_TOKENS))) {
            stream.forEachRemaining(token -> System.out.print(token.text()));
            Completion completion = stream.completion();
            System.out.println(" [" + completion.cachedTokens() + " of " + prompt.length + " tokens cached]");
            return completion.text().orElseThrow();
        }
    }
}

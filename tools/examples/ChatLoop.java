import io.roseinfer.ChatMessage;
import io.roseinfer.LoadedModel;
import io.roseinfer.Roseinfer;
import io.roseinfer.Settings;
import io.roseinfer.engine.Completion;
import io.roseinfer.engine.Engine;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.engine.Prompt;
import io.roseinfer.engine.TokenStream;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * A loop that reads a line and has the model answer, with all that was said before, until the input ends. In brackets stands how much of
 * the prompt did not have to be computed, because the turns before had left it in the prefix cache.
 *
 * <p>{@code tools/examples/run ChatLoop}, or with another model {@code tools/examples/run ChatLoop Qwen/Qwen3-0.6B}
 */
final class ChatLoop {
    private static final int MAX_ANSWER_TOKENS = 80;

    private final LoadedModel model;
    private final Engine engine;
    private final List<ChatMessage> said = new ArrayList<>();

    private ChatLoop(LoadedModel model, Engine engine) {
        this.model = model;
        this.engine = engine;
    }

    public static void main(String[] args) throws IOException {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try (LoadedModel model = Roseinfer.load(Settings.of(args.length > 0 ? args[0] : "builtin:chat"))) {
            model.warmUp();
            try (Engine engine = model.serve(EngineOptions.defaults())) {
                ChatLoop chat = new ChatLoop(model, engine);
                for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                    if (!line.isBlank()) {
                        chat.turn(line);
                    }
                }
            }
        }
    }

    /** Takes in what the user says and prints the answer as it is made. */
    private void turn(String line) {
        said.add(ChatMessage.user(line));
        GenerationRequest request = request();
        try (TokenStream stream = engine.submit(request)) {
            stream.forEachRemaining(token -> System.out.print(token.text()));
            Completion answer = stream.completion();
            System.out.println(" [" + answer.cachedTokens() + " of " + answer.promptIds().length + " tokens cached]");
            said.add(ChatMessage.assistant(answer.text().orElseThrow()));
        }
    }

    /** The conversation as a prompt, without its oldest turns if they leave no room for an answer. */
    private GenerationRequest request() {
        GenerationRequest request = model.chatRequest(said);
        int most = model.spec().contextLength() - MAX_ANSWER_TOKENS;
        while (said.size() > 1 && request.prompt() instanceof Prompt.Tokens prompt && prompt.ids().length > most) {
            said.subList(0, 2).clear();
            request = model.chatRequest(said);
        }
        return request.withMaxNewTokens(MAX_ANSWER_TOKENS).withSeed(1);
    }
}

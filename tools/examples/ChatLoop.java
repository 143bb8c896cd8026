import io.roseinfer.LoadedModel;
import io.roseinfer.Roseinfer;
import io.roseinfer.Settings;
import io.roseinfer.engine.ChatMessage;
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
 * Reads lines until the input ends, and prints the model's answer to the conversation so far. The number in brackets is the part of the
 * prompt that was not computed, because earlier chat turns left it in the prefix cache.
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
                        chat.answer(line);
                    }
                }
            }
        }
    }

    /** Adds the user's message and prints the answer token by token. */
    private void answer(String line) {
        said.add(ChatMessage.user(line));
        GenerationRequest request = request();
        try (TokenStream stream = engine.submit(request)) {
            stream.forEachRemaining(token -> System.out.print(token.text()));
            Completion answer = stream.completion();
            System.out.println(" [" + answer.cachedTokens() + " of " + answer.promptIds().length + " tokens cached]");
            said.add(ChatMessage.assistant(answer.text().orElseThrow()));
        }
    }

    /** Returns the conversation as a prompt, without its oldest messages if they leave no room for an answer. */
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

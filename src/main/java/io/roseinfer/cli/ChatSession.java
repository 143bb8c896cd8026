package io.roseinfer.cli;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.StrictJson;
import io.roseinfer.cli.terminal.StopSignals;
import io.roseinfer.cli.terminal.Terminal;
import io.roseinfer.engine.Completion;
import io.roseinfer.engine.Engine;
import io.roseinfer.engine.GeneratedToken;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.engine.Prompt;
import io.roseinfer.engine.TokenStream;
import java.time.Duration;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import tools.jackson.databind.node.ArrayNode;

/** A conversation in a terminal: a line in, an answer out as it is made, and how long it took. */
final class ChatSession {
    private static final String SYSTEM = "/system";

    private final Engine engine;
    private final ChatPrompt prompts;
    private final GenerationRequest first;
    private final Terminal terminal;
    private final AtomicReference<Optional<TokenStream>> answering = new AtomicReference<>(Optional.empty());
    private ArrayNode messages = StrictJson.mapper().createArrayNode();
    private long turns;

    /** @param first what every answer's request has but the prompt; seeds are those that follow */
    ChatSession(Engine engine, ChatPrompt prompts, GenerationRequest first, Terminal terminal) {
        this.engine = engine;
        this.prompts = prompts;
        this.first = first;
        this.terminal = terminal;
    }

    /** Talks until the input ends, or says so. */
    void run(Optional<String> system) {
        system.ifPresent(this::instruct);
        StopSignals.Handled handled = StopSignals.atInterrupt(this::interrupt);
        try {
            Optional<String> line = read();
            while (line.isPresent() && takes(line.get().strip())) {
                line = read();
            }
        } finally {
            handled.close();
        }
    }

    private Optional<String> read() {
        if (terminal.interactive()) {
            terminal.err().print("> ");
            terminal.err().flush();
        }
        return terminal.readLine();
    }

    /** Ctrl-C: the end of an answer, and where there is none of the program. */
    private void interrupt() {
        Objects.requireNonNull(answering.get())
                .ifPresentOrElse(TokenStream::close, () -> Runtime.getRuntime().exit(StopSignals.INTERRUPTED));
    }

    /** Does what a line says; whether it goes on. */
    private boolean takes(String line) {
        if (!line.startsWith("/")) {
            if (!line.isEmpty()) {
                answer(line);
            }
            return true;
        }
        String command = line.split("\\s", 2)[0];
        switch (command) {
            case "/exit" -> {
                return false;
            }
            case "/reset" -> messages = StrictJson.mapper().createArrayNode();
            case SYSTEM -> instruct(line.substring(SYSTEM.length()).strip());
            default -> terminal.note("unknown command " + command + "; use /reset, /system TEXT or /exit");
        }
        return true;
    }

    /** Begins anew, with this as the model's instruction. */
    private void instruct(String text) {
        messages = StrictJson.mapper().createArrayNode();
        add("system", text);
    }

    private void add(String role, String text) {
        messages.addObject().put("role", role).put("content", text);
    }

    /** Answers a message. One that cannot be answered is told and forgotten. */
    private void answer(String text) {
        ArrayNode before = messages.deepCopy();
        add("user", text);
        Completion completion;
        try {
            Prompt.Tokens prompt = fitting();
            GenerationRequest request =
                    first.withPrompt(prompt).withSeed(first.seed().orElse(0) + turns++);
            completion = generate(request);
        } catch (BadInput refused) {
            messages = before;
            terminal.note(Terminal.shown(refused));
            return;
        }
        add("assistant", completion.text().orElse(""));
        terminal.note(latency(completion));
    }

    /** Returns the prompt, after forgetting the oldest messages if there would be little room for an answer. */
    private Prompt.Tokens fitting() {
        int room = Math.min(first.maxNewTokens(), engine.maxRequestTokens() / 4);
        int forgotten = 0;
        Prompt.Tokens prompt = prompts.of(messages);
        while (prompt.ids().length + room > engine.maxRequestTokens() && forgetOldest()) {
            forgotten++;
            prompt = prompts.of(messages);
        }
        if (forgotten > 0) {
            terminal.note("the context is full, so the oldest messages with their answers were dropped (" + forgotten
                    + "); /reset clears the conversation");
        }
        return prompt;
    }

    /** Removes the oldest message and its answer, but neither the instruction nor the newest message. */
    private boolean forgetOldest() {
        int at = role(0).equals("system") ? 1 : 0;
        if (messages.size() <= at + 1) {
            return false;
        }
        do {
            messages.remove(at);
        } while (messages.size() > at + 1 && !role(at).equals("user"));
        return true;
    }

    private String role(int index) {
        return messages.get(index).path("role").asString("");
    }

    private Completion generate(GenerationRequest request) {
        try (TokenStream stream = engine.submit(request)) {
            answering.set(Optional.of(stream));
            while (stream.hasNext()) {
                GeneratedToken token = stream.next();
                terminal.print(token.text());
            }
            Completion completion = stream.completion();
            terminal.print("\n");
            return completion;
        } finally {
            answering.set(Optional.empty());
        }
    }

    /** The time to the first token, and how quickly the others followed. */
    private static String latency(Completion completion) {
        long[] nanos = completion.timeline().tokenNanos();
        if (nanos.length == 0) {
            return "no tokens";
        }
        Duration ttft = completion.ttft().orElse(Duration.ZERO);
        String start = String.format(Locale.ROOT, "first token after %.1f ms", ttft.toNanos() / 1e6);
        long rest = nanos[nanos.length - 1] - nanos[0];
        return rest <= 0
                ? start
                : start
                        + String.format(
                                Locale.ROOT,
                                ", %d tokens, %.1f tokens/s",
                                nanos.length,
                                (nanos.length - 1) * 1e9 / rest);
    }
}

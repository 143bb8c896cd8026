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

/** A conversation in a terminal: reads a line, streams the answer, and prints its latency. */
final class ChatSession {
    private static final String SYSTEM = "/system";

    private final Engine engine;
    private final PromptRenderer prompts;
    private final GenerationRequest first;
    private final Terminal terminal;
    private final AtomicReference<Optional<TokenStream>> answering = new AtomicReference<>(Optional.empty());
    private ArrayNode messages = StrictJson.mapper().createArrayNode();
    private long turns;

    /** @param first template of all requests; each request's seed is one higher than the previous one's */
    ChatSession(Engine engine, PromptRenderer prompts, GenerationRequest first, Terminal terminal) {
        this.engine = engine;
        this.prompts = prompts;
        this.first = first;
        this.terminal = terminal;
    }

    /** Runs until the input ends or {@code /exit}. */
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

    /** Handles Ctrl-C: stops the current answer, or exits if there is none. */
    private void interrupt() {
        Objects.requireNonNull(answering.get())
                .ifPresentOrElse(TokenStream::close, () -> Runtime.getRuntime().exit(StopSignals.INTERRUPTED));
    }

    /** Handles a line; returns false for {@code /exit}. */
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

    /** Starts a new conversation with a system prompt. */
    private void instruct(String text) {
        messages = StrictJson.mapper().createArrayNode();
        add("system", text);
    }

    private void add(String role, String text) {
        messages.addObject().put("role", role).put("content", text);
    }

    /** Answers a message. A message that cannot be answered is reported and dropped. */
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

    /** Returns the prompt, after dropping the oldest messages if the context has too little room for an answer. */
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

    /** Removes the oldest message and its answer, but neither the system prompt nor the newest message. */
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

    /** Returns the time to the first token and the rate of the others. */
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

package io.roseinfer.server;

import io.roseinfer.base.RoseException;
import io.roseinfer.engine.Completion;
import io.roseinfer.engine.GeneratedToken;
import io.roseinfer.engine.TokenStream;
import io.roseinfer.scheduler.FinishReason;
import io.roseinfer.server.api.ApiError;
import io.roseinfer.server.api.CompletionCall;
import io.roseinfer.server.api.CompletionJson;
import io.roseinfer.server.api.Timings;
import io.roseinfer.server.http.ResponseWriter.ClientGone;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import tools.jackson.core.io.JsonStringEncoder;
import tools.jackson.databind.node.ObjectNode;

/** The completions of one call as server-sent events, which interleave when there are several. One thread reads each stream. */
final class CompletionEvents {
    /** Tokens that are there already go out with one write, up to about so many characters. */
    private static final int WRITE_CHARS = 8192;

    private static final String DONE = "data: [DONE]\n\n";

    private final Exchange exchange;
    private final CompletionCall call;
    private final CompletionJson json;
    private final ServerMetrics metrics;
    private final CallStamps stamps;
    private final ReentrantLock writing = new ReentrantLock();
    private final AtomicInteger generated = new AtomicInteger();
    private volatile String reason = "";

    CompletionEvents(
            Exchange exchange, CompletionCall call, CompletionJson json, ServerMetrics metrics, CallStamps stamps) {
        this.exchange = exchange;
        this.call = call;
        this.json = json;
        this.metrics = metrics;
        this.stamps = stamps;
    }

    /** Writes everything that comes of the streams. The answer begins with the first token, so what fails before has its own status. */
    void stream(OpenStreams streams) {
        try {
            readAll(streams);
        } finally {
            exchange.served(new Exchange.Served(call.promptTokens(), generated.get(), reason));
        }
        StringBuilder last = new StringBuilder();
        if (call.output().usage()) {
            ObjectNode usage = json.envelope();
            CompletionJson.usage(usage, call.promptTokens(), generated.get());
            if (call.choices() == 1) {
                Timings.add(usage, streams.all().getFirst().completion());
            }
            append(last, usage);
        }
        if (stamps.asked()) {
            ObjectNode event = json.envelope();
            stamps.addTo(event, streams.all().stream().map(TokenStream::completion).toList());
            append(last, event);
        }
        write(last.append(DONE));
        exchange.response().end();
    }

    private void readAll(OpenStreams streams) {
        AtomicReference<RuntimeException> failure = new AtomicReference<>();
        List<Thread> readers = new ArrayList<>();
        List<TokenStream> all = streams.all();
        for (int index = 1; index < all.size(); index++) {
            Choice choice = new Choice(index, all.get(index));
            readers.add(Thread.ofVirtual().name("roseinfer-choice").start(() -> read(choice, streams, failure)));
        }
        read(new Choice(0, all.getFirst()), streams, failure);
        for (Thread reader : readers) {
            joinUninterrupted(reader);
        }
        RuntimeException failed = failure.get();
        if (failed != null) {
            throw failed;
        }
    }

    /** Reads one stream to its end; a failure ends the others too, as their answer is the same. */
    private static void read(Choice choice, OpenStreams streams, AtomicReference<RuntimeException> failure) {
        try {
            choice.read();
        } catch (RoseException | ApiError | ClientGone failed) {
            if (failure.compareAndSet(null, failed)) {
                streams.close();
            }
        }
    }

    private static void joinUninterrupted(Thread thread) {
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void write(StringBuilder events) {
        byte[] bytes = events.toString().getBytes(StandardCharsets.UTF_8);
        writing.lock();
        try {
            if (!exchange.response().hasBegun()) {
                exchange.beginEvents();
            }
            exchange.response().write(bytes);
        } finally {
            writing.unlock();
        }
    }

    private static void append(StringBuilder events, ObjectNode event) {
        events.append("data: ").append(event).append("\n\n");
    }

    /** One stream on its way to the client. */
    private final class Choice {
        private final int index;
        private final TokenStream stream;
        private final StringBuilder events = new StringBuilder();
        /** Whether events tell nothing but text. */
        private final boolean isPlain = call.request().sampling().logprobs() < 0
                && !call.output().tokenIds()
                && !call.output().continuousUsage();

        private final CallStamps.Choice stamped;
        private String before = "";
        private String behind = "";
        private int tokens;
        private int shownChars;
        private int offset;
        private boolean finished;

        Choice(int index, TokenStream stream) {
            this.index = index;
            this.stream = stream;
            this.stamped = stamps.addChoice();
        }

        private int[] prompt() {
            return call.prompts().get(index / call.n());
        }

        void read() {
            while (stream.hasNext()) {
                try {
                    takeWhatIsThere();
                } finally {
                    flush();
                }
            }
            if (!finished) {
                if (tokens == 0) {
                    open();
                }
                finish(event(""), shownChars);
                flush();
            }
        }

        /** Tells what stands in front of the first token, which is there, so that a client can take it for the first token's time. */
        private void open() {
            json.opening(index).ifPresent(event -> append(events, event));
        }

        private void takeWhatIsThere() {
            Optional<GeneratedToken> token = Optional.of(stream.next());
            while (token.isPresent()) {
                add(token.get());
                token = events.length() < WRITE_CHARS && !finished ? stream.poll(Duration.ZERO) : Optional.empty();
            }
        }

        private void flush() {
            if (!events.isEmpty()) {
                write(events);
                events.setLength(0);
                stamped.tokensWritten();
            }
        }

        private void add(GeneratedToken token) {
            stamped.tokenRead();
            tokens++;
            metrics.generated(1);
            int all = generated.incrementAndGet();
            boolean last = stream.isExhausted() && isServed();
            if (tokens == 1) {
                open();
            }
            if (isPlain && tokens > 1 && !last) {
                appendPlain(token.text());
            } else {
                appendFull(token, all, last);
            }
            shownChars += token.text().length();
        }

        /** Whether the end, which is known, is a completion's and not a failure, which is told in an event of its own. */
        private boolean isServed() {
            return stream.finishReason()
                    .filter(why -> why != FinishReason.ERROR && why != FinishReason.CANCELLED)
                    .isPresent();
        }

        /** Almost every event differs from the others in its text alone. */
        private void appendPlain(String text) {
            if (before.isEmpty()) {
                String event = event("").toString();
                String empty = "\"" + json.textField() + "\":\"\"";
                int at = event.indexOf(empty) + empty.length() - 1;
                before = "data: " + event.substring(0, at);
                behind = event.substring(at) + "\n\n";
            }
            events.append(before);
            JsonStringEncoder.getInstance().quoteAsString(text, events);
            events.append(behind);
        }

        private void appendFull(GeneratedToken token, int all, boolean last) {
            boolean echoes = tokens == 1 && call.output().echo();
            ObjectNode event = event(echoes ? json.text(prompt()) + token.text() : token.text());
            ObjectNode choice = choice(event);
            if (call.request().sampling().logprobs() >= 0) {
                offset = json.logprobs(choice, List.of(token), offset);
            }
            if (call.output().tokenIds()) {
                if (tokens == 1) {
                    CompletionJson.ids(choice, "prompt_token_ids", prompt());
                }
                CompletionJson.ids(choice, "token_ids", token.id());
            }
            if (call.output().continuousUsage()) {
                CompletionJson.usage(event, call.promptTokens(), all);
            }
            if (last) {
                finish(event, shownChars + token.text().length());
            } else {
                append(events, event);
            }
        }

        private ObjectNode event(String text) {
            ObjectNode event = json.envelope();
            ObjectNode unused = json.addChoice(event, index, text);
            return event;
        }

        private static ObjectNode choice(ObjectNode event) {
            return (ObjectNode) event.get("choices").get(0);
        }

        /** Makes an event the last: with the reason, and with text that was held back until the end was certain. */
        private void finish(ObjectNode event, int shown) {
            Completion completion = stream.completion();
            metrics.completed(completion);
            Completions.requireServed(completion);
            finished = true;
            reason = CompletionJson.finishReason(completion.finishReason());
            ObjectNode choice = choice(event);
            String rest = completion.text().map(all -> all.substring(shown)).orElse("");
            json.putText(choice, json.text(choice) + rest);
            CompletionJson.finish(choice, completion);
            if (call.choices() == 1 && !call.output().usage()) {
                Timings.add(event, completion);
            }
            append(events, event);
        }
    }
}

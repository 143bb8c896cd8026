package io.roseinfer.server;

import io.roseinfer.base.RoseException;
import io.roseinfer.base.StrictJson;
import io.roseinfer.engine.Completion;
import io.roseinfer.engine.GeneratedToken;
import io.roseinfer.engine.TokenStream;
import io.roseinfer.scheduler.FinishReason;
import io.roseinfer.server.EventTemplate.Hole;
import io.roseinfer.server.api.CompletionCall;
import io.roseinfer.server.api.CompletionJson;
import io.roseinfer.server.api.ReplyStream;
import io.roseinfer.server.api.Timings;
import io.roseinfer.server.http.BodySource;
import io.roseinfer.server.http.ByteSink;
import io.roseinfer.server.http.Pump;
import io.roseinfer.server.http.Response;
import io.roseinfer.server.http.Response.ClientGone;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * Sends the completions of one call as server-sent events, which interleave if there are several. The connection's
 * thread polls the streams when the engine has delivered to one of them; the call's thread waits until all have ended.
 */
final class CompletionEvents implements BodySource {
    private static final String ABORTED = CompletionJson.finishReason(FinishReason.CANCELLED);
    private static final String FAILED = CompletionJson.finishReason(FinishReason.ERROR);

    private final Exchange exchange;
    private final Response response;
    private final CompletionCall call;
    private final CompletionJson json;
    private final ServerMetrics metrics;
    private final CallStamps stamps;
    private final List<Choice> choices = new ArrayList<>();
    private int generated;
    private String reason = FAILED;

    CompletionEvents(
            Exchange exchange,
            Response response,
            CompletionCall call,
            CompletionJson json,
            ServerMetrics metrics,
            CallStamps stamps) {
        this.exchange = exchange;
        this.response = response;
        this.call = call;
        this.json = json;
        this.metrics = metrics;
        this.stamps = stamps;
    }

    /**
     * Writes all events of the streams. The response begins with the first token, so that earlier failures have their
     * own status.
     */
    void stream(OpenStreams streams) {
        for (TokenStream stream : streams.all()) {
            choices.add(new Choice(choices.size(), stream));
        }
        try {
            Pump pump = response.pump(this);
            for (Choice choice : choices) {
                choice.stream.onDelivery(pump::ready);
            }
            pump.await();
        } catch (ClientGone gone) {
            reason = ABORTED;
            throw gone;
        } catch (RoseException failed) {
            reason = FAILED;
            throw failed;
        } finally {
            List<Completion> ended = Completions.observe(metrics, streams, i -> choices.get(i).completion);
            exchange.served(new Exchange.Served(call, generated, reason, ended));
        }
        response.write(tail().getBytes(StandardCharsets.UTF_8));
        response.end();
    }

    /** Returns the events after the last token: usage and timestamps, if requested. */
    private String tail() {
        List<Completion> completions =
                choices.stream().map(choice -> choice.completion.orElseThrow()).toList();
        List<ObjectNode> events = new ArrayList<>();
        if (call.output().usage()) {
            ObjectNode usage = json.envelope();
            CompletionJson.usage(usage, call, completions);
            if (call.choices() == 1) {
                Timings.add(usage, completions.getFirst());
            }
            events.add(usage);
        }
        if (stamps.asked()) {
            ObjectNode event = json.envelope();
            stamps.addTo(event, completions);
            events.add(event);
        }
        return events.stream().map(json::event).collect(Collectors.joining()) + json.lastEvent();
    }

    @Override
    public boolean fill(ByteSink bytes) {
        boolean complete = true;
        for (Choice choice : choices) {
            choice.read(bytes);
            complete &= choice.completion.isPresent();
        }
        return complete;
    }

    @Override
    public void written() {
        for (Choice choice : choices) {
            choice.stamped.tokensWritten();
        }
    }

    private void append(ByteSink bytes, ObjectNode event) {
        if (!response.hasBegun()) {
            exchange.beginEvents(response, json::failure);
        }
        bytes.put(json.event(event).getBytes(StandardCharsets.UTF_8));
    }

    /** One stream on its way to the client. */
    private final class Choice {
        private final int index;
        private final TokenStream stream;
        private final CallStamps.Choice stamped = stamps.addChoice();
        /** Tokens that were read but not yet sent. */
        private final List<GeneratedToken> batch = new ArrayList<>();

        private final boolean hasLogprobs = call.request().sampling().logprobs() >= 0;
        private final Optional<ReplyStream> reply;
        private @Nullable EventTemplate template;
        private int tokens;
        private int shownChars;
        private int offset;
        private Optional<Completion> completion = Optional.empty();

        Choice(int index, TokenStream stream) {
            this.index = index;
            this.stream = stream;
            this.reply = json.replyStream(index, call);
        }

        private int[] prompt() {
            return call.prompts().get(index / call.n());
        }

        /** Sends the available tokens, up to a buffer's worth. */
        void read(ByteSink bytes) {
            Optional<GeneratedToken> token = next(bytes);
            while (token.isPresent()) {
                add(token.get(), bytes);
                token = next(bytes);
            }
            if (completion.isEmpty() && stream.isExhausted()) {
                send(bytes, true);
            }
        }

        private Optional<GeneratedToken> next(ByteSink bytes) {
            return completion.isEmpty() && bytes.size() < ByteSink.CHUNK_BYTES
                    ? stream.poll(Duration.ZERO)
                    : Optional.empty();
        }

        private void add(GeneratedToken token, ByteSink bytes) {
            stamped.tokenRead();
            tokens++;
            generated++;
            batch.add(token);
            boolean last = stream.isExhausted() && isServed();
            if (last || tokens == 1 || batch.size() >= call.output().interval()) {
                send(bytes, last);
            }
        }

        /** Returns whether the completion has ended successfully; a failure is sent in a separate event. */
        private boolean isServed() {
            return stream.finishReason()
                    .filter(why -> why != FinishReason.ERROR && why != FinishReason.CANCELLED)
                    .isPresent();
        }

        /** Sends the tokens read so far in one event. */
        private void send(ByteSink bytes, boolean last) {
            String text = batch.size() == 1
                    ? batch.getFirst().text()
                    : batch.stream().map(GeneratedToken::text).collect(Collectors.joining());
            boolean first = tokens == batch.size();
            if (last) {
                end();
            }
            if (first) {
                // Sent together with the first token, because clients take it for the time of the first token.
                json.opening(index).ifPresent(event -> append(bytes, event));
            }
            if (reply.isPresent()) {
                appendReply(bytes, reply.get(), text, first, last);
            } else if (!first && !last && !hasLogprobs) {
                template().append(bytes, text, batch, generated, call.promptTokens());
            } else {
                appendFull(bytes, text, first, last);
            }
            shownChars += text.length();
            batch.clear();
        }

        /** Returns the template of most events: neither first nor last, and with tokens only. */
        private EventTemplate template() {
            if (template == null) {
                ObjectNode event = event(Hole.TEXT.mark());
                if (call.output().tokenIds()) {
                    choice(event).putArray("token_ids").add(Hole.IDS.mark());
                }
                if (call.output().continuousUsage()) {
                    CompletionJson.usage(event, call.promptTokens(), 0);
                    ((ObjectNode) event.get("usage"))
                            .put("completion_tokens", Hole.COMPLETION_TOKENS.mark())
                            .put("total_tokens", Hole.TOTAL_TOKENS.mark());
                }
                template = new EventTemplate(json.event(event));
            }
            return template;
        }

        private void appendFull(ByteSink bytes, String text, boolean first, boolean last) {
            boolean echoes = first && call.output().echo();
            ObjectNode event = event(echoes ? json.text(prompt()) + text : text);
            ObjectNode choice = choice(event);
            addDetails(event, first);
            if (last) {
                json.putText(choice, json.text(choice) + rest(shownChars + text.length()));
                finish(event);
            }
            append(bytes, event);
        }

        /**
         * Sends the parts of the reply that the tokens complete, one per event; the last event has the other fields. No
         * event is sent if there is nothing to say.
         */
        private void appendReply(ByteSink bytes, ReplyStream parts, String text, boolean first, boolean last) {
            batch.forEach(parts::accept);
            if (last) {
                parts.end(rest(shownChars + text.length()));
            }
            List<ObjectNode> deltas = parts.takeDeltas();
            for (int i = 0; i < deltas.size() - 1; i++) {
                append(bytes, event(deltas.get(i)));
            }
            if (deltas.isEmpty() && !last && !hasLogprobs && !call.output().tokenIds()) {
                return;
            }
            ObjectNode event = event(deltas.isEmpty() ? StrictJson.mapper().createObjectNode() : deltas.getLast());
            addDetails(event, first);
            if (last) {
                finish(event);
                metrics.toolCalls(parts.toolCalls());
                if (parts.hasCalls()) {
                    CompletionJson.finishCalls(choice(event), completion.orElseThrow());
                }
            }
            append(bytes, event);
        }

        /** Adds the fields of the tokens read so far. */
        private void addDetails(ObjectNode event, boolean first) {
            ObjectNode choice = choice(event);
            boolean echoes = first && call.output().echo();
            if (hasLogprobs && (echoes || !batch.isEmpty())) {
                List<GeneratedToken> prompt = echoes ? CompletionJson.echoed(call, stream.promptLogprobs()) : List.of();
                offset = json.logprobs(choice, CompletionJson.joined(prompt, batch), offset);
            }
            if (call.output().tokenIds()) {
                if (first) {
                    CompletionJson.ids(choice, "prompt_token_ids", prompt());
                }
                CompletionJson.ids(
                        choice,
                        "token_ids",
                        batch.stream().mapToInt(GeneratedToken::id).toArray());
            }
            if (call.output().continuousUsage()) {
                CompletionJson.usage(event, call.promptTokens(), generated);
            }
        }

        private ObjectNode event(ObjectNode delta) {
            ObjectNode event = event("");
            choice(event).set("delta", delta);
            return event;
        }

        private ObjectNode event(String text) {
            ObjectNode event = json.envelope();
            ObjectNode unused = json.addChoice(event, index, text);
            return event;
        }

        private static ObjectNode choice(ObjectNode event) {
            return (ObjectNode) event.get("choices").get(0);
        }

        /** Takes the completion, and throws if it failed, before anything of it is sent. */
        private void end() {
            Completion ended = stream.completion();
            completion = Optional.of(ended);
            reason = CompletionJson.finishReason(ended.finishReason());
            Completions.requireServed(ended);
        }

        /** Returns the text that was held back until the end was certain. */
        private String rest(int shown) {
            String all = CompletionJson.text(completion.orElseThrow(), call);
            return all.substring(Math.min(shown, all.length()));
        }

        /** Completes the last event with the reason. */
        private void finish(ObjectNode event) {
            Completion ended = completion.orElseThrow();
            CompletionJson.finish(choice(event), ended, call);
            if (call.choices() == 1 && !call.output().usage()) {
                Timings.add(event, ended);
            }
        }
    }
}

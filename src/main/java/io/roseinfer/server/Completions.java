package io.roseinfer.server;

import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.engine.Completion;
import io.roseinfer.engine.Engine;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.engine.TokenStream;
import io.roseinfer.grammar.Grammar;
import io.roseinfer.scheduler.FinishReason;
import io.roseinfer.server.RequestsInFlight.Origin;
import io.roseinfer.server.api.ApiError;
import io.roseinfer.server.api.CompletionCall;
import io.roseinfer.server.api.CompletionJson;
import io.roseinfer.server.api.CompletionReader;
import io.roseinfer.server.api.Fields;
import io.roseinfer.server.api.Timings;
import io.roseinfer.server.http.RequestBody;
import io.roseinfer.server.http.Response;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.function.IntFunction;
import tools.jackson.databind.node.ObjectNode;

/**
 * {@code POST /v1/completions}, {@code /v1/chat/completions} and {@code /v1/responses}. A call is {@code n} generation
 * requests per prompt.
 */
final class Completions {
    private final Engine engine;
    private final CompletionReader reader;
    private final Clock clock;
    private final InstantSource time;
    private final RequestGate gate;
    private final ServerMetrics metrics;
    private final PromptWorkers workers;
    private final LogprobBudget logprobs;

    Completions(
            Engine engine,
            CompletionReader reader,
            Clock clock,
            InstantSource time,
            RequestGate gate,
            ServerMetrics metrics,
            PromptWorkers workers,
            LogprobBudget logprobs) {
        this.engine = engine;
        this.reader = reader;
        this.clock = clock;
        this.time = time;
        this.gate = gate;
        this.metrics = metrics;
        this.workers = workers;
        this.logprobs = logprobs;
    }

    /** Answers one call. */
    void answer(Exchange exchange, Response response) {
        gate.requireOpen();
        CallStamps stamps = new CallStamps(exchange, clock);
        RequestBody body = exchange.call().body();
        CompletionCall call = workers.call(response::whenGone, body.size(), () -> read(exchange, body, stamps));
        body.release();
        requireRoom(call);
        addHeaders(exchange, call);
        metrics.asked(call.request().maxNewTokens(), call.n());
        LogprobBudget.Share share = logprobs.reserve(call.logprobBytes());
        try (share;
                OpenStreams streams = new OpenStreams()) {
            response.whenGone(streams::close);
            submit(exchange, call, streams);
            CompletionJson json =
                    reader.json(exchange.requestId(), time.instant().getEpochSecond(), call);
            if (call.output().stream()) {
                new CompletionEvents(exchange, response, call, json, metrics, stamps).stream(streams);
            } else {
                exchange.send(completeResponse(exchange, call, json, stamps, streams), response);
            }
        }
    }

    private CompletionCall read(Exchange exchange, RequestBody body, CallStamps stamps) {
        Fields fields = Fields.parse(body.take());
        stamps.parsed();
        fields.string("request_id").ifPresent(exchange::name);
        fields.string("user").ifPresent(exchange::user);
        CompletionCall call = reader.read(fields, exchange.call());
        call.request().constraints().grammar().ifPresent(grammar -> compile(grammar, call));
        stamps.tokenized();
        return call;
    }

    /** Compiles a call's grammar before a request is accepted, so that its errors are the client's and name the field. */
    private void compile(Grammar grammar, CompletionCall call) {
        long startNanos = clock.nanos();
        String field = call.grammarField().orElseThrow();
        Fields.check(field, () -> engine.compile(grammar));
        metrics.grammarCompiled(field, clock.nanos() - startNanos);
    }

    /** Rejects a call that is too large even for an idle server, so that retrying is useless. */
    private void requireRoom(CompletionCall call) {
        if (call.choices() > engine.maxInflightRequests()) {
            throw ApiError.badField(
                    call.n() > 1 ? "n" : "prompt",
                    "the call requests " + call.choices() + " completions; this server allows at most "
                            + engine.maxInflightRequests() + " requests in flight");
        }
    }

    private static void addHeaders(Exchange exchange, CompletionCall call) {
        if (!call.ignored().isEmpty()) {
            exchange.header("x-roseinfer-ignored", String.join(", ", call.ignored()));
        }
        if (call.clamped()) {
            exchange.header("x-roseinfer-clamped", "max_tokens");
        }
    }

    private void submit(Exchange exchange, CompletionCall call, OpenStreams streams) {
        for (int choice = 0; choice < call.choices(); choice++) {
            GenerationRequest request = call.request(choice).withTag(origin(exchange, call, choice));
            try {
                streams.add(engine.submit(request));
            } catch (BadInput bad) {
                throw reader.refused(bad);
            }
        }
    }

    private static Origin origin(Exchange exchange, CompletionCall call, int choice) {
        return new Origin(
                exchange.requestId(),
                choice,
                call.output().stream(),
                call.request().maxNewTokens(),
                call.request().options().priority(),
                exchange.startNanos());
    }

    private ObjectNode completeResponse(
            Exchange exchange, CompletionCall call, CompletionJson json, CallStamps stamps, OpenStreams streams) {
        List<Completion> completions = new ArrayList<>();
        FinishReason reason = FinishReason.ERROR;
        try {
            for (TokenStream stream : streams.all()) {
                completions.add(stream.completion());
                CallStamps.Choice unused = stamps.addChoice();
            }
            reason = completions.getLast().finishReason();
        } finally {
            int generated =
                    completions.stream().mapToInt(each -> each.tokens().size()).sum();
            List<Completion> ended =
                    observe(metrics, streams, i -> completions.stream().skip(i).findFirst());
            exchange.served(new Exchange.Served(call, generated, CompletionJson.finishReason(reason), ended));
        }
        completions.forEach(Completions::requireServed);
        ObjectNode body = json.response(call, completions);
        metrics.toolCalls(json.toolCalls());
        if (completions.size() == 1) {
            Timings.add(body, completions.getFirst());
        }
        if (stamps.asked()) {
            stamps.addTo(body, completions);
        }
        return body;
    }

    /**
     * Counts every request of a call once, including those cancelled because the client has disconnected.
     *
     * @param taken returns the completion already taken from a stream, by the stream's index
     * @return the completions in order, without failed ones
     */
    static List<Completion> observe(
            ServerMetrics metrics, OpenStreams streams, IntFunction<Optional<Completion>> taken) {
        streams.close();
        List<TokenStream> all = streams.all();
        List<Completion> ended = new ArrayList<>();
        for (int i = 0; i < all.size(); i++) {
            try {
                ended.add(taken.apply(i).orElseGet(all.get(i)::completion));
            } catch (RoseException | CancellationException failed) {
                // A failed request has no completion.
            }
        }
        ended.forEach(metrics::completed);
        metrics.takeEnded();
        if (ended.size() == all.size()) {
            metrics.answered(ended);
        }
        return ended;
    }

    /** Throws if the server itself ended the completion. */
    static void requireServed(Completion completion) {
        if (completion.finishReason() == FinishReason.CANCELLED) {
            throw ApiError.unavailable("the server is shutting down; the completion was not finished");
        }
        if (completion.finishReason() == FinishReason.DEADLINE
                && completion.tokens().isEmpty()) {
            throw ApiError.unavailable("the request timed out before its first token");
        }
    }
}

package io.roseinfer.bench.http;

import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.RoseException.Overloaded;
import io.roseinfer.bench.load.JsonlPrompts;
import io.roseinfer.bench.load.OfferedRequest;
import io.roseinfer.engine.Completion;
import io.roseinfer.engine.Engine;
import io.roseinfer.engine.EngineStats;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.engine.TokenStream;
import io.roseinfer.metrics.RequestStamps;
import io.roseinfer.metrics.RequestTimeline;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.scheduler.FinishReason;
import io.roseinfer.server.api.GrammarReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/** An engine in this process. The threads that read streams timestamp tokens, as a client would. */
public final class EngineTarget implements Target {
    private static final long SETTLE_NANOS = 2_000_000_000;
    private static final long SETTLE_STEP_NANOS = 1_000_000;

    private final Engine engine;
    private final GenerationRequest template;
    private final boolean strict;
    private final Clock clock;
    private final Executor readers;
    private final Set<TokenStream> streams = ConcurrentHashMap.newKeySet();
    private List<GenerationRequest> requests = List.of();
    private long submittedNanos;
    private volatile long lastNanos;
    private volatile Optional<Throwable> failure = Optional.empty();
    private volatile String aborted = "";

    /**
     * Creates a target, which does not close the engine.
     *
     * @param template template of all requests; prompt and length are replaced
     * @param strict whether a request that fails for any reason but overload fails the run
     */
    public EngineTarget(Engine engine, GenerationRequest template, boolean strict, Clock clock) {
        this(
                engine,
                template,
                strict,
                clock,
                read -> Thread.ofVirtual().name("roseinfer-bench-stream").start(read));
    }

    /**
     * @param readers runs the reader of each stream on a separate thread
     */
    EngineTarget(Engine engine, GenerationRequest template, boolean strict, Clock clock, Executor readers) {
        this.engine = engine;
        this.template = template;
        this.strict = strict;
        this.clock = clock;
        this.readers = readers;
        this.lastNanos = clock.nanos();
    }

    @Override
    public void prepare(List<OfferedRequest> offered, int maxAtOnce) {
        requests = new ArrayList<>(offered.stream().map(this::request).toList());
    }

    @Override
    public void prepare(Call call) {
        GenerationRequest unused = requests.set(call.id, request(call.request));
    }

    private GenerationRequest request(OfferedRequest offered) {
        GenerationRequest request =
                offered.traits().addTo(template.withPrompt(offered.prompt()).withMaxNewTokens(offered.outputTokens()));
        if (offered.constraints()
                .filter(fields -> fields.has(JsonlPrompts.TOOLS))
                .isPresent()) {
            throw new BadInput(
                    "--backend engine takes no tools, and the dataset has some; use a server and --endpoint-type chat");
        }
        return offered.constraints()
                .flatMap(GrammarReader::grammar)
                .map(request::withGrammar)
                .orElse(request);
    }

    @Override
    public void send(Call call, Consumer<Call> ended) {
        call.sentNanos = clock.nanos();
        try {
            TokenStream stream = engine.submit(requests.get(call.id));
            long submitted = clock.nanos();
            submittedNanos = submitted;
            // Before its reader starts, so that abort() also closes streams without a reader.
            streams.add(stream);
            readers.execute(() -> read(stream, call, submitted, ended));
        } catch (RoseException refused) {
            submittedNanos = clock.nanos();
            fail(call, refused);
            call.endNanos = submittedNanos;
            ended.accept(call);
        }
    }

    private void fail(Call call, RoseException failed) {
        call.fail(failed.jsonMessage());
        if (strict && !(failed instanceof Overloaded)) {
            failRun(failed);
        }
    }

    private synchronized void failRun(Throwable cause) {
        if (failure.isEmpty()) {
            failure = Optional.of(cause);
        }
    }

    private void read(TokenStream stream, Call call, long submitted, Consumer<Call> ended) {
        try (stream) {
            while (stream.hasNext()) {
                int unused = stream.next().id();
                long nanos = clock.nanos();
                lastNanos = nanos;
                call.addTokens(nanos, 1);
            }
            Completion completion = stream.completion();
            call.promptTokens = completion.promptIds().length;
            call.completionTokens = completion.tokens().size();
            call.totalTokens = call.promptTokens + call.completionTokens;
            call.server = Optional.of(stamps(completion));
            call.engine = Optional.of(new EngineResponse(
                    new RequestStamps(call.sentNanos, submitted, completion.timeline()),
                    completion.finishReason(),
                    completion.ids()));
            call.lastChoiceNanos = call.events == 0 ? clock.nanos() : call.lastChoiceNanos;
            if (completion.finishReason() == FinishReason.CANCELLED) {
                call.fail(aborted);
            }
        } catch (RoseException failed) {
            fail(call, failed);
        } catch (RuntimeException | Error broken) {
            call.fail("its reader failed: " + broken);
            failRun(broken);
        } finally {
            streams.remove(stream);
            call.endNanos = clock.nanos();
            ended.accept(call);
        }
    }

    private static ServerStamps stamps(Completion completion) {
        RequestTimeline timeline = completion.timeline();
        return new ServerStamps(
                timeline.submittedNanos(),
                ServerStamps.UNKNOWN,
                timeline.tokenizedNanos(),
                timeline.admittedNanos(),
                timeline.tokenNanos(),
                new long[0],
                new long[0],
                new ServerStamps.Served(timeline.replica(), completion.cachedTokens()));
    }

    /** Returns the time when the last submit call returned, accepted or not. */
    public long submittedNanos() {
        return submittedNanos;
    }

    /** Waits until all requests have released their KV blocks, which may be after the end of their streams. */
    @Override
    public void join(List<Call> calls) {
        long deadlineNanos = clock.nanos() + SETTLE_NANOS;
        EngineStats stats = engine.stats();
        while ((stats.active() > 0 || stats.waiting() > 0 || stats.blocksInUse() > 0)
                && clock.nanos() < deadlineNanos) {
            LockSupport.parkNanos(SETTLE_STEP_NANOS);
            stats = engine.stats();
        }
    }

    @Override
    public List<StepRecord> steps() {
        return engine.steps();
    }

    @Override
    public long lastArrivalNanos() {
        return lastNanos;
    }

    @Override
    public boolean isAnswered() {
        return streams.stream().allMatch(stream -> stream.finishReason().isPresent());
    }

    @Override
    public Optional<Throwable> failure() {
        return failure;
    }

    @Override
    public void abort(String why) {
        aborted = why;
        streams.forEach(TokenStream::close);
    }

    @Override
    public int openedLate() {
        return 0;
    }

    @Override
    public void close() {
        streams.forEach(TokenStream::close);
    }
}

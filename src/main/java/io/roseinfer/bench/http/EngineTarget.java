package io.roseinfer.bench.http;

import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException;
import io.roseinfer.bench.load.OfferedRequest;
import io.roseinfer.engine.Completion;
import io.roseinfer.engine.Engine;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.engine.TokenStream;
import io.roseinfer.metrics.RequestTimeline;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.scheduler.FinishReason;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

/** An engine in this process. Tokens are stamped by the thread that reads their stream, where a client would have them. */
public final class EngineTarget implements Target {
    private final Engine engine;
    private final Endpoint.Ask ask;
    private final Clock clock;
    private final Executor readers;
    private final Set<TokenStream> streams = ConcurrentHashMap.newKeySet();
    private final AtomicReference<Optional<Throwable>> failure = new AtomicReference<>(Optional.empty());
    private List<GenerationRequest> requests = List.of();
    private volatile long lastNanos;
    private volatile String aborted = "";

    /** The engine is closed by who opened it. */
    public EngineTarget(Engine engine, Endpoint.Ask ask, Clock clock) {
        this(
                engine,
                ask,
                clock,
                read -> Thread.ofVirtual().name("roseinfer-bench-stream").start(read));
    }

    /**
     * @param readers runs what reads a stream, each on a thread of its own
     */
    EngineTarget(Engine engine, Endpoint.Ask ask, Clock clock, Executor readers) {
        this.engine = engine;
        this.ask = ask;
        this.clock = clock;
        this.readers = readers;
        this.lastNanos = clock.nanos();
    }

    @Override
    public void prepare(List<OfferedRequest> offered, int mostAtOnce) {
        requests = offered.stream().map(this::request).toList();
    }

    private GenerationRequest request(OfferedRequest offered) {
        SamplingParams sampling = ask.temperature() == 0
                ? SamplingParams.greedy()
                : SamplingParams.random().withTemperature((float) ask.temperature());
        return GenerationRequest.of(offered.prompt())
                .withMaxNewTokens(offered.outputTokens())
                .withSampling(sampling)
                .withIgnoreEndOfText(ask.ignoreEos());
    }

    @Override
    public void send(Call call, Consumer<Call> ended) {
        call.sentNanos = clock.nanos();
        try {
            TokenStream stream = engine.submit(requests.get(call.id));
            // Before its reader starts: a stream is given up whether or not a thread reads it.
            streams.add(stream);
            readers.execute(() -> read(stream, call, ended));
        } catch (RoseException refused) {
            call.fail(refused.getMessage());
            call.endNanos = clock.nanos();
            ended.accept(call);
        }
    }

    private void read(TokenStream stream, Call call, Consumer<Call> ended) {
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
            call.lastChoiceNanos = call.events == 0 ? clock.nanos() : call.lastChoiceNanos;
            if (completion.finishReason() == FinishReason.CANCELLED) {
                call.fail(aborted);
            }
        } catch (RoseException failed) {
            call.fail(failed.getMessage());
        } catch (RuntimeException | Error broken) {
            call.fail("its reader failed: " + broken);
            failure.compareAndSet(Optional.empty(), Optional.of(broken));
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
                Arrays.stream(timeline.tokenNanos()).boxed().toList(),
                List.of(),
                List.of(),
                new ServerStamps.Served(timeline.engine(), completion.cachedTokens()));
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
        return Objects.requireNonNull(failure.get());
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

package io.roseinfer.bench.replay;

import io.roseinfer.backend.ModelRunner;
import io.roseinfer.base.Check;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.SplitMix64;
import io.roseinfer.bench.http.CallResult;
import io.roseinfer.bench.http.ClientCost;
import io.roseinfer.bench.http.LoadResult;
import io.roseinfer.bench.http.Oddities;
import io.roseinfer.bench.http.ServerStamps;
import io.roseinfer.bench.load.OfferedLoad;
import io.roseinfer.bench.load.OfferedRequest;
import io.roseinfer.engine.OnlineScheduler;
import io.roseinfer.engine.Prompt;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.observe.Observers;
import io.roseinfer.observe.StepEvent;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.scheduler.SchedulerOptions;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.function.Supplier;

/**
 * An engine in simulated time: the real scheduler, KV pool and prefix cache over a simulated runner, with the step durations of
 * {@link StepTimes}. Up to the runner's limit, steps are launched ahead: the device starts one when the previous ends, and requests that
 * arrive meanwhile wait for the steps already launched. A run takes only as long as its scheduling.
 *
 * <p>Completions have exactly the requested length.
 */
public final class SimulatedServer {
    private static final long ARRIVING = 1;
    private static final long DELIVERY = 2;

    private final Supplier<ModelRunner> runners;
    private final SchedulerOptions options;
    private final StepTimes times;
    private final int maxConcurrency;
    private final long seed;

    /**
     * Creates a server. Every run starts with an empty cache.
     *
     * @param runners opens a simulated runner
     * @param maxConcurrency maximum requests in flight
     * @param seed seed of random samples
     */
    public SimulatedServer(
            Supplier<ModelRunner> runners, SchedulerOptions options, StepTimes times, int maxConcurrency, long seed) {
        this.runners = runners;
        this.options = options;
        this.times = times;
        this.maxConcurrency = maxConcurrency;
        this.seed = seed;
    }

    /**
     * Runs a load whose prompts are token ids; the run starts at 0.
     *
     * @throws BadInput if a prompt is text, or a request has a grammar
     */
    public LoadResult run(OfferedLoad load) {
        try (ModelRunner runner = runners.get()) {
            return new Run(runner, load).run();
        }
    }

    /** A request with its timestamps so far. */
    private static final class Request {
        private final int id;
        private final OfferedRequest offered;
        private long dueNanos;
        private long sentNanos;
        private long queuedNanos;
        private long admittedNanos = ServerStamps.UNKNOWN;
        private int cachedTokens = -1;
        private final List<Long> tokens = new ArrayList<>();
        private final List<Long> seen = new ArrayList<>();
        private Optional<String> error = Optional.empty();

        private Request(int id, OfferedRequest offered) {
            this.id = id;
            this.offered = offered;
        }

        private int[] prompt() {
            if (offered.structuredOutputs().isPresent()) {
                throw new BadInput("simulated time computes no masks, but request " + id
                        + " has structured_outputs; remove the field");
            }
            return switch (offered.prompt()) {
                case Prompt.Tokens tokens -> tokens.ids();
                case Prompt.Text text ->
                    throw new BadInput("simulated time needs token ids, but request " + id + " is text");
            };
        }

        /** Records the launch of a step with a row of this request; the first such step admits it. */
        private void isIn(long launchNanos, int fromCache) {
            if (admittedNanos == ServerStamps.UNKNOWN) {
                admittedNanos = launchNanos;
                cachedTokens = fromCache;
            }
        }

        private long endNanos() {
            return seen.isEmpty() ? sentNanos : seen.getLast();
        }

        private CallResult result() {
            int prompt = prompt().length;
            return new CallResult(
                    id,
                    prompt,
                    offered.outputTokens(),
                    new CallResult.Times(dueNanos, sentNanos, sentNanos, endNanos(), endNanos()),
                    new CallResult.Arrived(CallResult.Counted.IDS, seen, Collections.nCopies(seen.size(), 1)),
                    new CallResult.Usage(prompt, seen.size(), prompt + seen.size()),
                    Optional.of(new ServerStamps(
                            sentNanos,
                            ServerStamps.UNKNOWN,
                            queuedNanos,
                            admittedNanos,
                            tokens,
                            List.of(),
                            List.of(),
                            new ServerStamps.Served(0, cachedTokens))),
                    error);
        }
    }

    /** The state of one run. */
    private final class Run {
        private final OnlineScheduler scheduler;
        private final OfferedLoad load;
        private final List<Request> requests = new ArrayList<>();
        private final Map<Long, Request> running = new HashMap<>();
        /** Requests sent but not yet queued in the scheduler, by arrival time. */
        private final PriorityQueue<Request> arriving =
                new PriorityQueue<>(Comparator.comparingLong((Request request) -> request.queuedNanos)
                        .thenComparingInt(request -> request.id));

        /** The times at which concurrency slots become free. */
        private final PriorityQueue<Long> places = new PriorityQueue<>();

        /** The launch times of the steps in flight, oldest first. */
        private final ArrayDeque<Long> launchedNanos = new ArrayDeque<>();

        private final List<StepRecord> steps = new ArrayList<>();
        private boolean stepped;
        private int sent;
        private long nowNanos;
        /** The time when the device has finished all completed steps. */
        private long deviceFreeNanos;

        private Run(ModelRunner runner, OfferedLoad load) {
            this.load = load;
            for (int id = 0; id < load.requests().size(); id++) {
                requests.add(new Request(id, load.requests().get(id)));
            }
            places.addAll(Collections.nCopies(Math.min(maxConcurrency, requests.size()), 0L));
            this.scheduler = new OnlineScheduler(runner, options, () -> nowNanos, 1, Observers.ofSteps(this::onStep));
        }

        private void onStep(StepEvent event, StepRecord step) {
            if (event == StepEvent.APPLIED) {
                long[] facts = new long[StepRecord.FACTS];
                step.copyTo(facts, 0);
                steps.add(StepRecord.copyOf(facts, 0));
                stepped = true;
            }
        }

        private LoadResult run() {
            while (true) {
                send();
                takeIn();
                launch();
                if (scheduler.inFlight() > 0) {
                    complete();
                } else if (arriving.isEmpty()) {
                    break;
                } else {
                    nowNanos = Math.max(nowNanos, arriving.peek().queuedNanos)
                            + times.host().wakeNanos();
                }
            }
            long endNanos = requests.stream().mapToLong(Request::endNanos).max().orElse(0);
            return new LoadResult(
                    0,
                    Math.max(1, endNanos),
                    load.isScheduled(),
                    requests.stream().map(Request::result).toList(),
                    ClientCost.NONE,
                    Oddities.NONE,
                    steps);
        }

        /** Sends every request that has a concurrency slot, even in the future: it then arrives later. */
        private void send() {
            while (sent < requests.size() && !places.isEmpty()) {
                Request request = requests.get(sent++);
                long freeNanos = places.remove();
                request.dueNanos = load.isScheduled() ? request.offered.dueNanos() : freeNanos;
                request.sentNanos = Math.max(request.dueNanos, freeNanos);
                request.queuedNanos =
                        request.sentNanos + HostTimes.draw(times.host().arriving(), key(ARRIVING, request.id, 0));
                arriving.add(request);
            }
        }

        private void takeIn() {
            while (!arriving.isEmpty() && arriving.peek().queuedNanos <= nowNanos) {
                Request request = arriving.remove();
                try {
                    long id = scheduler.enqueue(
                            request.prompt(), request.offered.outputTokens(), SamplingParams.greedy(), 0, true);
                    running.put(id, request);
                } catch (BadInput refused) {
                    request.error = Optional.of(refused.jsonMessage());
                    places.add(request.sentNanos);
                }
            }
        }

        private void launch() {
            while (scheduler.launch()) {
                launchedNanos.add(nowNanos);
                for (long id : scheduler.launchedIds()) {
                    Objects.requireNonNull(running.get(id)).isIn(nowNanos, scheduler.cachedTokens(id));
                }
            }
            Check.that(scheduler.inFlight() > 0 || !scheduler.hasUnfinished(), "requests wait and nothing can run");
        }

        private void complete() {
            stepped = false;
            OnlineScheduler.StepTokens tokens = scheduler.complete();
            Check.that(stepped, "a step has ended and was not applied");
            long launchNanos = launchedNanos.remove();
            long startNanos = Math.max(launchNanos, deviceFreeNanos);
            StepRecord record = steps.getLast();
            nowNanos = times.endNanos(StepShape.of(record), startNanos, steps.size() - 1);
            deviceFreeNanos = nowNanos;
            record.set(Fact.START_NANOS, launchNanos);
            record.set(Fact.DEVICE_NANOS, nowNanos - launchNanos);
            for (int i = 0; i < tokens.size(); i++) {
                deliver(Objects.requireNonNull(running.get(tokens.requestId(i))));
            }
            for (long ended : scheduler.popFinishedIds()) {
                Request request = Objects.requireNonNull(running.remove(ended));
                scheduler.discardRequest(ended);
                places.add(request.endNanos());
            }
            if (times.host().iterationNanos() > 0) {
                nowNanos = times.pace().endNanos(nowNanos, (double) times.host().iterationNanos(), steps.size());
            }
        }

        private void deliver(Request request) {
            HostTimes host = times.host();
            boolean first = request.tokens.isEmpty();
            // One delay for all later tokens of a request. Recorded delays are correlated; with independent delays a
            // token
            // would also wait for every late token before it.
            long delay = HostTimes.draw(first ? host.first() : host.later(), key(DELIVERY, request.id, first ? 0 : 1));
            request.tokens.add(nowNanos);
            request.seen.add(Math.max(nowNanos + delay, first ? 0 : request.seen.getLast()));
        }

        private long key(long purpose, int request, int token) {
            return SplitMix64.at(SplitMix64.at(seed ^ purpose, request), token);
        }
    }
}

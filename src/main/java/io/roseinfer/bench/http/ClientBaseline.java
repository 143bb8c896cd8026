package io.roseinfer.bench.http;

import com.fasterxml.jackson.annotation.JsonProperty;
import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.bench.load.Arrivals;
import io.roseinfer.bench.load.OfferedLoad;
import io.roseinfer.bench.load.RandomPrompts;
import io.roseinfer.metrics.Summary;
import java.time.Duration;
import java.util.Optional;

/**
 * The client baseline: the client's own limits, measured against {@link NullServer} on the same machine. Results below these values
 * cannot be resolved.
 *
 * @param tokenEventsPerSecond token events per second that the client processes, with 32 concurrent streams
 * @param lagMillis dispatch lag at 1,000 requests per second
 * @param ttftMillis time to first token at that rate
 */
public record ClientBaseline(
        @JsonProperty("token_events_s") double tokenEventsPerSecond,
        @JsonProperty("dispatch_lag_ms") Summary lagMillis,
        Summary ttftMillis) {
    private static final Duration SILENCE = Duration.ofSeconds(30);
    private static final int STREAMS = 32;
    private static final double RATE = 1000;
    private static final int PACED = 300;
    private static final int MAX_ROUNDS = 10;
    /** Open files: two per connection, and the JVM's. */
    private static final int MIN_FILES = 1024;
    /** Compile time per round below which the JVM counts as warm: a twentieth of a processor. */
    private static final long LITTLE_MILLIS = 30;

    /**
     * Measures for a few seconds, which also warms up the client.
     *
     * @throws BadInput if requests fail; the server is this process, so file descriptors have run out
     */
    public static ClientBaseline measure(int readers, Clock clock) {
        // The first reading opens a library, which needs a file: before the sockets take them all.
        long unused = Compilers.millis();
        Endpoint.Ask ask = new Endpoint.Ask(0, true, true, true, false);
        try (NullServer server = NullServer.start();
                HttpTarget target = new HttpTarget(
                        new Endpoint(server.uri(), Endpoint.Kind.COMPLETIONS, "null", Optional.empty(), ask),
                        readers,
                        clock,
                        "floor")) {
            LoadRun bounded = new LoadRun(target, STREAMS, SILENCE, clock);
            LoadRun unbounded = new LoadRun(target, LoadRun.UNBOUNDED, SILENCE, clock);
            warmUp(bounded, unbounded);
            LoadResult burst = whole(bounded.run(load(2 * STREAMS, 400, Double.POSITIVE_INFINITY)));
            LoadResult paced = whole(unbounded.run(load(PACED, 4, RATE)));
            return new ClientBaseline(
                    burst.outputTokens() / burst.seconds(),
                    Summary.of(LatencyTable.lag(paced)),
                    Summary.of(LatencyTable.ttft(paced)));
        } catch (BadInput failed) {
            throw new BadInput(
                    "the client cannot measure itself: "
                            + String.valueOf(failed.getMessage()).split(";", 2)[0]
                            + "; raise the limit of open files (ulimit -n) to " + MIN_FILES + " or more",
                    failed);
        }
    }

    /** Fails if a request of the run failed. */
    private static LoadResult whole(LoadResult run) {
        run.calls().stream().flatMap(call -> call.error().stream()).findFirst().ifPresent(why -> {
            throw new BadInput(why);
        });
        return run;
    }

    /** Runs rounds until the compilers have little left to do; otherwise they would delay due requests. */
    private static void warmUp(LoadRun bounded, LoadRun unbounded) {
        long compileMillis = Long.MAX_VALUE;
        for (int round = 0; round < MAX_ROUNDS && compileMillis > LITTLE_MILLIS; round++) {
            compileMillis = whole(bounded.run(load(2 * STREAMS, 200, Double.POSITIVE_INFINITY)))
                            .cost()
                            .compileMillis()
                    + whole(unbounded.run(load(PACED, 4, RATE))).cost().compileMillis();
        }
    }

    private static OfferedLoad load(int requests, int tokens, double rate) {
        return OfferedLoad.of(
                new RandomPrompts(16, tokens, 0, 0, 256, 0).requests(requests),
                new Arrivals(rate, Double.POSITIVE_INFINITY, 0));
    }
}

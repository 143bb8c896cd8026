package io.roseinfer.bench.replicas;

import io.roseinfer.base.StrictJson;
import io.roseinfer.bench.http.CallResult;
import io.roseinfer.bench.http.EngineResponse;
import io.roseinfer.bench.http.LoadResult;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.metrics.Summary;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.zip.GZIPInputStream;
import tools.jackson.databind.JsonNode;

/**
 * A measured run.
 *
 * @param seconds duration
 * @param requests all requests
 * @param host what the run took of this process; all 0 over HTTP
 */
record Measured(double seconds, List<Request> requests, Host host) {
    private static final double NANOS_PER_SECOND = 1e9;

    /**
     * A request.
     *
     * @param engine the replica that served it; 0 if it failed
     * @param tokens tokens that the client received
     * @param gapNanos longest time between two tokens
     * @param error reason for its failure, if it failed
     */
    record Request(int engine, int tokens, long gapNanos, Optional<String> error) {}

    /**
     * The use of the engine's process by a run.
     *
     * @param submitMicros median duration of {@code Engine.submit}
     * @param cores processors used
     * @param waitShare part of the time that a replica's thread waits for its device, as a mean over the replicas; near 0 the host is the
     *     limit
     */
    record Host(double submitMicros, double cores, double waitShare) {
        static final Host UNKNOWN = new Host(0, 0, 0);
    }

    /** Returns a run in this process on {@code replicas} replicas. */
    static Measured of(LoadResult run, int replicas) {
        double waitNanos = run.steps().stream()
                .mapToDouble(step -> step.get(Fact.WAIT_NANOS))
                .sum();
        Summary submit = Summary.ofMicros(run.calls().stream()
                .flatMap(call -> call.engine().stream())
                .map(EngineResponse::stamps)
                .mapToDouble(stamps -> stamps.submitEndNanos() - stamps.submitStartNanos()));
        Host host = new Host(
                submit.p50(),
                run.cost().cpuNanos() / NANOS_PER_SECOND / run.seconds(),
                waitNanos / NANOS_PER_SECOND / run.seconds() / replicas);
        return new Measured(
                run.seconds(), run.calls().stream().map(Measured::request).toList(), host);
    }

    private static Request request(CallResult call) {
        return new Request(
                call.server().map(stamps -> stamps.served().engine()).orElse(0),
                call.arrivals().sum(),
                gapNanos(call.arrivals().nanos()),
                call.error());
    }

    private static long gapNanos(long... nanos) {
        long longest = 0;
        for (int i = 1; i < nanos.length; i++) {
            longest = Math.max(longest, nanos[i] - nanos[i - 1]);
        }
        return longest;
    }

    /** Reads a result file of {@code bench serve}, compressed with gzip. */
    static Measured read(Path file) throws IOException {
        JsonNode result;
        try (InputStream bytes = new GZIPInputStream(Files.newInputStream(file))) {
            result = StrictJson.parse(bytes.readAllBytes());
        }
        List<Request> requests = new ArrayList<>();
        for (JsonNode request : result.path("roseinfer").path("requests")) {
            long[] nanos = request.path("event_ns")
                    .valueStream()
                    .mapToLong(JsonNode::asLong)
                    .toArray();
            int tokens = 0;
            for (JsonNode count : request.path("event_tokens")) {
                tokens += count.asInt();
            }
            requests.add(new Request(
                    request.path("server").path("engine").asInt(0),
                    tokens,
                    gapNanos(nanos),
                    request.path("error").isNull()
                            ? Optional.empty()
                            : Optional.of(request.path("error").asString())));
        }
        return new Measured(result.path("duration").asDouble(), requests, Host.UNKNOWN);
    }

    List<Request> completed() {
        return requests.stream().filter(request -> request.error().isEmpty()).toList();
    }

    List<Request> failed() {
        return requests.stream().filter(request -> request.error().isPresent()).toList();
    }

    /** Returns the tokens of completed requests per second. */
    double tokensPerSecond() {
        return completed().stream().mapToLong(Request::tokens).sum() / seconds;
    }

    /** Returns the percentage of completed requests that each replica served. */
    List<Double> shares(int replicas) {
        List<Request> completed = completed();
        List<Double> shares = new ArrayList<>();
        for (int i = 0; i < replicas; i++) {
            int engine = i;
            long served = completed.stream()
                    .filter(request -> request.engine() == engine)
                    .count();
            shares.add(100.0 * served / Math.max(1, completed.size()));
        }
        return shares;
    }

    /** Returns the longest time between two tokens of a completed request, in milliseconds. */
    double longestGapMillis() {
        return completed().stream().mapToLong(Request::gapNanos).max().orElse(0) / NANOS_PER_SECOND * 1000;
    }
}

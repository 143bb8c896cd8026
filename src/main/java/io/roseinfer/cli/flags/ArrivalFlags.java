package io.roseinfer.cli.flags;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.bench.load.Arrivals;
import io.roseinfer.bench.load.OfferedLoad;
import io.roseinfer.bench.load.Ramp;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

/** Flags for the arrival times of requests. */
@Heading("Load")
public final class ArrivalFlags {
    @Option(
            names = "--request-rate",
            paramLabel = "<R|inf>",
            defaultValue = "inf",
            converter = Within.Infinite.class,
            preprocessor = Within.Check.class,
            description = "Requests per second; inf sends all requests at once.")
    @Within(above = 0, orInfinite = true)
    private double requestRate = Double.POSITIVE_INFINITY;

    @Option(
            names = "--burstiness",
            paramLabel = "<B|inf>",
            converter = Within.Infinite.class,
            preprocessor = Within.Check.class,
            description =
                    "Shape of the gamma distribution of request intervals: 1 is a Poisson process, lower is burstier, inf is one request"
                            + " every 1/R s.")
    @Within(above = 0, orInfinite = true)
    private double burstiness = 1;

    @Option(
            names = "--trace-speed",
            paramLabel = "<X>",
            preprocessor = Within.Check.class,
            description = "Replay a trace X times as fast as recorded; not with --request-rate.")
    @Within(above = 0)
    private double traceSpeed = 1;

    @Option(
            names = "--ramp-up-strategy",
            paramLabel = "<linear|exponential>",
            description = "Change the request rate during the run from --ramp-up-start-rps to --ramp-up-end-rps.",
            showDefaultValue = Visibility.NEVER)
    private Optional<Strategy> rampStrategy = Optional.empty();

    @Option(
            names = "--ramp-up-start-rps",
            paramLabel = "<R>",
            preprocessor = Within.Check.class,
            description = "Request rate at the start of the ramp.",
            showDefaultValue = Visibility.NEVER)
    @Within(above = 0)
    private Optional<Double> rampStart = Optional.empty();

    @Option(
            names = "--ramp-up-end-rps",
            paramLabel = "<R>",
            preprocessor = Within.Check.class,
            description = "Request rate at the end of the ramp.",
            showDefaultValue = Visibility.NEVER)
    @Within(above = 0)
    private Optional<Double> rampEnd = Optional.empty();

    /** The shape of a ramp. */
    enum Strategy {
        LINEAR,
        EXPONENTIAL
    }

    private Optional<Ramp> ramp() {
        return rampStrategy.map(
                strategy -> new Ramp(rampStart.orElse(0.0), rampEnd.orElse(0.0), strategy == Strategy.EXPONENTIAL));
    }

    /** Returns whether flags set the times of requests. */
    public boolean isGiven(CommandSpec command) {
        return ExplicitFlags.has(command, "--request-rate") || rampStrategy.isPresent();
    }

    /** Returns the requests per second; infinite without the flag. */
    public double requestRate() {
        return requestRate;
    }

    public double burstiness() {
        return burstiness;
    }

    /** Returns the arrival process that {@code --request-rate}, {@code --burstiness} and the ramp flags describe. */
    public Arrivals arrivals(long seed) {
        return new Arrivals(requestRate, burstiness, seed, ramp());
    }

    /**
     * Rejects flags that would have no effect.
     *
     * @param hasTimes whether the dataset has request times
     */
    public void requireConsistent(boolean hasTimes, CommandSpec command) {
        boolean ramped = rampStrategy.isPresent();
        if (ramped != rampStart.isPresent() || ramped != rampEnd.isPresent()) {
            throw new BadInput(
                    "a ramp needs --ramp-up-strategy, --ramp-up-start-rps and --ramp-up-end-rps; give all three");
        }
        if (ramped && ExplicitFlags.has(command, "--request-rate")) {
            throw new BadInput("--ramp-up-strategy and --request-rate are mutually exclusive; give one of them");
        }
        boolean rated = ramped || !Double.isInfinite(requestRate);
        if (ExplicitFlags.has(command, "--trace-speed") && (rated || !hasTimes)) {
            throw new BadInput("--trace-speed scales the times of a trace; "
                    + (rated ? "a request rate replaces them, so leave one out" : "these requests have none"));
        }
        if (ExplicitFlags.has(command, "--burstiness") && !rated && !hasTimes) {
            throw new BadInput("--burstiness shapes the intervals of --request-rate, which is inf; give a rate");
        }
    }

    /**
     * Returns a number of requests that is enough for a duration: a whole ramp, ten standard deviations more than
     * a rate expects, or all of a file; empty if requests have no times.
     */
    public OptionalInt enough(double seconds, DatasetFlags dataset) {
        if (ramp().isPresent()) {
            return OptionalInt.of(count(ramp().get().requests(seconds) * dataset.conversationTurns()));
        }
        double rate = requestRate;
        if (Double.isInfinite(rate)) {
            OptionalDouble own = dataset.ownRate();
            if (own.isEmpty()) {
                return OptionalInt.empty();
            }
            rate = own.getAsDouble() * traceSpeed;
        }
        double expected = rate * seconds * dataset.conversationTurns();
        double deviation = Math.sqrt(expected * dataset.conversationTurns() / Math.min(1, burstiness));
        return OptionalInt.of(count(expected + 10 * deviation + 10));
    }

    private static int count(double requests) {
        return (int) Math.clamp(Math.ceil(requests), 1, Integer.MAX_VALUE - 1);
    }

    /** Schedules requests at the times of {@code --request-rate}, or at their recorded times if there are any and no rate is given. */
    public OfferedLoad load(DatasetFlags.Requests data, long seed) {
        return data.hasTimes() && Double.isInfinite(requestRate) && rampStrategy.isEmpty()
                ? OfferedLoad.ofTrace(data.requests(), traceSpeed)
                : OfferedLoad.of(data.requests(), arrivals(seed));
    }
}

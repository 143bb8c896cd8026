package io.roseinfer.cli.bench;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.bench.http.LoadResult;
import io.roseinfer.bench.load.OfferedLoad;
import io.roseinfer.bench.load.OfferedRequest;
import io.roseinfer.bench.report.Environment;
import io.roseinfer.cli.terminal.Terminal;
import io.roseinfer.observe.Observers;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/** The system under test: a server, an in-process engine, or a simulated engine. Opened once for any number of runs. */
sealed interface SystemUnderTest extends AutoCloseable permits ServerUnderTest, EngineUnderTest, SimulationUnderTest {

    /** Opens the system that flags describe. */
    static SystemUnderTest open(ServeCommandLine line, Terminal terminal) {
        BackendFlags.check(line, terminal);
        return switch (line.flags().endpoint().backend()) {
            case HTTP -> ServerUnderTest.elsewhere(line, terminal);
            case NULL -> ServerUnderTest.onlyWriting(line, terminal);
            case ENGINE -> EngineUnderTest.load(line, terminal);
            case SIM -> SimulationUnderTest.load(line, terminal);
        };
    }

    /**
     * Runs a load after a warm-up, with the client limits of the flags.
     *
     * @throws BadInput if none of the requests fits the model's context
     */
    default LoadResult run(BenchServeFlags flags, OfferedLoad load) {
        return run(flags, load, Observers.NONE);
    }

    /**
     * Runs a load like {@link #run(BenchServeFlags, OfferedLoad)}.
     *
     * @param observers notified by an engine in this process, not during the warm-up
     */
    default LoadResult run(BenchServeFlags flags, OfferedLoad load, Observers observers) {
        contextLength().ifPresent(length -> requireRoom(load, length));
        return offer(flags, load, observers);
    }

    /** Runs a load as {@link #run} does, without checking the prompts. */
    LoadResult offer(BenchServeFlags flags, OfferedLoad load, Observers observers);

    /** Shortens the default lengths of a command line's requests to the context of an in-process engine. */
    default void fitLengths(ServeCommandLine line) {
        if (!(this instanceof ServerUnderTest)) {
            contextLength().ifPresent(length -> {
                Optional<String> unused = line.flags().fitLengths(line.command(), length);
            });
        }
    }

    /** Returns notes on the settings of this system, which are the same for every run. */
    default List<String> notesOnSettings() {
        return List.of();
    }

    /** Returns notes on a run on this system, in addition to its verdict and {@link #notesOnSettings}. */
    default List<String> notes(LoadResult result) {
        return List.of();
    }

    /** Returns the share of a run's simulated time whose step costs are extrapolated, 0 to 1; empty without measured costs. */
    default OptionalDouble extrapolatedShare(LoadResult result) {
        return OptionalDouble.empty();
    }

    /** Returns whether the step costs of simulated time are fitted to the run that is replayed. */
    default boolean hasReplayedCosts() {
        return false;
    }

    /** Lets {@link #environment} describe later runs only; runs in simulated time have properties that belong to it. */
    default void forgetRuns() {}

    /** Returns the model's context length; empty if unknown. */
    OptionalInt contextLength();

    private static void requireRoom(OfferedLoad load, int contextLength) {
        int shortest = load.requests().stream()
                .mapToInt(OfferedRequest::promptTokens)
                .min()
                .orElse(0);
        int smallest = load.requests().stream()
                .mapToInt(request -> request.promptTokens() < 0 ? 0 : request.promptTokens() + request.outputTokens())
                .min()
                .orElse(0);
        if (shortest >= contextLength) {
            throw new BadInput("every prompt is too long for the model's context: the shortest has " + shortest
                    + " tokens, and the context of " + contextLength + " allows up to " + (contextLength - 1)
                    + "; give shorter prompts (--random-input-len, or --clip-to for a trace)");
        }
        if (smallest > contextLength) {
            throw new BadInput("every request exceeds the model's context: the smallest has " + smallest
                    + " tokens, prompt plus completion, and the context is " + contextLength
                    + "; give smaller ones (--random-input-len, --random-output-len, or --clip-to for a trace)");
        }
    }

    /** Returns the name of the model. */
    String model();

    /** Returns the effective values of all flags that apply to this system. */
    Map<String, @Nullable Object> settings();

    Environment environment();

    @Override
    void close();
}

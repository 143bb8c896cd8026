package io.roseinfer;

import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.Precision;
import io.roseinfer.base.Clock;
import io.roseinfer.engine.Engine;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.observe.Observers;
import io.roseinfer.sampling.SamplingDefaults;
import io.roseinfer.tokenizer.Tokenizer;
import io.roseinfer.tokenizer.chat.ChatTemplate;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.IntFunction;

/** A model on a device, or on several that serve together. It can serve one engine at a time, one after another. */
public final class LoadedModel implements AutoCloseable {
    /** Longest wait for compiled kernels: only a machine that is busy with something else takes it. */
    private static final long MOST_KERNEL_NANOS = 10_000_000_000L;

    /**
     * Longest wait for the fastest kernels of a large model. Those that are not compiled by then are compiled beside the first requests,
     * and so is the engine's own code: the compiler would get to it after them.
     */
    private static final long FASTEST_KERNEL_NANOS = 2_200_000_000L;

    private final Copies copies;
    private final Optional<Tokenizer> tokenizer;
    private final Optional<ChatTemplate> chat;
    private final SamplingDefaults samplingDefaults;
    /** The options that the runner was sized for. */
    private final EngineOptions options;

    private final Observers profiler;
    private final List<String> warnings;
    private long warmUpNanos;

    LoadedModel(
            Copies copies,
            Optional<Tokenizer> tokenizer,
            Optional<ChatTemplate> chat,
            SamplingDefaults samplingDefaults,
            EngineOptions options,
            Observers profiler,
            List<String> warnings) {
        this.copies = copies;
        this.tokenizer = tokenizer;
        this.chat = chat;
        this.samplingDefaults = samplingDefaults;
        this.options = options;
        this.profiler = profiler;
        this.warnings = List.copyOf(warnings);
    }

    public ModelSpec spec() {
        return runner().spec();
    }

    /** The model on its device; on the first, if it was loaded to several. */
    public ModelRunner runner() {
        return copies.runner();
    }

    /** How many replicas serve it. */
    public int replicas() {
        return copies.runners().size();
    }

    public Optional<Tokenizer> tokenizer() {
        return tokenizer;
    }

    /** How the model wants conversations written; empty if it does not say. */
    public Optional<ChatTemplate> chat() {
        return chat;
    }

    /** How the model's authors want tokens chosen where nobody says otherwise. */
    public SamplingDefaults samplingDefaults() {
        return samplingDefaults;
    }

    /** The device's short name, {@code cpu} or {@code cuda}. */
    public String device() {
        return copies.backend().name();
    }

    /** One line on what the device runs with. */
    public String deviceDescription() {
        return copies.backend().description();
    }

    /** How the weights' matrices are held; empty on a device that has none. */
    public Optional<Precision> precision() {
        return runner().precision();
    }

    /** Processor threads that compute; 0 where something else does. */
    public int threads() {
        return copies.backend().threads();
    }

    /** The GPU that runs it, by its own name; empty if none does. */
    public Optional<String> gpu() {
        return copies.backend().gpu();
    }

    /**
     * Runs steps for their own sake until the kernels and the host's code are compiled: one to two and a half seconds on the
     * processor, several on one that others keep busy, half a second on a GPU. Without it the first requests are served many times
     * more slowly; with few tokens to generate that is still the sooner end. No engine may be open. What a model generates does not
     * depend on it.
     */
    public void warmUp(Clock clock) {
        long startNanos = Objects.requireNonNull(clock, "clock").nanos();
        boolean compiled = true;
        for (ModelRunner runner : copies.runners()) {
            compiled &= runner.warmUp(MOST_KERNEL_NANOS, FASTEST_KERNEL_NANOS);
        }
        long budgetNanos =
                EngineWarmUp.budgetNanos(copies.backend().warmUpNanos(), compiled, clock.nanos() - startNanos);
        if (budgetNanos > 0) {
            for (ModelRunner runner : copies.runners()) {
                EngineWarmUp.run(runner, options, clock, budgetNanos, profiler);
            }
        }
        warmUpNanos += clock.nanos() - startNanos;
    }

    /** Warms the kernels up alone, to the last: for measurements of the model without an engine. */
    public void warmUpKernels(Clock clock) {
        long startNanos = Objects.requireNonNull(clock, "clock").nanos();
        boolean unused = runner().warmUp(MOST_KERNEL_NANOS, MOST_KERNEL_NANOS);
        warmUpNanos += clock.nanos() - startNanos;
    }

    /** How long it has been warmed up so far. */
    public long warmUpNanos() {
        return warmUpNanos;
    }

    /** Warnings to read before trusting a result or a speed; usually none. */
    public List<String> warnings() {
        return warnings;
    }

    /** The same options with the block size the model was loaded with, which attention that is not paged sets. */
    public EngineOptions fitting(EngineOptions options) {
        return Objects.requireNonNull(options, "options")
                .withBlockSize(runner().kv().blockSize());
    }

    /** Serves with options that ask for no more than the model was loaded for. Closing the engine leaves the model loaded. */
    public Engine serve(EngineOptions options) {
        return serve(options, Clock.system());
    }

    /** As {@link #serve(EngineOptions)}, with stamps from another clock. */
    public Engine serve(EngineOptions options, Clock clock) {
        return serve(options, clock, Observers.NONE);
    }

    /** As {@link #serve(EngineOptions, Clock)}, and tells more instruments what the engine does. */
    public Engine serve(EngineOptions options, Clock clock, Observers observers) {
        return serve(options, clock, observers, replica -> Observers.NONE);
    }

    /** As {@link #serve(EngineOptions, Clock, Observers)}, and tells some instruments of one replica's steps alone. */
    public Engine serve(EngineOptions options, Clock clock, Observers observers, IntFunction<Observers> each) {
        Objects.requireNonNull(observers, "observers");
        return Engine.open(
                copies.runners(), tokenizer, fitting(options), copies.routing(), clock, profiler.and(observers), each);
    }

    /** Shows the profiler that started the program what an engine does; nobody, unless there is one and it was asked for. */
    public Observers profiler() {
        return profiler;
    }

    @Override
    public void close() {
        copies.close();
    }
}

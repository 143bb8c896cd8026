package io.roseinfer;

import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.Precision;
import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.StrictJson;
import io.roseinfer.engine.Engine;
import io.roseinfer.engine.EngineLimits;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.engine.EngineWarmUp;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.engine.routing.RoutingPolicy;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.observe.Observers;
import io.roseinfer.sampling.SamplingDefaults;
import io.roseinfer.tokenizer.Tokenizer;
import io.roseinfer.tokenizer.chat.ChatTemplate;
import io.roseinfer.tokenizer.chat.Conversation;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;

/**
 * A model on a device, or on several that serve together. It serves one engine at a time, one after another, and closing it closes the
 * one that it serves. Engines may be opened and closed by any thread.
 */
public final class LoadedModel implements AutoCloseable {
    /** Longest wait for compiled kernels: only a machine that is busy with something else takes it. */
    private static final long MAX_KERNEL_NANOS = 10_000_000_000L;

    /**
     * Longest wait for the fastest kernels of a large model. Those that are not compiled by then are compiled beside the first requests,
     * and so is the engine's own code: the compiler would get to it after them.
     */
    private static final long FASTEST_KERNEL_NANOS = 2_200_000_000L;

    private final Copies copies;
    private final String name;
    private final Optional<Tokenizer> tokenizer;
    private final Optional<ChatTemplate> chat;
    private final SamplingDefaults samplingDefaults;
    /** The options that the model was loaded with. */
    private final EngineOptions options;

    private final DeviceOptions deviceOptions;
    private final Observers profiler;
    private final List<String> warnings;
    private final Object serving = new Object();
    private volatile @Nullable Engine served;
    private boolean closed;
    private boolean freed;
    private long warmUpNanos;

    LoadedModel(
            Copies copies,
            Optional<Tokenizer> tokenizer,
            Optional<ChatTemplate> chat,
            SamplingDefaults samplingDefaults,
            EngineOptions options,
            DeviceOptions deviceOptions,
            Observers profiler,
            List<String> warnings) {
        this.copies = copies;
        this.name = copies.runner().spec().name();
        this.tokenizer = tokenizer;
        this.chat = chat;
        this.samplingDefaults = samplingDefaults;
        this.options = options;
        this.deviceOptions = deviceOptions;
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

    /**
     * A request for the answer to a conversation: written as the model's chat template has it, as token ids, drawn as the model's authors want
     * ({@link #samplingDefaults}), and as long as they, the context and the KV pool allow. A message's text may hold the template's own
     * marks, which are read as such: who serves other people's texts looks at them before. The request can be changed further, and submitted to an engine that
     * serves this model.
     *
     * @param messages oldest first
     * @throws BadInput if there is no message, if the model has no chat template or no tokenizer, or its template refuses the messages
     */
    public GenerationRequest chatRequest(List<ChatMessage> messages) {
        Objects.requireNonNull(messages, "messages");
        if (messages.isEmpty()) {
            throw new BadInput("messages is empty; a conversation has at least one message to answer");
        }
        ChatTemplate template = chat.orElseThrow(
                () -> new BadInput(
                        spec().name()
                                + " has no chat template that can be used, so it takes no conversations; continue a text, GenerationRequest.of(text)"));
        Tokenizer words = tokenizer.orElseThrow(() -> new BadInput(spec().name()
                + " has no tokenizer, so a conversation cannot be read; GenerationRequest.ofTokens takes ids"));
        ArrayNode list = StrictJson.mapper().createArrayNode();
        for (ChatMessage message : messages) {
            Objects.requireNonNull(message, "one of the messages");
            list.addObject().put("role", message.role()).put("content", message.content());
        }
        String text = template.render(Conversation.of(list, LocalDateTime.now(ZoneId.systemDefault())));
        int[] prompt = words.encode(text);
        int room = Math.max(1, longest() - prompt.length);
        return GenerationRequest.ofTokens(prompt)
                .withSampling(samplingDefaults.params())
                .withMaxNewTokens(Math.min(room, samplingDefaults.maxNewTokens().orElse(room)));
    }

    /** The maximum tokens of a request: in the engine that is served, if there is one, else in one with the options of loading. */
    private int longest() {
        Engine engine = served;
        return engine != null && !engine.isClosed()
                ? engine.maxRequestTokens()
                : EngineLimits.maxRequestTokens(spec(), EngineLimits.pool(runner(), options));
    }

    /** The device's short name, {@code cpu} or {@code cuda}. */
    public String device() {
        return copies.backend().name();
    }

    /** Returns the options in force on the device. */
    public DeviceOptions deviceOptions() {
        return deviceOptions;
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
     * more slowly; with few tokens to generate that is still the sooner end. What a model generates does not
     * depend on it.
     *
     * <p>The device is in use meanwhile: {@link #serve} and {@link #close} on other threads wait for the end.
     *
     * @throws IllegalStateException if it serves an engine that is not closed, or is closed itself
     */
    public void warmUp() {
        warmUp(Clock.system());
    }

    /** As {@link #warmUp()}, by another clock. */
    public void warmUp(Clock clock) {
        Objects.requireNonNull(clock, "clock");
        synchronized (serving) {
            requireIdle();
            long startNanos = clock.nanos();
            boolean compiled = true;
            for (ModelRunner runner : copies.runners()) {
                compiled &= runner.warmUp(MAX_KERNEL_NANOS, FASTEST_KERNEL_NANOS);
            }
            long budgetNanos =
                    EngineWarmUp.budgetNanos(copies.backend().warmUpNanos(), compiled, clock.nanos() - startNanos);
            if (budgetNanos > 0) {
                for (ModelRunner runner : copies.runners()) {
                    EngineWarmUp.run(runner, fitting(options), clock, budgetNanos, profiler);
                }
            }
            warmUpNanos += clock.nanos() - startNanos;
        }
    }

    /** Warms the kernels up alone, to the last: for measurements of the model without an engine. */
    public void warmUpKernels(Clock clock) {
        Objects.requireNonNull(clock, "clock");
        synchronized (serving) {
            requireIdle();
            long startNanos = clock.nanos();
            boolean unused = runner().warmUp(MAX_KERNEL_NANOS, MAX_KERNEL_NANOS);
            warmUpNanos += clock.nanos() - startNanos;
        }
    }

    /** How long it has been warmed up so far. */
    public long warmUpNanos() {
        return warmUpNanos;
    }

    /** Warnings to read before trusting a result or a speed; usually none. */
    public List<String> warnings() {
        return warnings;
    }

    /** Returns the options with the block size of the device: without paged attention it is not the one that was asked for. */
    private EngineOptions fitting(EngineOptions asked) {
        int loaded = runner().kv().blockSize();
        if (asked.blockSize() != options.blockSize() && asked.blockSize() != loaded) {
            throw new BadInput("block_size is " + asked.blockSize() + "; the model was loaded with KV blocks of "
                    + loaded + " tokens, so ask for that, or load it with another block size");
        }
        return asked.withBlockSize(loaded);
    }

    /** Serves with the options that the model was loaded with. Closing the engine leaves the model loaded. */
    public Engine serve() {
        return serve(options);
    }

    /**
     * Serves with other options than those of loading, which ask for no more than the model was loaded for. Closing the engine leaves the
     * model loaded.
     *
     * @throws IllegalStateException if it serves an engine that is not closed, or is closed itself
     * @throws BadInput if the options ask for more, or for another block size
     */
    public Engine serve(EngineOptions options) {
        return serve(options, Clock.system());
    }

    /** As {@link #serve(EngineOptions)}, with stamps from another clock. */
    public Engine serve(EngineOptions options, Clock clock) {
        return serve(options, clock, Observers.NONE);
    }

    /** Serves like {@link #serve(EngineOptions, Clock)}, with observers besides the engine's own. */
    public Engine serve(EngineOptions options, Clock clock, Observers observers) {
        Objects.requireNonNull(options, "options");
        Objects.requireNonNull(clock, "clock");
        Objects.requireNonNull(observers, "observers");
        return serve(options, copies.routing(), clock, observers);
    }

    /** Serves as {@link #serve(EngineOptions, Clock)} does, with a routing policy in place of the one that the model was loaded with. */
    public Engine serve(EngineOptions options, RoutingPolicy routing, Clock clock) {
        Objects.requireNonNull(options, "options");
        Objects.requireNonNull(routing, "routing");
        Objects.requireNonNull(clock, "clock");
        return serve(options, routing, clock, Observers.NONE);
    }

    private Engine serve(EngineOptions options, RoutingPolicy routing, Clock clock, Observers observers) {
        synchronized (serving) {
            requireIdle();
            Engine engine =
                    Engine.open(copies.runners(), tokenizer, fitting(options), routing, clock, profiler.and(observers));
            served = engine;
            return engine;
        }
    }

    /** That no engine has its devices; to be called with {@link #serving} held. */
    private void requireIdle() {
        if (closed) {
            throw new IllegalStateException(
                    "the model " + name + " is closed and runs nothing any more; load it again");
        }
        Engine last = served;
        if (last != null && !last.isClosed()) {
            throw new IllegalStateException(
                    "the model " + name
                            + " serves an engine already, which has its device to itself; close that first, or send requests there");
        }
    }

    /** Shows the profiler that started the program what an engine does; nobody, unless there is one and it was asked for. */
    public Observers profiler() {
        return profiler;
    }

    /**
     * Closes the engine that it serves, if there is one, and frees the model's memory and device. Any thread, any number of times.
     *
     * @throws io.roseinfer.base.RoseException.EngineStopped if the engine's thread does not end, as {@link Engine#close()} says; nothing
     *     is freed then
     */
    @Override
    public void close() {
        Engine last;
        synchronized (serving) {
            closed = true;
            last = served;
        }
        if (last != null) {
            last.close();
        }
        synchronized (serving) {
            if (!freed) {
                freed = true;
                copies.close();
            }
        }
    }
}

package io.roseinfer;

import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.Precision;
import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.engine.ChatFormat;
import io.roseinfer.engine.ChatMessage;
import io.roseinfer.engine.ChatPrompt;
import io.roseinfer.engine.Engine;
import io.roseinfer.engine.EngineLimits;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.engine.EngineWarmUp;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.engine.Tools;
import io.roseinfer.engine.routing.RoutingPolicy;
import io.roseinfer.grammar.Grammar;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.observe.Observers;
import io.roseinfer.sampling.SamplingDefaults;
import io.roseinfer.scheduler.ExtensionFailure;
import io.roseinfer.tokenizer.Tokenizer;
import io.roseinfer.tokenizer.Tokenizers;
import io.roseinfer.tokenizer.chat.ChatTemplate;
import io.roseinfer.tokenizer.chat.Conversation;
import io.roseinfer.tokenizer.chat.reply.ReplyFormat;
import java.time.InstantSource;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A model loaded on one or more devices. It serves one engine at a time; closing the model closes that engine. Engines
 * may be opened and closed by any thread.
 */
public final class LoadedModel implements AutoCloseable {
    /** Maximum wait for all compiled kernels; only a machine busy with other work takes that long. */
    private static final long MAX_KERNEL_NANOS = 10_000_000_000L;

    /**
     * Maximum wait for the fastest kernels of a large model. Kernels and engine code not compiled by then are compiled
     * during the first requests.
     */
    private static final long FASTEST_KERNEL_NANOS = 2_200_000_000L;

    private final Copies copies;
    private final String name;
    private final Optional<Tokenizer> tokenizer;
    private final Optional<ChatTemplate> chat;
    /** Null until it is needed. */
    private volatile @Nullable ChatFormat chatFormat;

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
    /** Written with {@link #serving} held. */
    private volatile long warmUpNanos;

    private volatile boolean isWarm;

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

    /** Returns the sizes and structure of the model. */
    public ModelSpec spec() {
        return runner().spec();
    }

    /** Returns the model on its device, the first one if there are several replicas. */
    public ModelRunner runner() {
        return copies.runner();
    }

    /** Returns the number of replicas. */
    public int replicas() {
        return copies.runners().size();
    }

    /** Returns the tokenizer; empty if the model was loaded for token ids only, or has none. */
    public Optional<Tokenizer> tokenizer() {
        return tokenizer;
    }

    /** Returns the chat template, or empty if there is none. */
    public Optional<ChatTemplate> chat() {
        return chat;
    }

    /** Returns the sampling defaults of the model's authors. */
    public SamplingDefaults samplingDefaults() {
        return samplingDefaults;
    }

    /**
     * Returns a request that continues a conversation, as {@link #chatPrompt} does without tools.
     *
     * @param messages oldest first
     * @throws BadInput like {@link #chatPrompt}
     * @throws java.util.concurrent.CancellationException if the thread is interrupted; the interrupt status remains set
     */
    public GenerationRequest chatRequest(List<ChatMessage> messages) {
        return chatPrompt(messages, Tools.NONE).request();
    }

    /**
     * Returns a prompt that continues a conversation. The messages are rendered with the model's chat template and encoded. The
     * request has the authors' sampling defaults ({@link #samplingDefaults}) and the maximum length that those, the
     * context and the KV pool allow. It can be changed further, and submitted to an engine that serves this model.
     *
     * <p>A role reaches the template unchanged, which may skip a message with a role of OpenAI's API that it does not
     * know, or reject it. Special tokens in a message's text are encoded as such: check texts of untrusted users before.
     *
     * <p>May be called by any thread, also while an engine serves the model.
     *
     * @param messages oldest first
     * @throws BadInput if there is no message, if the model has no chat template or no tokenizer, if a role is neither
     *     one of OpenAI's API nor in the template, if the template rejects the messages, if the model does not support the
     *     tools, or if the result of a call has the id of no earlier call
     * @throws java.util.concurrent.CancellationException if the thread is interrupted; the interrupt status remains set
     */
    public ChatPrompt chatPrompt(List<ChatMessage> messages, Tools tools) {
        return chatPrompt(messages, tools, InstantSource.system());
    }

    /**
     * Returns a prompt as {@link #chatPrompt(List, Tools)} does, with another source of the date and time that the template
     * may contain.
     */
    public ChatPrompt chatPrompt(List<ChatMessage> messages, Tools tools, InstantSource time) {
        Objects.requireNonNull(messages, "messages");
        Objects.requireNonNull(tools, "tools");
        Objects.requireNonNull(time, "time");
        if (messages.isEmpty()) {
            throw new BadInput("messages is empty; it must have at least one message");
        }
        ChatFormat format = chatFormat()
                .orElseThrow(() -> new BadInput(
                        spec().name() + " has no usable chat template; use a text prompt, GenerationRequest.of(text)"));
        Tokenizer words = tokenizer.orElseThrow(() -> new BadInput(spec().name() + " has no tokenizer; "
                + Tokenizers.ADD_FILES + ", or use token ids, GenerationRequest.ofTokens"));
        format.requireSupported(tools);
        LocalDateTime now = LocalDateTime.ofInstant(time.instant(), ZoneId.systemDefault());
        String text =
                format.prompt(new Conversation(format.messages(messages), tools.definitions(), true, Map.of(), now));
        int[] prompt = words.encode(text);
        int room = Math.max(1, longest() - prompt.length);
        GenerationRequest request = GenerationRequest.ofTokens(prompt)
                .withSampling(samplingDefaults.params())
                .withMaxNewTokens(Math.min(room, samplingDefaults.maxNewTokens().orElse(room)));
        ReplyFormat reply = tools.replies(format).after(text);
        Optional<Grammar> calls = tools.grammar(reply, words, Optional.empty(), keyword -> {});
        return new ChatPrompt(calls.map(request::withGrammar).orElse(request), reply, words);
    }

    /** Returns the format of conversations, recognized when first needed. */
    private Optional<ChatFormat> chatFormat() {
        ChatFormat known = chatFormat;
        if (known == null && chat.isPresent()) {
            known = ChatFormat.of(chat.get());
            chatFormat = known;
        }
        return Optional.ofNullable(known);
    }

    /**
     * Returns the maximum length of a sequence in the engine that is served, or else in one with the options of
     * loading.
     */
    private int longest() {
        Engine engine = served;
        return engine != null && !engine.isClosed()
                ? engine.maxRequestTokens()
                : EngineLimits.maxRequestTokens(spec(), EngineLimits.pool(runner(), options));
    }

    /** Returns the device's short name, such as {@code cpu} or {@code cuda}. */
    public String device() {
        return copies.backend().name();
    }

    /** Returns the class of the device's backend, which is the user's for a custom device. */
    public Class<?> deviceClass() {
        return copies.backend().getClass();
    }

    /** Returns the options in force on the device. */
    public DeviceOptions deviceOptions() {
        return deviceOptions;
    }

    /** Returns a one-line description of the device. */
    public String deviceDescription() {
        return copies.backend().description();
    }

    /** Returns the precision of the weight matrices, or empty if the device has no weights. */
    public Optional<Precision> precision() {
        return runner().precision();
    }

    /** Returns the number of CPU threads that compute, or 0 on other devices. */
    public int threads() {
        return copies.backend().threads();
    }

    /** Returns the name of the GPU, or empty on other devices. */
    public Optional<String> gpu() {
        return copies.backend().gpu();
    }

    /**
     * Runs steps until the kernels and the host code are compiled. This takes 1 to 2.5 seconds on an idle CPU, and half
     * a second on a GPU. On a busy CPU it waits up to 10 seconds per replica for the kernels. Synthetic requests follow
     * for at most an eighth of that time, or half a second; those in progress are awaited, so a slow model takes longer.
     *
     * <p>Without it the first requests are many times slower; with few tokens to generate that still takes less time in
     * total. The tokens that a model generates do not depend on it.
     *
     * <p>The device is in use meanwhile: {@link #serve} and {@link #close} on other threads wait until it is done.
     *
     * @throws IllegalStateException if the model serves an engine that is open, or is closed itself
     * @throws java.util.concurrent.CancellationException if the thread is interrupted; the interrupt status remains set
     */
    public void warmUp() {
        warmUp(Clock.system());
    }

    /** Warms up as {@link #warmUp()} does, with another clock. */
    public void warmUp(Clock clock) {
        Objects.requireNonNull(clock, "clock");
        synchronized (serving) {
            requireIdle();
            long startNanos = clock.nanos();
            boolean compiled = true;
            for (ModelRunner runner : copies.runners()) {
                compiled &= warmUp(runner, FASTEST_KERNEL_NANOS);
                Roseinfer.requireUninterrupted("warmed up");
            }
            long budgetNanos =
                    EngineWarmUp.budgetNanos(copies.backend().warmUpNanos(), compiled, clock.nanos() - startNanos);
            if (budgetNanos > 0) {
                for (ModelRunner runner : copies.runners()) {
                    EngineWarmUp.run(runner, fitting(options), clock, budgetNanos, profiler);
                    Roseinfer.requireUninterrupted("warmed up");
                }
            }
            warmUpNanos += clock.nanos() - startNanos;
            isWarm = compiled;
        }
    }

    /** Warms up all kernels but not the engine, for measurements of the model without an engine. */
    public void warmUpKernels(Clock clock) {
        Objects.requireNonNull(clock, "clock");
        synchronized (serving) {
            requireIdle();
            long startNanos = clock.nanos();
            boolean unused = warmUp(runner(), MAX_KERNEL_NANOS);
            warmUpNanos += clock.nanos() - startNanos;
        }
    }

    private static boolean warmUp(ModelRunner runner, long fastestNanos) {
        try {
            return runner.warmUp(MAX_KERNEL_NANOS, fastestNanos);
        } catch (RuntimeException | LinkageError thrown) {
            throw ExtensionFailure.ofLoading(runner, thrown);
        }
    }

    /** Returns whether the last warm-up compiled all kernels in time; otherwise the first requests are slower. Does not block. */
    public boolean isWarm() {
        return isWarm;
    }

    /** Returns the total duration of the warm-ups that have ended. Does not block. */
    public long warmUpNanos() {
        return warmUpNanos;
    }

    /** Returns warnings about the model's results or speed; usually none. */
    public List<String> warnings() {
        return warnings;
    }

    /**
     * Returns the options with the device's block size, which without paged attention differs from the requested one.
     */
    private EngineOptions fitting(EngineOptions asked) {
        int loaded = runner().kv().blockSize();
        if (asked.blockSize() != options.blockSize() && asked.blockSize() != loaded) {
            throw BadInput.of(
                    "block_size",
                    asked.blockSize(),
                    "the model was loaded with KV blocks of " + loaded
                            + " tokens; use that, or load the model with another block size");
        }
        return asked.withBlockSize(loaded);
    }

    /** Serves with the options of loading. Closing the engine leaves the model loaded. */
    public Engine serve() {
        return serve(options);
    }

    /**
     * Serves with other options than the model was loaded with, which must not exceed them. Closing the engine leaves the model
     * loaded.
     *
     * @throws IllegalStateException if the model serves an engine that is open, or is closed itself
     * @throws BadInput if the options exceed the options of loading, or have another block size
     */
    public Engine serve(EngineOptions options) {
        return serve(options, Clock.system());
    }

    /** Serves as {@link #serve(EngineOptions)} does, with timestamps from another clock. */
    public Engine serve(EngineOptions options, Clock clock) {
        return serve(options, clock, Observers.NONE);
    }

    /** Serves as {@link #serve(EngineOptions, Clock)} does, with observers in addition to the engine's. */
    public Engine serve(EngineOptions options, Clock clock, Observers observers) {
        return serve(options, copies.routing(), clock, observers);
    }

    /**
     * Serves as {@link #serve(EngineOptions, Clock)} does, with a routing policy instead of the one the model was
     * loaded with.
     */
    public Engine serve(EngineOptions options, RoutingPolicy routing, Clock clock) {
        return serve(options, routing, clock, Observers.NONE);
    }

    /** Serves as {@link #serve(EngineOptions, RoutingPolicy, Clock)} does, with observers in addition to the engine's. */
    public Engine serve(EngineOptions options, RoutingPolicy routing, Clock clock, Observers observers) {
        Objects.requireNonNull(options, "options");
        Objects.requireNonNull(routing, "routing");
        Objects.requireNonNull(clock, "clock");
        Objects.requireNonNull(observers, "observers");
        synchronized (serving) {
            requireIdle();
            Engine engine = Engine.open(
                    copies.runners(),
                    tokenizer,
                    this::chatPrompt,
                    fitting(options),
                    routing,
                    clock,
                    profiler.and(observers));
            served = engine;
            return engine;
        }
    }

    /** Throws if an engine uses the devices; to be called with {@link #serving} held. */
    private void requireIdle() {
        if (closed) {
            throw new IllegalStateException("the model " + name + " is closed; load it again");
        }
        Engine last = served;
        if (last != null && !last.isClosed()) {
            throw new IllegalStateException("the model " + name
                    + " already serves an engine; close that engine first, or submit requests to it");
        }
    }

    /** Returns the observers that report to the profiler, or none unless there is one and ranges were requested. */
    public Observers profiler() {
        return profiler;
    }

    /**
     * Closes the engine that it serves, if there is one, and frees the model's memory and device. May be called by any
     * thread, any number of times.
     *
     * @throws io.roseinfer.base.RoseException.EngineStopped if the engine's thread does not end (see
     *     {@link Engine#close()}); nothing is freed then
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

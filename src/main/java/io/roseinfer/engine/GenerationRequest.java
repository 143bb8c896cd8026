package io.roseinfer.engine;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.grammar.Grammar;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.sampling.TokenConstraints;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;

/**
 * A request for one completion. Immutable; {@code with…} methods return modified copies.
 *
 * @param prompt the prompt to continue
 * @param maxNewTokens maximum tokens to generate; fewer if the context is full; 0 only computes the prompt
 * @param sampling sampling parameters
 * @param seed seed of the random stream, which gives the same tokens in any batch; assigned by the engine if empty
 * @param stop stop strings; the text ends before the first of them; at most {@value #MAX_STOP_STRINGS} of at most
 *     {@value #MAX_STOP_CHARS} characters
 * @param stopTokens token ids that end the completion like the model's end-of-text tokens and are not part of the text;
 *     at most {@value #MAX_STOP_TOKENS}
 * @param ignoreEndOfText whether to continue after the model's end-of-text token
 * @param constraints limits on the tokens of the completion
 * @param options deadline, priority, tenant, tag and others that do not affect the tokens
 */
public record GenerationRequest(
        Prompt prompt,
        int maxNewTokens,
        SamplingParams sampling,
        OptionalLong seed,
        List<String> stop,
        List<Integer> stopTokens,
        boolean ignoreEndOfText,
        TokenConstraints constraints,
        RequestOptions options) {

    /** Maximum stop strings of a request. */
    public static final int MAX_STOP_STRINGS = 4;

    /** Maximum characters (UTF-16 code units) of a stop string. */
    public static final int MAX_STOP_CHARS = 64;

    /** Maximum stop tokens of a request. */
    public static final int MAX_STOP_TOKENS = 64;

    /** Default maximum of generated tokens. */
    public static final int DEFAULT_NEW_TOKENS = 64;

    public GenerationRequest {
        Objects.requireNonNull(prompt, "prompt");
        Objects.requireNonNull(sampling, "sampling");
        Objects.requireNonNull(seed, "seed");
        requireElements(stop, "stop");
        requireElements(stopTokens, "stopTokens");
        Objects.requireNonNull(constraints, "constraints");
        Objects.requireNonNull(options, "options");
        BadInput.require(maxNewTokens >= 0, "max_new_tokens", maxNewTokens, "0 or more");
        stop = List.copyOf(stop);
        if (stop.size() > MAX_STOP_STRINGS) {
            throw new BadInput(stop.size() + " stop strings; at most " + MAX_STOP_STRINGS + " are allowed");
        }
        stopTokens = List.copyOf(stopTokens);
        if (stopTokens.size() > MAX_STOP_TOKENS) {
            throw new BadInput(stopTokens.size() + " stop tokens; at most " + MAX_STOP_TOKENS + " are allowed");
        }
        for (int id : stopTokens) {
            if (id < 0) {
                throw new BadInput("a stop token has the id " + id + "; ids are 0 or more");
            }
        }
        for (String text : stop) {
            if (text.isEmpty() || text.length() > MAX_STOP_CHARS) {
                throw new BadInput(
                        "a stop string has " + text.length() + " characters; it must have 1 to " + MAX_STOP_CHARS);
            }
        }
    }

    /** Throws if a list, or one of its elements, is null; the message names it, such as {@code stop[0]}. */
    private static void requireElements(List<?> list, String name) {
        Objects.requireNonNull(list, name);
        for (int i = 0; i < list.size(); i++) {
            int index = i;
            Object unused = Objects.requireNonNull(list.get(i), () -> name + "[" + index + "]");
        }
    }

    /**
     * Returns a request for a greedy completion of text, of at most {@value #DEFAULT_NEW_TOKENS} tokens.
     *
     * @throws BadInput if the text is empty, or longer than {@value io.roseinfer.base.Limits#PROMPT_CHARS} characters
     */
    public static GenerationRequest of(String prompt) {
        return of(new Prompt.Text(Objects.requireNonNull(prompt, "prompt")));
    }

    /**
     * Returns a request for a greedy completion of token ids, of at most {@value #DEFAULT_NEW_TOKENS} tokens.
     *
     * @throws BadInput if there are no ids
     */
    public static GenerationRequest ofTokens(int... ids) {
        return of(new Prompt.Tokens(ids));
    }

    /** Returns a request for a greedy completion of at most {@value #DEFAULT_NEW_TOKENS} tokens. */
    public static GenerationRequest of(Prompt prompt) {
        return new GenerationRequest(
                prompt,
                DEFAULT_NEW_TOKENS,
                SamplingParams.greedy(),
                OptionalLong.empty(),
                List.of(),
                List.of(),
                false,
                TokenConstraints.NONE,
                RequestOptions.NONE);
    }

    /** The components of a request, to change some. */
    private static final class Fields {
        private Prompt prompt;
        private int maxNewTokens;
        private SamplingParams sampling;
        private OptionalLong seed;
        private List<String> stop;
        private List<Integer> stopTokens;
        private boolean ignoreEndOfText;
        private TokenConstraints constraints;
        private RequestOptions options;

        Fields(GenerationRequest from) {
            prompt = from.prompt;
            maxNewTokens = from.maxNewTokens;
            sampling = from.sampling;
            seed = from.seed;
            stop = from.stop;
            stopTokens = from.stopTokens;
            ignoreEndOfText = from.ignoreEndOfText;
            constraints = from.constraints;
            options = from.options;
        }
    }

    /** Returns a copy with changes. */
    private GenerationRequest with(Consumer<Fields> change) {
        Fields fields = new Fields(this);
        change.accept(fields);
        return new GenerationRequest(
                fields.prompt,
                fields.maxNewTokens,
                fields.sampling,
                fields.seed,
                fields.stop,
                fields.stopTokens,
                fields.ignoreEndOfText,
                fields.constraints,
                fields.options);
    }

    /** Returns a copy with another prompt. */
    public GenerationRequest withPrompt(Prompt value) {
        return with(fields -> fields.prompt = value);
    }

    /**
     * Returns a copy with a maximum number of tokens to generate. If prompt and new tokens exceed the model's context,
     * the request is not rejected; it ends with {@link io.roseinfer.scheduler.FinishReason#LENGTH} when the context is
     * full. A request for 0 tokens computes the prompt, which is useful with {@link #withPromptLogprobs}, and ends with
     * {@code LENGTH}.
     *
     * @throws BadInput if {@code value} is negative
     */
    public GenerationRequest withMaxNewTokens(int value) {
        return with(fields -> fields.maxNewTokens = value);
    }

    /** Returns a copy with other sampling parameters. */
    public GenerationRequest withSampling(SamplingParams value) {
        return with(fields -> fields.sampling = value);
    }

    /**
     * Returns a copy with a seed. The same request, seed and model give the same tokens, except on CUDA without
     * {@link io.roseinfer.DeviceOptions#batchInvariant}. Greedy requests use no random numbers.
     */
    public GenerationRequest withSeed(long value) {
        return with(fields -> fields.seed = OptionalLong.of(value));
    }

    /**
     * Returns a copy with these stop strings instead of the present ones; none removes them.
     *
     * @throws BadInput if there are more than {@value #MAX_STOP_STRINGS}, or one is empty or longer than
     *     {@value #MAX_STOP_CHARS} characters
     */
    public GenerationRequest withStop(String... values) {
        List<String> all = Arrays.asList(Objects.requireNonNull(values, "stop"));
        return with(fields -> fields.stop = all);
    }

    /**
     * Returns a copy with these stop tokens instead of the present ones; none removes them.
     *
     * @throws BadInput if there are more than {@value #MAX_STOP_TOKENS}, or an id is negative
     */
    public GenerationRequest withStopTokens(int... ids) {
        List<Integer> all =
                Arrays.stream(Objects.requireNonNull(ids, "stopTokens")).boxed().toList();
        return with(fields -> fields.stopTokens = all);
    }

    /** Returns a copy that continues after the model's end-of-text token, or does not. */
    public GenerationRequest withIgnoreEndOfText(boolean value) {
        return with(fields -> fields.ignoreEndOfText = value);
    }

    private GenerationRequest withConstraints(TokenConstraints value) {
        return with(fields -> fields.constraints = value);
    }

    /**
     * Returns a copy that generates at least {@code value} tokens before the model's end-of-text tokens, stop tokens
     * and stop strings can end it. The model's end-of-text tokens are not sampled before that even if they are ignored.
     *
     * @throws BadInput if {@code value} is negative; {@link Engine#submit} throws it if it exceeds the maximum of new
     *     tokens
     */
    public GenerationRequest withMinTokens(int value) {
        return withConstraints(constraints.withMinTokens(value));
    }

    /**
     * Returns a copy that samples only these token ids; none allows all.
     *
     * @throws BadInput if an id is negative; {@link Engine#submit} throws it if one is beyond the vocabulary
     */
    public GenerationRequest withAllowedTokens(int... ids) {
        Objects.requireNonNull(ids, "ids");
        return withConstraints(
                constraints.withAllowedTokens(Arrays.stream(ids).boxed().toList()));
    }

    /**
     * Returns a copy that adds a value to the logits of these token ids, instead of the present values.
     *
     * @throws BadInput if a value is not in [-100, 100], there are more than {@value TokenConstraints#MAX_BIASES}, or an
     *     id is negative; {@link Engine#submit} throws it if one is beyond the vocabulary
     */
    public GenerationRequest withLogitBias(Map<Integer, Float> biases) {
        return withConstraints(constraints.withLogitBias(Objects.requireNonNull(biases, "biases")));
    }

    /**
     * Returns a copy that does not generate the tokens of these texts, instead of the present ones; see {@link
     * TokenConstraints}. {@link Engine#submit} needs a tokenizer for them.
     *
     * @throws BadInput if one is blank, or there are more than {@value TokenConstraints#MAX_BAD_WORDS}
     */
    public GenerationRequest withBadWords(String... words) {
        return withConstraints(constraints.withBadWords(Arrays.asList(Objects.requireNonNull(words, "words"))));
    }

    /**
     * Returns a copy whose completion is a text of a grammar, such as {@code Grammar.jsonSchema(schema)}.
     *
     * <p>The completion ends with {@code STOP} when nothing may follow, or where the text may end if the model samples
     * an end-of-text token; these and the request's stop tokens are not sampled elsewhere. If the maximum of new tokens
     * is reached first, it ends with {@code LENGTH} and the text is only the beginning of one. A stop string still cuts
     * the text. {@link Engine#submit} needs a tokenizer, and compiles the grammar on another thread: the stream, or
     * {@link Engine#generate}, throws {@link BadInput} if that exceeds a limit, which the message names.
     *
     * @throws BadInput if the request has a grammar already, such as one that enforces tool calls
     */
    public GenerationRequest withGrammar(Grammar value) {
        if (constraints.grammar().isPresent()) {
            throw new BadInput(
                    "the request has a grammar, perhaps to enforce tool calls; set this one on a request without");
        }
        return withConstraints(constraints.withGrammar(Optional.of(Objects.requireNonNull(value, "grammar"))));
    }

    private GenerationRequest withOptions(RequestOptions value) {
        return with(fields -> fields.options = value);
    }

    /**
     * Returns a copy that ends with {@code DEADLINE} when the engine's clock reaches {@code nanos}, even while it
     * waits. The clock is {@link System#nanoTime} unless the engine was opened with another, so this is not a time of
     * day; {@link #withTimeout} needs no clock.
     */
    public GenerationRequest withDeadline(long nanos) {
        return withOptions(options.withDeadlineNanos(nanos));
    }

    /**
     * Returns a copy that ends with {@code DEADLINE} this long after it was submitted, even while it waits.
     *
     * @throws BadInput unless the duration is positive
     */
    public GenerationRequest withTimeout(Duration value) {
        return withOptions(options.withTimeout(Objects.requireNonNull(value, "timeout")));
    }

    /**
     * Returns a copy that should be complete this long after it was submitted, for custom policies; it does not end then.
     *
     * @throws BadInput unless the duration is positive
     */
    public GenerationRequest withTarget(Duration value) {
        return withOptions(options.withTarget(Objects.requireNonNull(value, "target")));
    }

    /** Returns a copy with a priority for custom policies, which serve higher ones first; built-in policies ignore it. */
    public GenerationRequest withPriority(int value) {
        return withOptions(options.withPriority(value));
    }

    /**
     * Returns a copy that belongs to a user or group, for custom policies that share an engine fairly; built-in policies
     * ignore it.
     *
     * @param value the tenant's name; empty if there is none
     */
    public GenerationRequest withTenant(String value) {
        return withOptions(options.withTenant(Objects.requireNonNull(value, "tenant")));
    }

    /**
     * Returns a copy with a prediction of the completion's length, for custom policies; it limits nothing.
     *
     * @param value predicted tokens of the completion
     * @throws BadInput if {@code value} is negative
     */
    public GenerationRequest withPredictedNewTokens(int value) {
        return withOptions(options.withPredictedNewTokens(value));
    }

    /** Returns a copy with an object of the caller, which policies, observers and {@link Completion#tag} receive. */
    public GenerationRequest withTag(Object value) {
        return withOptions(options.withTag(Objects.requireNonNull(value, "tag")));
    }

    /**
     * Returns a copy that reports the log-probability of each prompt token but the first: see
     * {@link Completion#promptLogprobs}. Such a prompt is computed in full: it reads nothing from the prefix cache.
     *
     * @param tops number of most likely tokens to report as well at each position; -1 reports nothing
     * @throws BadInput unless {@code tops} is -1 to {@value SamplingParams#MAX_LOGPROBS}
     */
    public GenerationRequest withPromptLogprobs(int tops) {
        return withOptions(options.withPromptLogprobs(tops));
    }

    /** Returns a copy with the timeout converted to a deadline, for a request submitted now. */
    GenerationRequest startingAt(long nowNanos) {
        return withOptions(options.startingAt(nowNanos));
    }
}

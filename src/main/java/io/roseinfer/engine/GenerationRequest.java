package io.roseinfer.engine;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.sampling.SamplingParams;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * One completion to make. Immutable; {@code with…} methods return changed copies.
 *
 * @param prompt what to continue
 * @param maxNewTokens most tokens to generate; fewer if the context fills up first
 * @param sampling how tokens are chosen
 * @param seed the request's own random stream, which gives the same tokens in any batch; without one the engine assigns it
 * @param stop strings that end the completion; none of the text from the stop string on is delivered; at most
 *     {@value #MAX_STOP_STRINGS} of at most {@value #MAX_STOP_CHARS} characters
 * @param stopTokens ids that end the completion as the model's own end-of-text tokens do; the text is without theirs; at most
 *     {@value #MAX_STOP_TOKENS}
 * @param ignoreEndOfText whether to generate on after the model's end-of-text token
 * @param terms deadline, priority and tag
 */
public record GenerationRequest(
        Prompt prompt,
        int maxNewTokens,
        SamplingParams sampling,
        OptionalLong seed,
        List<String> stop,
        List<Integer> stopTokens,
        boolean ignoreEndOfText,
        RequestTerms terms) {

    public static final int MAX_STOP_STRINGS = 4;
    public static final int MAX_STOP_CHARS = 64;
    public static final int MAX_STOP_TOKENS = 64;

    /** Tokens generated when nothing else is said. */
    public static final int DEFAULT_NEW_TOKENS = 64;

    public GenerationRequest {
        Objects.requireNonNull(prompt, "prompt");
        Objects.requireNonNull(sampling, "sampling");
        Objects.requireNonNull(seed, "seed");
        Objects.requireNonNull(stop, "stop").forEach(text -> Objects.requireNonNull(text, "stop string"));
        Objects.requireNonNull(stopTokens, "stopTokens").forEach(id -> Objects.requireNonNull(id, "stop token"));
        Objects.requireNonNull(terms, "terms");
        if (maxNewTokens < 1) {
            throw new BadInput("max_new_tokens is " + maxNewTokens + "; it must be positive");
        }
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

    /** A greedy completion of text. */
    public static GenerationRequest of(String prompt) {
        return of(new Prompt.Text(Objects.requireNonNull(prompt, "prompt")));
    }

    /** A greedy completion of token ids. */
    public static GenerationRequest ofTokens(int... ids) {
        return of(new Prompt.Tokens(ids));
    }

    /** A greedy completion of {@value #DEFAULT_NEW_TOKENS} tokens at most. */
    public static GenerationRequest of(Prompt prompt) {
        return new GenerationRequest(
                prompt,
                DEFAULT_NEW_TOKENS,
                SamplingParams.greedy(),
                OptionalLong.empty(),
                List.of(),
                List.of(),
                false,
                RequestTerms.NONE);
    }

    public GenerationRequest withPrompt(Prompt value) {
        return new GenerationRequest(value, maxNewTokens, sampling, seed, stop, stopTokens, ignoreEndOfText, terms);
    }

    /**
     * Bounds the tokens to generate. A request is not refused because prompt and new tokens together are longer than the model's
     * context: it ends where the context is full, with {@link io.roseinfer.scheduler.FinishReason#LENGTH}.
     */
    public GenerationRequest withMaxNewTokens(int value) {
        return new GenerationRequest(prompt, value, sampling, seed, stop, stopTokens, ignoreEndOfText, terms);
    }

    public GenerationRequest withSampling(SamplingParams value) {
        return new GenerationRequest(prompt, maxNewTokens, value, seed, stop, stopTokens, ignoreEndOfText, terms);
    }

    public GenerationRequest withSeed(long value) {
        return new GenerationRequest(
                prompt, maxNewTokens, sampling, OptionalLong.of(value), stop, stopTokens, ignoreEndOfText, terms);
    }

    public GenerationRequest withStop(String... values) {
        List<String> all = Arrays.asList(Objects.requireNonNull(values, "stop"));
        return new GenerationRequest(prompt, maxNewTokens, sampling, seed, all, stopTokens, ignoreEndOfText, terms);
    }

    public GenerationRequest withStopTokens(int... ids) {
        List<Integer> all =
                Arrays.stream(Objects.requireNonNull(ids, "stopTokens")).boxed().toList();
        return new GenerationRequest(prompt, maxNewTokens, sampling, seed, stop, all, ignoreEndOfText, terms);
    }

    public GenerationRequest withIgnoreEndOfText(boolean value) {
        return new GenerationRequest(prompt, maxNewTokens, sampling, seed, stop, stopTokens, value, terms);
    }

    private GenerationRequest withTerms(RequestTerms value) {
        return new GenerationRequest(prompt, maxNewTokens, sampling, seed, stop, stopTokens, ignoreEndOfText, value);
    }

    /**
     * Ends with {@code DEADLINE} when the engine's clock shows {@code nanos}, also while it waits. The clock is {@link System#nanoTime}
     * unless the engine was given another, so no time of day; {@link #withTimeout} needs no clock.
     */
    public GenerationRequest withDeadline(long nanos) {
        return withTerms(new RequestTerms(OptionalLong.of(nanos), terms.timeout(), terms.priority(), terms.tag()));
    }

    /** Ends with {@code DEADLINE} this long after it was submitted, also while it waits. */
    public GenerationRequest withTimeout(Duration value) {
        Objects.requireNonNull(value, "timeout");
        return withTerms(new RequestTerms(terms.deadlineNanos(), Optional.of(value), terms.priority(), terms.tag()));
    }

    public GenerationRequest withPriority(int value) {
        return withTerms(new RequestTerms(terms.deadlineNanos(), terms.timeout(), value, terms.tag()));
    }

    public GenerationRequest withTag(Object value) {
        Objects.requireNonNull(value, "tag");
        return withTerms(
                new RequestTerms(terms.deadlineNanos(), terms.timeout(), terms.priority(), Optional.of(value)));
    }

    /** This request as submitted now: its timeout is a deadline. */
    GenerationRequest startingAt(long nowNanos) {
        return withTerms(terms.startingAt(nowNanos));
    }
}

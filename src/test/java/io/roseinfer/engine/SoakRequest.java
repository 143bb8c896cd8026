package io.roseinfer.engine;

import io.roseinfer.scheduler.FinishReason;
import io.roseinfer.tokenizer.Detokenizer;
import io.roseinfer.tokenizer.Tokenizer;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/**
 * A request with the result of its solo run: ids, text and finish reason, without stream, scheduler or thread.
 *
 * @param request the request to submit
 * @param prompt the prompt's ids
 * @param ids the complete completion
 * @param text its text
 * @param reason why it ends unless it is cancelled
 */
record SoakRequest(GenerationRequest request, int[] prompt, int[] ids, String text, FinishReason reason) {
    private static final String ABSENT = "nothing like it";

    /** Returns a variant of a request with a stop string that is often part of its text. */
    static SoakRequest of(GenerationRequest wanted, SoloRun solo, Tokenizer tokenizer, int endOfText, Dice dice) {
        int[] prompt =
                switch (wanted.prompt()) {
                    case Prompt.Tokens tokens -> tokens.ids();
                    case Prompt.Text text -> tokenizer.encode(text.text());
                };
        int[] ids = solo.ids(prompt, wanted, wanted.seed().orElseThrow());
        String whole = text(tokenizer, ids, ids.length, true);
        GenerationRequest request = wanted;
        if (dice.chance(0.4)) {
            request = wanted.withStop(stop(whole, dice));
        }
        for (int length = 1; length <= ids.length && !request.stop().isEmpty(); length++) {
            String text = text(tokenizer, ids, length, length == ids.length);
            int cut = firstOf(request.stop(), text);
            if (cut >= 0) {
                return new SoakRequest(
                        request, prompt, Arrays.copyOf(ids, length), text.substring(0, cut), FinishReason.STOP);
            }
        }
        boolean ended = !wanted.ignoreEndOfText() && ids[ids.length - 1] == endOfText;
        return new SoakRequest(request, prompt, ids, whole, ended ? FinishReason.STOP : FinishReason.LENGTH);
    }

    /** Returns a part of the text, or a string that is not in it. */
    private static String stop(String text, Dice dice) {
        if (text.length() < 2 || dice.chance(0.2)) {
            return ABSENT;
        }
        int from = dice.below(text.length() - 1);
        String piece = text.substring(from, Math.min(text.length(), from + dice.between(1, 6)));
        // An incomplete character is shown as this only at the end of the text, too late to end it.
        return piece.indexOf('\ufffd') < 0 ? piece : ABSENT;
    }

    private static int firstOf(List<String> stops, String text) {
        return stops.stream()
                .mapToInt(text::indexOf)
                .filter(at -> at >= 0)
                .min()
                .orElse(-1);
    }

    /** Returns the text of the first tokens, with an incomplete character at its end only if nothing follows. */
    private static String text(Tokenizer tokenizer, int[] ids, int length, boolean complete) {
        Detokenizer detokenizer = tokenizer.detokenizer(true);
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < length; i++) {
            detokenizer.push(ids[i], text);
        }
        if (complete) {
            detokenizer.flush(text);
        }
        return text.toString();
    }

    /**
     * Fails if a completion is not the expected one.
     *
     * @param mayEndEarly whether the stream or the engine was closed
     */
    void check(Completion seen, Tokenizer tokenizer, boolean mayEndEarly) {
        int[] got = seen.ids();
        boolean cancelled = seen.finishReason() == FinishReason.CANCELLED;
        Require.that(!cancelled || mayEndEarly, "cancelled without a cause");
        Require.that(
                cancelled || seen.finishReason() == reason,
                "ended with %s, alone with %s",
                seen.finishReason(),
                reason);
        int length = cancelled ? got.length : ids.length;
        Require.that(
                length <= ids.length && Arrays.equals(got, Arrays.copyOf(ids, length)),
                "ids %s, alone %s",
                Arrays.toString(got),
                Arrays.toString(ids));
        String expected = cancelled ? text(tokenizer, got, got.length, true) : text;
        Require.that(
                seen.text().orElseThrow().equals(expected),
                "text '%s', alone '%s'",
                seen.text().orElseThrow(),
                expected);
        String pieces = seen.tokens().stream().map(GeneratedToken::text).collect(Collectors.joining());
        Require.that(pieces.equals(expected), "pieces '%s', text '%s'", pieces, expected);
        Require.that(
                cancelled || Arrays.equals(seen.promptIds(), prompt), "prompt %s", Arrays.toString(seen.promptIds()));
        int alternatives = Math.max(0, request.sampling().logprobs());
        for (GeneratedToken token : seen.tokens()) {
            Require.that(
                    Float.isNaN(token.logprob()) == (request.sampling().logprobs() < 0)
                            && token.top().size() == alternatives,
                    "log-probabilities of %s",
                    token);
        }
    }
}

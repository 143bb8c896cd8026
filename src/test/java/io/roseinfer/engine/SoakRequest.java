package io.roseinfer.engine;

import io.roseinfer.scheduler.FinishReason;
import io.roseinfer.tokenizer.Detokenizer;
import io.roseinfer.tokenizer.Tokenizer;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/**
 * A request and what it yields alone: ids, text and reason, found without stream, scheduler or thread.
 *
 * @param request what is submitted
 * @param prompt its prompt's ids
 * @param ids the whole completion
 * @param text its text
 * @param reason why it ends when nobody cancels it
 */
record SoakRequest(GenerationRequest request, int[] prompt, int[] ids, String text, FinishReason reason) {
    private static final String ABSENT = "nothing like it";

    /** A request of its own, with a stop string that often is in its text. */
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

    /** A piece of the text, or what is not in it. */
    private static String stop(String text, Dice dice) {
        if (text.length() < 2 || dice.chance(0.2)) {
            return ABSENT;
        }
        int from = dice.below(text.length() - 1);
        String piece = text.substring(from, Math.min(text.length(), from + dice.between(1, 6)));
        // Half a character is shown as this only when the text is over, too late to be what ends it.
        return piece.indexOf('\ufffd') < 0 ? piece : ABSENT;
    }

    private static int firstOf(List<String> stops, String text) {
        return stops.stream()
                .mapToInt(text::indexOf)
                .filter(at -> at >= 0)
                .min()
                .orElse(-1);
    }

    /** The text of the first tokens, half a character at its end only if nothing follows. */
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
     * Fails if an outcome is not this request's.
     *
     * @param mayEndEarly whether somebody closed its stream or the engine
     */
    void check(Completion seen, Tokenizer tokenizer, boolean mayEndEarly) {
        int[] got = seen.ids();
        boolean cancelled = seen.finishReason() == FinishReason.CANCELLED;
        Require.that(!cancelled || mayEndEarly, "cancelled by nobody");
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

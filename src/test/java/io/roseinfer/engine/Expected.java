package io.roseinfer.engine;

import io.roseinfer.model.ModelSpec;
import io.roseinfer.scheduler.FinishReason;
import io.roseinfer.tokenizer.Detokenizer;
import io.roseinfer.tokenizer.Tokenizer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The expected results of text requests from solo runs: tokens, text, and where a stop string ends them. */
final class Expected implements AutoCloseable {
    private static final int MAX_NEW_TOKENS = 10;

    private final ModelSpec spec;
    private final Tokenizer tokenizer;
    private final SoloRun solo;

    Expected(ModelSpec spec, Tokenizer tokenizer, long deviceSeed) {
        this.spec = spec;
        this.tokenizer = tokenizer;
        this.solo = new SoloRun(spec, deviceSeed);
    }

    /**
     * Returns a request.
     *
     * @param text the prompt; empty for a prompt of token ids
     * @param stops whether a stop string lies across two of the expected tokens, if their text allows it
     */
    GenerationRequest request(Dice dice, String text, boolean stops) {
        Prompt prompt = text.isEmpty()
                ? new Prompt.Tokens(new int[] {dice.below(spec.vocabularySize()), dice.below(3)})
                : new Prompt.Text(text);
        GenerationRequest request = GenerationRequest.of(prompt)
                .withMaxNewTokens(dice.between(1, MAX_NEW_TOKENS))
                .withIgnoreEndOfText(true);
        request = request.withSampling(request.sampling().withLogprobs(1));
        List<String> pieces = pieces(ids(alone(request)));
        int at = dice.below(Math.max(1, pieces.size() - 1));
        if (!stops || pieces.size() < 2) {
            return request;
        }
        String stop = pieces.get(at) + pieces.get(at + 1);
        return stop.isBlank() || stop.indexOf('\ufffd') >= 0 || stop.length() > GenerationRequest.MAX_STOP_CHARS
                ? request
                : request.withStop(stop);
    }

    private static int[] ids(List<GeneratedToken> tokens) {
        return tokens.stream().mapToInt(GeneratedToken::id).toArray();
    }

    private List<GeneratedToken> alone(GenerationRequest request) {
        int[] prompt =
                switch (request.prompt()) {
                    case Prompt.Text text -> tokenizer.encode(text.text());
                    case Prompt.Tokens tokens -> tokens.ids();
                };
        return solo.tokens(prompt, request, 0);
    }

    /** Returns the text that each token completes, the last one with the held-back text. */
    private List<String> pieces(int[] ids) {
        Detokenizer detokenizer = tokenizer.detokenizer(true);
        List<String> pieces = new ArrayList<>();
        for (int i = 0; i < ids.length; i++) {
            String piece = detokenizer.push(ids[i]);
            pieces.add(i == ids.length - 1 ? piece + detokenizer.flush() : piece);
        }
        return pieces;
    }

    /** Fails unless the call's reader got the expected result, or a prefix of it if the request was ended early. */
    void check(Call call, FinishReason reason) {
        List<GeneratedToken> whole = alone(call.request());
        int[] alone = ids(whole);
        List<GeneratedToken> tokens = call.completion().map(Completion::tokens).orElse(call.tokensRead());
        for (int i = 0; i < tokens.size(); i++) {
            Require.that(
                    i < alone.length && tokens.get(i).id() == alone[i],
                    "%s: token %d is %d, alone %s",
                    call,
                    i,
                    tokens.get(i).id(),
                    Arrays.toString(alone));
            Require.that(
                    tokens.get(i).logprob() == whole.get(i).logprob()
                            && tokens.get(i).top().equals(whole.get(i).top()),
                    "%s: token %d is %s, alone %s",
                    call,
                    i,
                    tokens.get(i),
                    whole.get(i));
        }
        String seen = text(tokens);
        for (String stop : call.request().stop()) {
            Require.that(!seen.contains(stop), "%s yields '%s' with its stop string", call, seen);
        }
        if (reason == FinishReason.LENGTH || reason == FinishReason.STOP) {
            checkWhole(call, reason, alone, tokens);
        }
    }

    private void checkWhole(Call call, FinishReason reason, int[] alone, List<GeneratedToken> tokens) {
        if (call.completion().isEmpty()) {
            return;
        }
        StringBuilder text = new StringBuilder();
        FinishReason wanted = FinishReason.LENGTH;
        int length = 0;
        for (String piece : pieces(alone)) {
            text.append(piece);
            length++;
            int at =
                    call.request().stop().stream().mapToInt(text::indexOf).max().orElse(-1);
            if (at >= 0) {
                text.setLength(at);
                wanted = FinishReason.STOP;
                break;
            }
        }
        Require.that(
                reason == wanted && tokens.size() == length,
                "%s ended with %s after %d tokens, alone with %s after %d",
                call,
                reason,
                tokens.size(),
                wanted,
                length);
        String whole = call.completion().get().text().orElseThrow();
        Require.that(whole.contentEquals(text), "%s yields '%s', alone '%s'", call, whole, text);
        Require.that(whole.equals(text(tokens)), "%s yields '%s', token by token '%s'", call, whole, text(tokens));
    }

    private static String text(List<GeneratedToken> tokens) {
        StringBuilder text = new StringBuilder();
        tokens.forEach(token -> text.append(token.text()));
        return text.toString();
    }

    @Override
    public void close() {
        solo.close();
    }
}

package io.roseinfer.server.api;

import io.roseinfer.base.StrictJson;
import io.roseinfer.engine.Completion;
import io.roseinfer.engine.GeneratedToken;
import io.roseinfer.scheduler.FinishReason;
import java.util.List;
import java.util.Optional;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** The objects of {@code /v1/completions}, as OpenAI's API and vLLM spell them. */
public sealed class CompletionJson permits ChatJson {
    /** JSON has no infinity. */
    private static final double MIN_LOGPROB = -9999;

    private final String id;
    private final long created;
    private final String model;
    private final TokenTexts texts;

    CompletionJson(String id, long created, String model, TokenTexts texts) {
        this.id = id;
        this.created = created;
        this.model = model;
        this.texts = texts;
    }

    /** What every object of an answer begins with; {@code choices} is empty. */
    public ObjectNode envelope() {
        ObjectNode root = StrictJson.mapper().createObjectNode();
        root.put("id", id)
                .put("object", object())
                .put("created", created)
                .put("model", model)
                .putArray("choices");
        return root;
    }

    /** What kind of object it is. */
    String object() {
        return "text_completion";
    }

    /**
     * A whole answer.
     *
     * @param completions one for each choice of the call, in their order
     */
    public final ObjectNode whole(CompletionCall call, List<Completion> completions) {
        ObjectNode answer = envelope();
        for (int index = 0; index < completions.size(); index++) {
            Completion completion = completions.get(index);
            addChoice(answer, index, call.prompts().get(index / call.n()), completion, call);
        }
        usage(answer, call, completions);
        return answer;
    }

    private void addChoice(ObjectNode answer, int index, int[] prompt, Completion completion, CompletionCall call) {
        String front = call.output().echo() ? text(prompt) : "";
        ObjectNode choice = addChoice(answer, index, front + text(completion, call));
        if (call.request().sampling().logprobs() >= 0) {
            int unused = logprobs(choice, completion.tokens(), 0);
        }
        finish(choice, completion, call);
        if (call.output().tokenIds()) {
            ids(choice, "prompt_token_ids", prompt);
            ids(choice, "token_ids", completion.ids());
        }
    }

    /** Adds a choice whose {@code logprobs} are null. */
    public final ObjectNode addChoice(ObjectNode envelope, int index, String text) {
        ArrayNode choices = (ArrayNode) envelope.get("choices");
        ObjectNode choice = choices.addObject().put("index", index);
        putText(choice, text);
        return choice.putNull("logprobs").putNull("finish_reason").putNull("stop_reason");
    }

    /** Puts the text of a choice where it goes. */
    public void putText(ObjectNode choice, String text) {
        choice.put(textField(), text);
    }

    /** The text of a choice so far. */
    public String text(ObjectNode choice) {
        return choice.get(textField()).stringValue();
    }

    /** The name of the field that is a choice's text, wherever it stands. */
    public String textField() {
        return "text";
    }

    /** What a stream tells of a choice in front of its first token, if anything. */
    public Optional<ObjectNode> opening(int index) {
        return Optional.empty();
    }

    /** Says how a completion of a call ended. */
    public static void finish(ObjectNode choice, Completion completion, CompletionCall call) {
        choice.put("finish_reason", finishReason(completion.finishReason()));
        int[] ids = completion.ids();
        if (completion.finishReason() == FinishReason.STOP
                && completion.stopString().isEmpty()
                && call.request().stopTokens().contains(ids[ids.length - 1])) {
            choice.put("stop_reason", ids[ids.length - 1]);
        }
        completion.stopString().ifPresent(stop -> choice.put("stop_reason", stop));
        if (completion.finishReason() == FinishReason.DEADLINE) {
            choice.put("stop_reason", "deadline");
        }
    }

    /** The text of a completion, with its stop string if the client wants to see that; empty without a tokenizer. */
    public static String text(Completion completion, CompletionCall call) {
        String shown = completion.text().orElse("");
        return call.output().stopString() ? shown + completion.stopString().orElse("") : shown;
    }

    /** The reason in the API's words, which has one for every end that is neither of the model's nor of the length. */
    public static String finishReason(FinishReason reason) {
        return switch (reason) {
            case STOP, LENGTH, ERROR -> reason.text();
            case CANCELLED, DEADLINE -> "abort";
        };
    }

    /**
     * Adds the log-probabilities of some tokens in a row.
     *
     * @param offset of the first one's text, in characters
     * @return the offset behind the last one's text
     */
    public int logprobs(ObjectNode choice, List<GeneratedToken> tokens, int offset) {
        ObjectNode all = choice.putObject("logprobs");
        ArrayNode texts = all.putArray("tokens");
        ArrayNode logprobs = all.putArray("token_logprobs");
        ArrayNode tops = all.putArray("top_logprobs");
        ArrayNode offsets = all.putArray("text_offset");
        int at = offset;
        for (GeneratedToken token : tokens) {
            String text = text(token.id());
            texts.add(text);
            logprobs.add(finite(token.logprob()));
            ObjectNode likely = tops.addObject();
            token.top().forEach(top -> likely.put(text(top.id()), finite(top.logprob())));
            likely.put(text, finite(token.logprob()));
            offsets.add(at);
            at += text.length();
        }
        return at;
    }

    public final String text(int tokenId) {
        return texts.text(tokenId);
    }

    /** The text of some ids; empty without a tokenizer. */
    public String text(int[] ids) {
        return texts.text(ids);
    }

    static double finite(float logprob) {
        return Float.isFinite(logprob) ? logprob : MIN_LOGPROB;
    }

    /**
     * Adds the counts of a call whose completions have ended. A prompt counts once, whatever {@code n} is, and so do its tokens that
     * were cached: those that the first completion found.
     */
    public static void usage(ObjectNode envelope, CompletionCall call, List<Completion> completions) {
        int tokens = 0;
        int cached = 0;
        for (int index = 0; index < completions.size(); index++) {
            tokens += completions.get(index).tokens().size();
            cached += index % call.n() == 0 ? completions.get(index).cachedTokens() : 0;
        }
        usage(envelope, call.promptTokens(), tokens);
        ((ObjectNode) envelope.get("usage")).putObject("prompt_tokens_details").put("cached_tokens", cached);
    }

    public static void usage(ObjectNode envelope, int promptTokens, int completionTokens) {
        envelope.putObject("usage")
                .put("prompt_tokens", promptTokens)
                .put("completion_tokens", completionTokens)
                .put("total_tokens", promptTokens + completionTokens);
    }

    public static void ids(ObjectNode choice, String name, int... ids) {
        ArrayNode list = choice.putArray(name);
        for (int id : ids) {
            list.add(id);
        }
    }
}

package io.roseinfer.server.api;

import io.roseinfer.base.MappedList;
import io.roseinfer.base.StrictJson;
import io.roseinfer.engine.Completion;
import io.roseinfer.engine.GeneratedToken;
import io.roseinfer.engine.GeneratedToken.TopToken;
import io.roseinfer.engine.PromptToken;
import io.roseinfer.scheduler.FinishReason;
import java.util.AbstractList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Function;
import java.util.stream.IntStream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.DoubleNode;
import tools.jackson.databind.node.NullNode;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.node.POJONode;
import tools.jackson.databind.node.StringNode;

/** Builds the objects of {@code /v1/completions}, in the format of OpenAI and vLLM. */
public sealed class CompletionJson permits ChatJson {
    /** Replaces infinity, which JSON does not have. */
    private static final double MIN_LOGPROB = -9999;

    /** The stop reason of a completion that its deadline has ended. */
    public static final String DEADLINE = "deadline";

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

    /** Returns the common fields of every object; {@code choices} is empty. */
    public ObjectNode envelope() {
        ObjectNode root = StrictJson.mapper().createObjectNode();
        root.put("id", id)
                .put("object", object())
                .put("created", created)
                .put("model", model)
                .putArray("choices");
        return root;
    }

    /** Returns the object's type. */
    String object() {
        return "text_completion";
    }

    /**
     * Returns a complete response.
     *
     * @param completions one per choice of the call, in order
     */
    public ObjectNode response(CompletionCall call, List<Completion> completions) {
        ObjectNode response = envelope();
        for (int index = 0; index < completions.size(); index++) {
            Completion completion = completions.get(index);
            addChoice(response, index, call.prompts().get(index / call.n()), completion, call);
        }
        usage(response, call, completions);
        return response;
    }

    private void addChoice(ObjectNode response, int index, int[] prompt, Completion completion, CompletionCall call) {
        String front = call.output().echo() ? text(prompt) : "";
        ObjectNode choice = addChoice(response, index, front + text(completion, call));
        if (call.request().sampling().logprobs() >= 0) {
            List<GeneratedToken> echoed = echoed(call, completion.promptLogprobs());
            int unused = logprobs(choice, joined(echoed, completion.tokens()), 0);
        }
        if (call.output().promptLogprobs() >= 0) {
            promptLogprobs(
                    response, choice, completion.promptLogprobs(), call.output().promptLogprobs());
        }
        finish(choice, completion, call);
        split(choice, completion, call);
        if (call.output().tokenIds()) {
            ids(choice, "prompt_token_ids", prompt);
            ids(choice, "token_ids", completion.ids());
        }
    }

    /** Replaces the text of a complete choice with its parts, if the call's format has several. */
    void split(ObjectNode choice, Completion completion, CompletionCall call) {}

    /** Returns the converter of a streamed choice's tokens, if its text has several parts. */
    public Optional<ReplyStream> replyStream(int index, CompletionCall call) {
        return Optional.empty();
    }

    /** Sets the finish reason of a choice with tool calls. */
    public static void finishCalls(ObjectNode choice, Completion completion) {
        if (completion.finishReason() == FinishReason.STOP) {
            choice.put("finish_reason", "tool_calls");
        }
    }

    /** Returns the number of complete tool calls in the responses so far, without those that a limit has cut. */
    public int toolCalls() {
        return 0;
    }

    /** Returns the tokens of a prompt that a call's log-probabilities begin with; empty without {@code echo}. */
    public static List<GeneratedToken> echoed(CompletionCall call, List<PromptToken> prompt) {
        if (!call.output().echo()) {
            return List.of();
        }
        int tops = call.request().sampling().logprobs();
        return new MappedList<>(
                prompt, token -> new GeneratedToken(token.id(), "", token.logprob(), limited(token.top(), tops)));
    }

    /** Returns a view of two lists, the second after the first. */
    public static <T> List<T> joined(List<T> first, List<T> second) {
        return new AbstractList<>() {
            @Override
            public T get(int index) {
                return index < first.size() ? first.get(index) : second.get(index - first.size());
            }

            @Override
            public int size() {
                return first.size() + second.size();
            }
        };
    }

    private static List<TopToken> limited(List<TopToken> tops, int max) {
        return tops.subList(0, Math.min(max, tops.size()));
    }

    /**
     * Adds the list of a prompt's log-probabilities in vLLM's format, here to the choice.
     *
     * @param tops number of most likely tokens at each position
     */
    void promptLogprobs(ObjectNode response, ObjectNode choice, List<PromptToken> prompt, int tops) {
        promptLogprobs(choice, prompt, tops);
    }

    /** Adds the list of a prompt's log-probabilities; a prompt's first token has none. */
    final void promptLogprobs(ObjectNode to, List<PromptToken> prompt, int tops) {
        to.set("prompt_logprobs", list(prompt, token -> promptToken(token, tops)));
    }

    private JsonNode promptToken(PromptToken token, int tops) {
        if (token.rank() == 0) {
            return NullNode.getInstance();
        }
        ObjectNode likely = StrictJson.mapper().createObjectNode();
        promptToken(likely, token.id(), token.logprob(), token.rank());
        int rank = 1;
        for (TopToken top : limited(token.top(), tops)) {
            promptToken(likely, top.id(), top.logprob(), rank++);
        }
        return likely;
    }

    private void promptToken(ObjectNode likely, int id, float logprob, int rank) {
        likely.putObject(Integer.toString(id))
                .put("logprob", finite(logprob))
                .put("rank", rank)
                .put("decoded_token", text(id));
    }

    /**
     * Returns a JSON array of the elements' nodes. They are created one by one when the array is written, because a
     * node takes a hundred times the memory of a log-probability.
     */
    static <T> JsonNode list(List<T> elements, Function<T, JsonNode> node) {
        return new POJONode(new MappedList<>(elements, node));
    }

    /** Adds a choice whose {@code logprobs} are null. */
    public final ObjectNode addChoice(ObjectNode envelope, int index, String text) {
        ArrayNode choices = (ArrayNode) envelope.get("choices");
        ObjectNode choice = choices.addObject().put("index", index);
        putText(choice, text);
        return choice.putNull("logprobs").putNull("finish_reason").putNull("stop_reason");
    }

    /** Sets the text of a choice. */
    public void putText(ObjectNode choice, String text) {
        choice.put(textField(), text);
    }

    /** Returns the text of a choice so far. */
    public String text(ObjectNode choice) {
        return choice.get(textField()).stringValue();
    }

    /** Returns the name of the field with a choice's text. */
    public String textField() {
        return "text";
    }

    /** Returns the text of a stream's event. */
    public String event(ObjectNode chunk) {
        return "data: " + chunk + "\n\n";
    }

    /** Returns the text that ends a stream. */
    public String lastEvent() {
        return "data: [DONE]\n\n";
    }

    /** Returns the text that ends a stream whose call has failed. */
    public String failure(ApiError error) {
        return "data: " + error.json() + "\n\n";
    }

    /** Returns the event of a stream before a choice's first token, if there is one. */
    public Optional<ObjectNode> opening(int index) {
        return Optional.empty();
    }

    /** Sets the finish reason of a choice. */
    public static void finish(ObjectNode choice, Completion completion, CompletionCall call) {
        choice.put("finish_reason", finishReason(completion.finishReason()));
        stopToken(completion, call).ifPresent(id -> choice.put("stop_reason", id));
        completion.stopString().ifPresent(stop -> choice.put("stop_reason", stop));
        if (completion.finishReason() == FinishReason.DEADLINE) {
            choice.put("stop_reason", DEADLINE);
        }
    }

    /** Returns the requested stop token that ended a completion, if one did. */
    public static OptionalInt stopToken(Completion completion, CompletionCall call) {
        List<GeneratedToken> tokens = completion.tokens();
        if (completion.finishReason() != FinishReason.STOP
                || completion.stopString().isPresent()
                || !call.request().stopTokens().contains(tokens.getLast().id())) {
            return OptionalInt.empty();
        }
        return OptionalInt.of(tokens.getLast().id());
    }

    /** Returns the text of a completion, with its stop string if requested; empty without a tokenizer. */
    public static String text(Completion completion, CompletionCall call) {
        String shown = completion.text().orElse("");
        return call.output().stopString() ? shown + completion.stopString().orElse("") : shown;
    }

    /** Returns the API's finish reason, which is the same for all ends other than stop, length and error. */
    public static String finishReason(FinishReason reason) {
        return switch (reason) {
            case STOP, LENGTH, ERROR -> reason.text();
            case CANCELLED, DEADLINE -> "abort";
        };
    }

    /**
     * Adds the log-probabilities of consecutive tokens; a prompt's first token has NaN, which becomes null.
     *
     * @param tokens not modified until the choice is written
     * @param offset of the first token's text, in characters
     * @return the offset after the last token's text
     */
    public int logprobs(ObjectNode choice, List<GeneratedToken> tokens, int offset) {
        int[] offsets = new int[tokens.size()];
        int at = offset;
        for (int i = 0; i < offsets.length; i++) {
            offsets[i] = at;
            at += text(tokens.get(i).id()).length();
        }
        ObjectNode all = choice.putObject("logprobs");
        all.set("tokens", list(tokens, token -> StringNode.valueOf(text(token.id()))));
        all.set("token_logprobs", list(tokens, CompletionJson::own));
        all.set("top_logprobs", list(tokens, this::likely));
        all.putPOJO("text_offset", offsets);
        return at;
    }

    private static JsonNode own(GeneratedToken token) {
        return Float.isNaN(token.logprob()) ? NullNode.getInstance() : DoubleNode.valueOf(finite(token.logprob()));
    }

    private JsonNode likely(GeneratedToken token) {
        if (Float.isNaN(token.logprob())) {
            return NullNode.getInstance();
        }
        ObjectNode likely = StrictJson.mapper().createObjectNode();
        token.top().forEach(top -> likely.put(text(top.id()), finite(top.logprob())));
        return likely.put(text(token.id()), finite(token.logprob()));
    }

    public final String text(int tokenId) {
        return texts.text(tokenId);
    }

    /** Returns the text of some ids; empty without a tokenizer. */
    public String text(int[] ids) {
        return texts.text(ids);
    }

    static double finite(float logprob) {
        return Float.isFinite(logprob) ? logprob : MIN_LOGPROB;
    }

    /**
     * Adds the usage of a call whose completions have ended. A prompt and its cached tokens count once, regardless of
     * {@code n}: the cached tokens of the prompt's first completion count.
     */
    public static void usage(ObjectNode envelope, CompletionCall call, List<Completion> completions) {
        int tokens = completions.stream()
                .mapToInt(completion -> completion.tokens().size())
                .sum();
        usage(envelope, call.promptTokens(), tokens);
        ((ObjectNode) envelope.get("usage"))
                .putObject("prompt_tokens_details")
                .put("cached_tokens", cachedTokens(call, completions));
    }

    /** Returns the cached tokens of a call's prompts; the first completion of each prompt counts. */
    public static int cachedTokens(CompletionCall call, List<Completion> completions) {
        return IntStream.range(0, completions.size())
                .filter(index -> index % call.n() == 0)
                .map(index -> completions.get(index).cachedTokens())
                .sum();
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

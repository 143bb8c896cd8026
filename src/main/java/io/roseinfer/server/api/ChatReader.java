package io.roseinfer.server.api;

import io.roseinfer.base.Quoted;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.server.api.CompletionCall.Output;
import io.roseinfer.tokenizer.Tokenizer;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Stream;

/** Reads the body of {@code /v1/chat/completions}: like a completion, but its prompt is a conversation. */
public sealed class ChatReader extends CompletionReader permits ResponsesReader {
    /**
     * Unsupported fields in addition to those of a completion; a conversation's tools are read with the conversation.
     */
    private static final List<String> UNSUPPORTED = List.of(
            "echo", "chat_template", "audio", "prediction", "modalities", "web_search_options", "add_special_tokens");

    /** Fields read with the conversation. */
    private static final Set<String> TOOLS = Set.of("tools", "tool_choice");

    private static final String MAX_COMPLETION_TOKENS = "max_completion_tokens";
    private static final String REASONING_EFFORT = "reasoning_effort";
    private static final List<String> EFFORTS = List.of("none", "minimal", "low", "medium", "high", "xhigh");

    private final ServedModel model;
    private final int maxRequestTokens;
    private final ChatPrompts prompts;

    /** Creates a reader for one model. */
    public ChatReader(
            ServedModel model, ModelSpec spec, Optional<Tokenizer> tokenizer, CallLimits limits, ChatPrompts prompts) {
        super(model, spec, tokenizer, limits);
        this.model = model;
        this.maxRequestTokens = Math.min(limits.tokens(), spec.contextLength());
        this.prompts = prompts;
    }

    @Override
    public CompletionJson json(String requestId, long createdSeconds, CompletionCall call) {
        Output output = call.output();
        return new ChatJson("chatcmpl-" + requestId, createdSeconds, model.name(), tokenTexts(output), output.stream());
    }

    @Override
    List<String> unsupported() {
        return Stream.concat(super.unsupported().stream().filter(name -> !TOOLS.contains(name)), UNSUPPORTED.stream())
                .toList();
    }

    @Override
    Prompts prompts(Fields fields, int n) {
        fields.string(REASONING_EFFORT).ifPresent(effort -> ignoreEffort(effort, fields));
        return prompts.read(fields);
    }

    /** Ignores an effort, because no supported model has one; throws if it is not a value of OpenAI's API. */
    private static void ignoreEffort(String effort, Fields fields) {
        if (!EFFORTS.contains(effort)) {
            throw ApiError.badField(
                    REASONING_EFFORT,
                    REASONING_EFFORT + " is " + Quoted.name(effort) + "; it must be one of "
                            + String.join(", ", EFFORTS));
        }
        fields.ignore(REASONING_EFFORT);
    }

    @Override
    List<String> alwaysTrue() {
        return ALWAYS_TRUE;
    }

    @Override
    String promptField() {
        return "messages";
    }

    /** Returns the client's limit, or else as many tokens as there is room for. */
    @Override
    int maxTokens(Fields fields, int promptTokens) {
        int room = Math.max(1, maxRequestTokens - promptTokens);
        boolean hasNewer = fields.find(MAX_COMPLETION_TOKENS).isPresent();
        int older = hasNewer
                ? fields.integer(MAX_TOKENS, 0, 0, Integer.MAX_VALUE)
                : limit(fields, MAX_TOKENS, defaultTokens(room), PROMPT_LOGPROBS);
        return limit(fields, MAX_COMPLETION_TOKENS, older, PROMPT_LOGPROBS);
    }

    @Override
    int logprobs(Fields fields) {
        boolean wanted = fields.flag("logprobs");
        OptionalLong given = fields.integer("top_logprobs");
        int top = fields.integer("top_logprobs", 0, 0, SamplingParams.MAX_LOGPROBS);
        if (!wanted && given.isPresent() && top > 0) {
            throw ApiError.badField("top_logprobs", "top_logprobs needs logprobs to be true");
        }
        return wanted ? top : -1;
    }
}

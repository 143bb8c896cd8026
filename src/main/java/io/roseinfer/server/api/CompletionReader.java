package io.roseinfer.server.api;

import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.engine.EngineLimits;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.engine.Tools;
import io.roseinfer.grammar.Grammar;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.sampling.SamplingParams.Parameter;
import io.roseinfer.server.api.CompletionCall.Output;
import io.roseinfer.server.http.HttpCall;
import io.roseinfer.tokenizer.Tokenizer;
import io.roseinfer.tokenizer.chat.reply.ReplyFormat;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;

/** Reads the body of {@code /v1/completions}. Unsupported fields that would change the output are rejected by name. */
public sealed class CompletionReader permits ChatReader {
    /** Default of {@code max_tokens}, as in the OpenAI API. */
    private static final int DEFAULT_TOKENS = 16;

    /** Maximum completions per call, all prompts together. */
    private static final int MAX_CHOICES = 64;

    /**
     * Unsupported fields of OpenAI, vLLM, llama.cpp's server, SGLang and others that change the output; null, false,
     * zero and empty are ignored.
     */
    private static final List<String> UNSUPPORTED = Stream.concat(
                    SamplingParams.UNSUPPORTED.keySet().stream(),
                    Stream.of(
                            "regex",
                            "ebnf",
                            "structural_tag",
                            "format",
                            "options",
                            "cache_salt",
                            "thinking_token_budget",
                            "n_predict",
                            "n_probs",
                            "repeat_penalty",
                            "tfs_z",
                            "top_a",
                            "top_n_sigma",
                            "mirostat",
                            "dynatemp_range",
                            "dry_multiplier",
                            "xtc_probability",
                            "samplers",
                            "negative_prompt",
                            "max_new_tokens",
                            "min_new_tokens",
                            "lora_adapter",
                            "lora_path",
                            "adapter_id",
                            "stop_regex",
                            "no_stop_trim",
                            "custom_logit_processor",
                            "logits_processors",
                            "vllm_xargs",
                            "return_hidden_states",
                            "input_embeds",
                            "tool_choice",
                            "functions",
                            "function_call",
                            "documents",
                            "suffix",
                            "logprob_token_ids",
                            "use_beam_search",
                            "guided_whitespace_pattern",
                            "tools",
                            "prompt_embeds",
                            "repetition_detection",
                            "kv_transfer_params"))
            .toList();

    /** Fields that support only their default, true. */
    static final List<String> ALWAYS_TRUE =
            List.of("skip_special_tokens", "spaces_between_special_tokens", "detokenize");

    /** Default values of unsupported fields, in addition to null, false, zero and empty. */
    static final Map<String, String> DEFAULTS = Map.ofEntries(
            Map.entry("modalities", "[\"text\"]"),
            Map.entry("tool_choice", "\"none\""),
            Map.entry("function_call", "\"none\""),
            Map.entry("repeat_penalty", "1"),
            Map.entry("tfs_z", "1"),
            Map.entry("n", "1"),
            Map.entry("best_of", "1"),
            Map.entry("top_n_sigma", "-1"));

    /** Fields that are rejected with any value, because false is meaningful, too. */
    private static final Set<String> NEVER = Set.of("enable_thinking");

    private static final List<String> COMPLETIONS_TRUE =
            Stream.concat(ALWAYS_TRUE.stream(), Stream.of("add_special_tokens")).toList();

    private static final String TIMEOUT_HEADER = "x-request-timeout";
    static final String MAX_TOKENS = "max_tokens";
    static final String PROMPT_LOGPROBS = "prompt_logprobs";

    private final ServedModel model;
    private final ModelSpec spec;
    private final Optional<Tokenizer> tokenizer;
    private final CallLimits limits;
    private final StopConditionReader ends;
    private final ConstraintReader constraints;
    private final GrammarReader grammars;

    /** Creates a reader for one model. */
    public CompletionReader(ServedModel model, ModelSpec spec, Optional<Tokenizer> tokenizer, CallLimits limits) {
        this.model = model;
        this.spec = spec;
        this.tokenizer = tokenizer;
        this.limits = limits;
        this.ends = new StopConditionReader(spec, tokenizer);
        this.constraints = new ConstraintReader(ends, tokenizer);
        this.grammars = new GrammarReader(tokenizer.isPresent());
    }

    /** Reads the fields of a body, and the related headers. */
    public CompletionCall read(Fields fields, HttpCall call) {
        return read(fields, call.header(TIMEOUT_HEADER));
    }

    /** Reads the fields of a body without headers. */
    public CompletionCall read(Fields fields) {
        Optional<String> unusedId = fields.string("request_id");
        return read(fields, Optional.empty());
    }

    private CompletionCall read(Fields fields, Optional<String> timeoutSeconds) {
        requireModel(fields, model.name());
        requireSupported(fields);
        int n = fields.integer("n", 1, 1, MAX_CHOICES);
        int bestOf = fields.integer("best_of", n, 1, MAX_CHOICES);
        if (bestOf != n) {
            throw ApiError.badField("best_of", "best_of is " + bestOf + "; it must equal n (" + n + ")");
        }
        SamplingParams sampling = sampling(fields);
        Output output = output(fields);
        Prompts read = prompts(fields, n);
        List<int[]> prompts = truncated(fields, read.ids());
        int maxTokens = maxTokens(fields, prompts.getFirst().length);
        for (int i = 0; i < prompts.size(); i++) {
            requireFit(promptField() + (prompts.size() == 1 ? "" : "[" + i + "]"), maxTokens, prompts.get(i));
        }
        GenerationRequest unrestricted = request(fields, timeoutSeconds, prompts.getFirst(), maxTokens, sampling)
                .withPromptLogprobs(reportedOfPrompt(output, sampling))
                .withTenant(fields.string("user").orElse(""));
        Optional<Grammar> grammar = grammar(fields, read);
        GenerationRequest request = grammar.map(unrestricted::withGrammar).orElse(unrestricted);
        boolean clamped = prompts.stream().anyMatch(ids -> ids.length + (long) maxTokens > spec.contextLength());
        Optional<String> grammarField =
                grammar.map(any -> grammars.field(fields).orElse(ToolFields.TOOLS));
        return new CompletionCall(
                prompts, request, n, output, read.reply(), clamped, grammarField, fields.unread(), Optional.empty());
    }

    /** Returns the grammar of the fields, including tool calls and beginning after the reasoning. */
    private Optional<Grammar> grammar(Fields fields, Prompts read) {
        Optional<Grammar> content = grammars.read(fields);
        return tokenizer.flatMap(words -> Fields.located(
                ToolFields.TOOLS, () -> read.tools().grammar(read.reply(), words, content, fields::ignore)));
    }

    /** Returns the builder of the response's objects. */
    public CompletionJson json(String requestId, long createdSeconds, CompletionCall call) {
        return new CompletionJson("cmpl-" + requestId, createdSeconds, model.name(), tokenTexts(call.output()));
    }

    /** Returns the texts of tokens, or their ids if requested. */
    final TokenTexts tokenTexts(Output output) {
        return new TokenTexts(tokenizer, output.tokensAsIds());
    }

    /** Throws if the requested model is not the served one. */
    public static void requireModel(Fields fields, String modelName) {
        String asked = fields.string("model").orElse("");
        if (!asked.isEmpty() && !asked.equals(modelName)) {
            throw ApiError.notServed(asked, modelName);
        }
    }

    /** Returns the unsupported fields. */
    List<String> unsupported() {
        return UNSUPPORTED;
    }

    /** Returns the fields that support only true. */
    List<String> alwaysTrue() {
        return COMPLETIONS_TRUE;
    }

    private void requireSupported(Fields fields) {
        for (String name : NEVER) {
            fields.find(name).ifPresent(node -> {
                throw ApiError.badField(name, name + " is not supported; set it in chat_template_kwargs of a chat");
            });
        }
        for (String name : unsupported()) {
            fields.find(name).filter(node -> !isNeutral(name, node)).ifPresent(node -> {
                throw ApiError.badField(name, name + " is not supported; remove it");
            });
        }
        for (String name : alwaysTrue()) {
            fields.find(name)
                    .filter(node -> !(node.isBoolean() && node.booleanValue()))
                    .ifPresent(node -> {
                        throw ApiError.badField(name, name + " must be true or absent");
                    });
        }
    }

    static boolean isNeutral(String name, JsonNode node) {
        String byDefault = DEFAULTS.getOrDefault(name, String.valueOf(SamplingParams.UNSUPPORTED.get(name)));
        if (node.toString().replaceFirst("\\.0+$", "").equals(byDefault)) {
            return true;
        }
        return switch (node.getNodeType()) {
            case BOOLEAN -> !node.booleanValue();
            case NUMBER -> node.doubleValue() == 0;
            case STRING -> node.stringValue().isEmpty();
            case ARRAY, OBJECT -> node.isEmpty();
            default -> false;
        };
    }

    private SamplingParams sampling(Fields fields) {
        SamplingParams params = model.defaults().params();
        for (Parameter parameter : Parameter.values()) {
            params = with(parameter, params, fields);
        }
        return params.withLogprobs(logprobs(fields));
    }

    private static SamplingParams with(Parameter parameter, SamplingParams params, Fields fields) {
        if (parameter.isInteger()) {
            int unchanged = (int) parameter.of(params);
            return parameter.set(params, fields.integer(parameter.field(), unchanged, -1, Integer.MAX_VALUE));
        }
        return fields.number(parameter.field(), params, value -> parameter.set(params, value));
    }

    /** Returns the number of most likely tokens reported with each token; -1 disables log-probabilities. */
    int logprobs(Fields fields) {
        return fields.integer("logprobs", -1, 0, SamplingParams.MAX_LOGPROBS);
    }

    /** Returns the number of most likely tokens to compute at each position of the prompt; -1 for none. */
    private static int reportedOfPrompt(Output output, SamplingParams sampling) {
        return Math.max(output.promptLogprobs(), output.echo() ? sampling.logprobs() : -1);
    }

    private static Output output(Fields fields) {
        boolean stream = fields.flag("stream");
        boolean echo = fields.flag("echo");
        Optional<Fields> options = fields.object("stream_options");
        if (options.isPresent() && !stream) {
            throw ApiError.badField("stream_options", "stream_options needs stream to be true");
        }
        boolean usage = options.map(all -> all.flag("include_usage")).orElse(false);
        boolean continuous =
                options.map(all -> all.flag("continuous_usage_stats")).orElse(false);
        if (continuous && !usage) {
            throw ApiError.badField("stream_options", "continuous_usage_stats needs include_usage to be true");
        }
        int promptLogprobs = fields.integer(PROMPT_LOGPROBS, -1, 0, SamplingParams.MAX_LOGPROBS);
        if (stream && promptLogprobs >= 0) {
            throw ApiError.badField(PROMPT_LOGPROBS, "prompt_logprobs cannot be combined with stream");
        }
        int interval = fields.integer("stream_interval", 1, 1, Integer.MAX_VALUE);
        return new Output(
                stream,
                usage,
                continuous,
                echo,
                promptLogprobs,
                fields.flag("return_token_ids"),
                fields.flag("return_tokens_as_token_ids"),
                fields.flag("include_stop_str_in_output"),
                interval);
    }

    /** Returns a default of {@code max_tokens}, limited by the model's generation config. */
    final int defaultTokens(int tokens) {
        return Math.min(tokens, model.defaults().maxNewTokens().orElse(tokens));
    }

    /** Returns the maximum of tokens to generate after a prompt of the given length; 0 if only the prompt is asked for. */
    int maxTokens(Fields fields, int promptTokens) {
        return limit(fields, MAX_TOKENS, defaultTokens(DEFAULT_TOKENS), "echo or " + PROMPT_LOGPROBS);
    }

    /**
     * Returns a maximum of tokens to generate. It may be 0 only if the response has the prompt, or its log-probabilities.
     *
     * @param absent the maximum if the field is absent
     * @param zeroWith the fields with which it may be 0, for the message
     */
    static int limit(Fields fields, String field, int absent, String zeroWith) {
        OptionalLong asked = fields.integer(field);
        if (asked.isEmpty()) {
            return absent;
        }
        long max = asked.getAsLong();
        boolean mayBeZero = fields.flag("echo") || fields.find(PROMPT_LOGPROBS).isPresent();
        if (max < (mayBeZero ? 0 : 1) || max > Integer.MAX_VALUE) {
            throw ApiError.badField(
                    field, field + " is " + max + "; it must be 1 to " + Integer.MAX_VALUE + ", or 0 with " + zeroWith);
        }
        return (int) max;
    }

    private GenerationRequest request(
            Fields fields, Optional<String> timeoutSeconds, int[] prompt, int maxTokens, SamplingParams sampling) {
        GenerationRequest request = GenerationRequest.ofTokens(prompt)
                .withMaxNewTokens(maxTokens)
                .withSampling(sampling)
                .withPriority(fields.integer("priority", 0, Integer.MIN_VALUE, Integer.MAX_VALUE));
        OptionalLong seed = fields.integer("seed");
        GenerationRequest seeded = seed.isPresent() ? request.withSeed(seed.getAsLong()) : request;
        GenerationRequest stopping = constraints.read(fields, ends.read(fields, seeded));
        return timeout(timeoutSeconds).map(stopping::withTimeout).orElse(stopping);
    }

    /** Returns the server's timeout, or the client's if that is shorter. */
    private Optional<Duration> timeout(Optional<String> askedSeconds) {
        Optional<Duration> asked = askedSeconds.map(CompletionReader::seconds);
        return Stream.concat(asked.stream(), limits.duration().stream()).min(Comparator.naturalOrder());
    }

    private static Duration seconds(String text) {
        try {
            BigDecimal seconds = text.length() > 20 ? BigDecimal.ZERO : new BigDecimal(text);
            if (seconds.signum() > 0 && seconds.compareTo(BigDecimal.valueOf(1_000_000)) <= 0) {
                return Duration.ofNanos(Math.max(1, seconds.movePointRight(9).longValue()));
            }
        } catch (NumberFormatException notNumber) {
            // Reported below.
        }
        throw ApiError.badField(
                TIMEOUT_HEADER, "the header X-Request-Timeout must be seconds, above 0 and at most 1000000");
    }

    /**
     * The prompts of a call.
     *
     * @param ids token ids, one list per prompt
     * @param reply how the text of a completion is split into parts
     * @param tools the tools that the completion may call
     */
    record Prompts(List<int[]> ids, ReplyFormat reply, Tools tools) {}

    /** Reads the prompts. */
    Prompts prompts(Fields fields, int n) {
        return new Prompts(ids(fields, n), ReplyFormat.PLAIN, Tools.NONE);
    }

    private List<int[]> ids(Fields fields, int n) {
        JsonNode prompt = fields.find("prompt")
                .orElseThrow(() -> ApiError.badField("prompt", "prompt is missing; set it to text or token ids"));
        List<int[]> prompts = new ArrayList<>();
        if (!prompt.isArray()) {
            prompts.add(encoded("prompt", prompt));
        } else if (prompt.isEmpty()) {
            throw ApiError.badField("prompt", "prompt is an empty list; it must have at least one token");
        } else if (prompt.get(0).isNumber()) {
            prompts.add(Fields.ids("prompt", prompt));
        } else {
            if ((long) prompt.size() * n > MAX_CHOICES) {
                throw ApiError.badField(
                        "prompt",
                        prompt.size() + " prompts with n " + n + " are " + (long) prompt.size() * n
                                + " completions; at most " + MAX_CHOICES + " are allowed per call");
            }
            for (JsonNode element : prompt) {
                String field = "prompt[" + prompts.size() + "]";
                prompts.add(element.isArray() ? Fields.ids(field, element) : encoded(field, element));
            }
        }
        return prompts;
    }

    private int[] encoded(String field, JsonNode prompt) {
        if (!prompt.isString()) {
            throw Fields.wrong(field, prompt, "text, token ids, or a list of either");
        }
        Tokenizer words =
                tokenizer.orElseThrow(() -> ApiError.badField(field, "the model has no tokenizer; use token ids"));
        return Fields.checked(field, () -> words.encodePrompt(prompt.stringValue()));
    }

    /** Returns prompts truncated at the start or end to the length that the client requests. */
    private List<int[]> truncated(Fields fields, List<int[]> prompts) {
        String field = "truncate_prompt_tokens";
        String side = fields.string("truncation_side").orElse("left");
        if (!side.equals("left") && !side.equals("right")) {
            throw ApiError.badField(
                    "truncation_side", "truncation_side is " + Quoted.name(side) + "; it must be left or right");
        }
        int asked = fields.integer(field, Integer.MAX_VALUE, -1, spec.contextLength());
        int max = asked >= 0 ? asked : Math.max(1, spec.contextLength() - maxTokens(fields, spec.contextLength() - 1));
        return prompts.stream()
                .map(ids -> {
                    int kept = Math.min(max, ids.length);
                    int from = side.equals("left") ? ids.length - kept : 0;
                    return Arrays.copyOfRange(ids, from, from + kept);
                })
                .toList();
    }

    /** Returns the field that prompts come from. */
    String promptField() {
        return "prompt";
    }

    private void requireFit(String field, int maxTokens, int... ids) {
        if (ids.length == 0) {
            throw ApiError.badField(field, "the prompt is empty; it must have at least one token");
        }
        ends.requireInVocabulary(field, ids);
        if (ids.length > EngineLimits.maxPromptTokens(maxTokens, spec)) {
            throw ApiError.badField(field, EngineLimits.promptTooLong(ids.length, spec))
                    .withNumber("n_prompt_tokens", ids.length)
                    .withNumber("n_ctx", spec.contextLength());
        }
    }

    /** Returns the error for a request that the engine rejects, which is about the sizes of prompt and completion. */
    public ApiError refused(BadInput bad) {
        return ApiError.badField(promptField(), bad.jsonMessage());
    }
}

package io.roseinfer.tokenizer.chat.reply;

import io.roseinfer.tokenizer.chat.jinja.Template;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;

/** The form of a model's tool calls, under vLLM's names. */
public enum ToolCallFormat {
    /** Tool calls are not parsed. */
    NONE("", false, "", "", 0),
    /** {@code <tool_call>{"name": "f", "arguments": {}}</tool_call>} per call; also Qwen's format. */
    HERMES("<tool_call>", false, "</tool_call>", "arguments", ToolCallFormat.LONG_ID),
    /**
     * {@code {"name": "f", "parameters": {}}} at the start of the reply, or after {@code <|python_tag|>}; further calls
     * follow a semicolon.
     */
    LLAMA3_JSON("<|python_tag|>", false, "", "parameters", ToolCallFormat.LONG_ID),
    /** {@code [TOOL_CALLS][{"name": "f", "arguments": {}}]}. */
    MISTRAL("[TOOL_CALLS]", true, "", "arguments", 9),
    /** {@code [TOOL_CALLS]f[ARGS]{}} per call, as newer Mistral models write them; also with {@code [CALL_ID]} and an id before {@code [ARGS]}. */
    MISTRAL_ARGS("[TOOL_CALLS]", false, "", "arguments", 9),
    /** {@code [f(x=1), g()]} at the start of the reply: calls with keyword arguments as Python writes them. */
    PYTHONIC("", true, "", "", ToolCallFormat.LONG_ID);

    /** The values of a flag. */
    public static final String LABEL = "<none|hermes|llama3_json|mistral|mistral_args|pythonic>";

    private static final int LONG_ID = 24;

    private static final String HERMES_CALLS = """
            {%- for call in calls %}
                {{- '\\n' if not loop.first }}
                {{- '<tool_call>\\n{"name": ' ~ call.function.name | tojson ~ ', "arguments": ' }}
                {{- call.function.arguments | tojson ~ '}\\n</tool_call>' }}
            {%- endfor %}""";

    private final String trigger;
    private final boolean list;
    private final String end;
    private final String argumentsKey;
    private final int idLength;

    ToolCallFormat(String trigger, boolean list, String end, String argumentsKey, int idLength) {
        this.trigger = trigger;
        this.list = list;
        this.end = end;
        this.argumentsKey = argumentsKey;
        this.idLength = idLength;
    }

    /** Returns the text before the calls; empty if only the start of the reply marks them. */
    String trigger() {
        return trigger;
    }

    /** Returns whether calls may also be at the start of the reply without a trigger. */
    boolean callsAtStart() {
        return this == LLAMA3_JSON || this == PYTHONIC;
    }

    /** Returns whether calls are elements of a list. */
    boolean isList() {
        return list;
    }

    /** Returns the character that begins the calls at the start of the reply or after the trigger. */
    char firstChar() {
        return list ? '[' : '{';
    }

    /** Returns whether a character may be between two calls that have no text after each. */
    boolean separates(char next) {
        return this != MISTRAL_ARGS && next == (list ? ',' : ';');
    }

    /** Returns the text after each call. */
    String end() {
        return end;
    }

    /** Returns the name of the field with a call's arguments; empty if calls are not JSON. */
    String argumentsKey() {
        return argumentsKey;
    }

    /**
     * Returns calls as a model writes them in its reply, for a chat template that does not write them itself; empty if
     * such templates are not known for the format.
     *
     * @param toolCalls a list of objects with {@code function}
     */
    public Optional<String> text(JsonNode toolCalls) {
        return this == HERMES
                ? Optional.of(Template.parse(HERMES_CALLS, "tool calls")
                        .render(Map.of("calls", toolCalls), UnaryOperator.identity()))
                : Optional.empty();
    }

    /**
     * Returns a call's id.
     *
     * @param digest at least 24 hexadecimal digits, different for each call of a conversation
     */
    public String id(String digest) {
        return (idLength == LONG_ID ? "call_" : "") + digest.substring(0, idLength);
    }

    /** Returns the texts that may be special tokens in a reply of this format. */
    Stream<String> markers() {
        Stream<String> inCalls = this == MISTRAL_ARGS ? Stream.of(NamedCall.ARGUMENTS, NamedCall.ID) : Stream.empty();
        return Stream.concat(Stream.of(trigger, end), inCalls).filter(text -> !text.isEmpty());
    }
}

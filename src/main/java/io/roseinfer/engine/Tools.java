package io.roseinfer.engine;

import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.StrictJson;
import io.roseinfer.grammar.Grammar;
import io.roseinfer.tokenizer.Tokenizer;
import io.roseinfer.tokenizer.chat.reply.CallGrammar;
import io.roseinfer.tokenizer.chat.reply.ReplyFormat;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The tools of a conversation. Immutable; {@code with…} methods return modified copies.
 *
 * @param list the tools, with distinct names
 * @param choice whether the model may or must call them
 * @param named the tool that it must call; empty for any
 * @param parallel whether a reply may have several calls
 */
public record Tools(List<Tool> list, Choice choice, Optional<String> named, boolean parallel) {
    /** No tools. */
    public static final Tools NONE = new Tools(List.of(), Choice.NONE, Optional.empty(), true);

    private static final String NO_PARAMETERS =
            "{\"type\":\"object\",\"properties\":{},\"additionalProperties\":false}";

    private static final String ANY_OBJECT = "{\"type\":\"object\"}";

    /** Maximum white space between two tokens of enforced arguments: as models write calls, and without a waste of tokens. */
    private static final int MAX_SPACE = 1;

    /** Whether the model calls tools. */
    public enum Choice {
        /** The prompt lists the tools, but calls are not parsed. */
        NONE,
        /** The model decides. */
        AUTO,
        /** Every reply has a call. */
        REQUIRED
    }

    public Tools {
        list = List.copyOf(Objects.requireNonNull(list, "list"));
        Objects.requireNonNull(choice, "choice");
        Objects.requireNonNull(named, "named");
        Set<String> names = new HashSet<>();
        for (int i = 0; i < list.size(); i++) {
            String name = list.get(i).name();
            if (!names.add(name)) {
                throw BadInput.about(place(i) + ".name", " is " + Quoted.name(name) + ", which an earlier tool has");
            }
        }
        named.filter(wanted -> !names.contains(wanted)).ifPresent(wanted -> {
            throw BadInput.about("tool_choice", " names " + Quoted.name(wanted) + ", which is not in tools");
        });
    }

    /**
     * Returns tools that the model may call.
     *
     * @throws BadInput if two have the same name
     */
    public static Tools of(Tool... tools) {
        return of(List.of(Objects.requireNonNull(tools, "tools")));
    }

    /**
     * Returns tools that the model may call.
     *
     * @throws BadInput if two have the same name
     */
    public static Tools of(List<Tool> tools) {
        Objects.requireNonNull(tools, "tools");
        return tools.isEmpty() ? NONE : new Tools(tools, Choice.AUTO, Optional.empty(), true);
    }

    /** Returns the same tools, which the model may or must call. */
    public Tools withChoice(Choice value) {
        return new Tools(list, Objects.requireNonNull(value, "choice"), named, parallel);
    }

    /**
     * Returns the same tools; the model must call this one.
     *
     * @throws BadInput if there is no tool of this name
     */
    public Tools withRequired(String name) {
        return new Tools(list, Choice.REQUIRED, Optional.of(Objects.requireNonNull(name, "name")), parallel);
    }

    /** Returns the same tools; a reply may have several calls, or the first only. */
    public Tools withParallel(boolean value) {
        return new Tools(list, choice, named, value);
    }

    /** Returns whether the model may call tools. */
    public boolean mayCall() {
        return choice != Choice.NONE;
    }

    /** Returns the tools for a chat template; empty if there are none. */
    public Optional<JsonNode> definitions() {
        if (list.isEmpty()) {
            return Optional.empty();
        }
        ArrayNode definitions = StrictJson.mapper().createArrayNode();
        list.forEach(tool -> definitions.add(tool.definition()));
        return Optional.of(definitions);
    }

    /** Returns the index of the first strict tool; empty if none is strict. */
    OptionalInt strict() {
        return IntStream.range(0, list.size())
                .filter(index -> list.get(index).isStrict())
                .findFirst();
    }

    /** Returns the format of a reply, with calls only if the model may call. */
    public ReplyFormat replies(ChatFormat format) {
        Objects.requireNonNull(format, "format");
        return ReplyFormat.of(mayCall() ? format.replies() : format.replies().withoutCalls())
                .withOneCall(!parallel || named.isPresent());
    }

    /**
     * Returns the grammar of a reply. A required call, and a call of a strict tool, has arguments that are valid
     * against the tool's schema. A call that is required but not strict has any object if its schema is not supported.
     *
     * @param other the grammar that the content must have
     * @param ignored takes the place of each keyword of an enforced schema that has no effect
     * @throws BadInput if the schema of a strict tool is not supported
     */
    public Optional<Grammar> grammar(
            ReplyFormat format, Tokenizer tokenizer, Optional<Grammar> other, Consumer<String> ignored) {
        Objects.requireNonNull(format, "format");
        Objects.requireNonNull(tokenizer, "tokenizer");
        Objects.requireNonNull(other, "other");
        Objects.requireNonNull(ignored, "ignored");
        if (choice == Choice.NONE && other.isEmpty()) {
            return other;
        }
        CallGrammar grammars = new CallGrammar(format, tokenizer);
        Optional<Grammar> grammar =
                switch (choice) {
                    case NONE -> other;
                    case REQUIRED -> Optional.of(grammars.calls(functions(ignored)));
                    case AUTO ->
                        other.isPresent() && CallGrammar.exists(format.calls())
                                ? Optional.of(grammars.callsOr(other.get(), functions(ignored)))
                                : strict().isPresent()
                                        ? Optional.of(grammars.optionalCalls(functions(ignored)))
                                        : other;
                };
        return grammar.map(grammars::afterReasoning);
    }

    private List<CallGrammar.Function> functions(Consumer<String> ignored) {
        List<CallGrammar.Function> functions = new ArrayList<>();
        for (int i = 0; i < list.size(); i++) {
            Tool tool = list.get(i);
            if (named.isEmpty() || named.get().equals(tool.name())) {
                functions.add(
                        new CallGrammar.Function(tool.name(), arguments(tool, place(i) + ".parameters", ignored)));
            }
        }
        return functions;
    }

    private static String place(int tool) {
        return "tools[" + tool + "].function";
    }

    private Grammar arguments(Tool tool, String place, Consumer<String> ignored) {
        if (!tool.isStrict() && choice != Choice.REQUIRED) {
            return Grammar.jsonSchema(ANY_OBJECT, MAX_SPACE);
        }
        JsonNode schema = tool.parameters().isObject()
                ? ((ObjectNode) tool.parameters().deepCopy()).put("type", "object")
                : Grammar.parseSchema(NO_PARAMETERS);
        try {
            Grammar grammar = Grammar.jsonSchema(schema, MAX_SPACE);
            Grammar.unknownKeywords(schema).forEach(keyword -> ignored.accept(place + keyword));
            return grammar;
        } catch (BadInput unsupported) {
            if (tool.isStrict()) {
                throw BadInput.about(place, ": " + unsupported.jsonMessage());
            }
            return Grammar.jsonSchema(ANY_OBJECT, MAX_SPACE);
        }
    }
}

package io.roseinfer.tokenizer.chat.reply;

import io.roseinfer.base.StrictJson;
import io.roseinfer.grammar.Expression;
import io.roseinfer.grammar.Grammar;
import io.roseinfer.grammar.Regex;
import io.roseinfer.tokenizer.AddedToken;
import io.roseinfer.tokenizer.Tokenizer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** Grammars of replies in a model's format. A marker that is a special token is one in the grammar, too. Immutable. */
public final class CallGrammar {
    private static final int MAX_LINES = 4;

    /**
     * A function that the reply may call.
     *
     * @param arguments the JSON texts of its arguments
     */
    public record Function(String name, Grammar arguments) {}

    private final ReplyFormat format;
    private final Set<String> special;

    /** Creates grammars of replies in a format. */
    public CallGrammar(ReplyFormat format, Tokenizer tokenizer) {
        this(
                format,
                tokenizer.addedTokens().stream()
                        .filter(AddedToken::special)
                        .map(AddedToken::content)
                        .collect(Collectors.toSet()));
    }

    /** Creates grammars for a vocabulary with these special tokens. */
    CallGrammar(ReplyFormat format, Set<String> special) {
        this.format = format;
        this.special = Set.copyOf(special);
    }

    /** Returns whether calls of a format have a grammar; those in Python have none. */
    public static boolean exists(ToolCallFormat calls) {
        return !calls.argumentsKey().isEmpty();
    }

    /** Returns the grammar of replies that call at least one of the functions, without content. */
    public Grammar calls(List<Function> functions) {
        Map<String, Expression> rules = new LinkedHashMap<>();
        Expression first = Expression.sequence(trigger(), call(functions, rules));
        return grammar(rules, Expression.sequence(first, more(rules)));
    }

    /** Returns the grammar of replies whose calls, if there are any, are calls of these functions. */
    public Grammar optionalCalls(List<Function> functions) {
        Map<String, Expression> rules = new LinkedHashMap<>();
        Expression call = call(functions, rules);
        String trigger = format.calls().trigger();
        Expression calls = Expression.sequence(call, more(rules));
        if (format.calls().callsAtStart()) {
            Regex other = Regex.not(Regex.concat(spaces(), Regex.literal("{"), Regex.ANY_TEXT));
            return grammar(rules, Expression.choice(Expression.terminal(other), calls));
        }
        if (special.contains(trigger)) {
            Expression text = Expression.terminal(Regex.ANY_TEXT);
            return grammar(rules, Expression.choice(text, Expression.sequence(text, trigger(), calls)));
        }
        Expression untilTrigger = Expression.terminal(Regex.concat(without(trigger), Regex.literal(trigger)));
        String open = format.calls().isList() ? "[" : "";
        return grammar(
                rules,
                Expression.choice(
                        Expression.terminal(without(trigger)),
                        Expression.sequence(untilTrigger, Expression.literal(open), calls)));
    }

    /** Returns the grammar of replies that call at least one of the functions, or are a text of another grammar. */
    public Grammar callsOr(Grammar other, List<Function> functions) {
        Map<String, Expression> rules = new LinkedHashMap<>();
        String prefix = "other ";
        other.rules().forEach((rule, right) -> rules.put(prefix + rule, renamed(right, prefix)));
        Grammar calls = calls(functions);
        rules.putAll(calls.rules());
        Expression start =
                Expression.choice(Expression.reference(calls.start()), Expression.reference(prefix + other.start()));
        rules.put("calls or other", start);
        return new Grammar("calls or other", rules);
    }

    /** Returns the grammar of replies that have reasoning, if the format has one, and then a text of a grammar. */
    public Grammar afterReasoning(Grammar grammar) {
        if (format.reasoning() == ReasoningFormat.NONE) {
            return grammar;
        }
        Map<String, Expression> rules = new LinkedHashMap<>(grammar.rules());
        Expression reasoning = Expression.sequence(until(ReasoningFormat.END), lines());
        Expression start = Expression.reference(grammar.start());
        Expression whole = format.inReasoning()
                ? Expression.sequence(reasoning, start)
                : Expression.sequence(
                        Expression.optional(Expression.sequence(marker(ReasoningFormat.BEGIN), reasoning)), start);
        String name = grammar.start() + " after reasoning";
        rules.put(name, whole);
        return new Grammar(name, rules);
    }

    private static Grammar grammar(Map<String, Expression> rules, Expression reply) {
        rules.put("reply", reply);
        return new Grammar("reply", rules);
    }

    /** Returns the text before the first call; calls of some formats each have the trigger. */
    private Expression trigger() {
        return switch (format.calls()) {
            case MISTRAL -> Expression.sequence(marker(format.calls().trigger()), Expression.literal("["));
            case HERMES, MISTRAL_ARGS -> marker(format.calls().trigger());
            default -> Expression.EMPTY;
        };
    }

    /** Returns one call, without its trigger. */
    private Expression call(List<Function> functions, Map<String, Expression> rules) {
        List<Expression> calls = new ArrayList<>();
        for (int i = 0; i < functions.size(); i++) {
            String prefix = "function " + i + " ";
            Grammar arguments = functions.get(i).arguments();
            arguments.rules().forEach((rule, right) -> rules.put(prefix + rule, renamed(right, prefix)));
            if (format.calls() == ToolCallFormat.MISTRAL_ARGS) {
                calls.add(Expression.sequence(
                        Expression.literal(functions.get(i).name()),
                        marker(NamedCall.ARGUMENTS),
                        Expression.reference(prefix + arguments.start())));
                continue;
            }
            String name =
                    StrictJson.mapper().writeValueAsString(functions.get(i).name());
            String key = format.calls().argumentsKey();
            String line = format.calls() == ToolCallFormat.HERMES ? "\n" : "";
            calls.add(Expression.sequence(
                    Expression.literal(line + "{\"name\": " + name + ", \"" + key + "\": "),
                    Expression.reference(prefix + arguments.start()),
                    Expression.literal("}" + line)));
        }
        rules.put(
                "call",
                Expression.sequence(
                        Expression.choice(calls), marker(format.calls().end())));
        return Expression.reference("call");
    }

    /** Returns further calls, and the end of the list. */
    private Expression more(Map<String, Expression> rules) {
        Expression separator =
                switch (format.calls()) {
                    case HERMES -> Expression.sequence(lines(), trigger());
                    case MISTRAL_ARGS -> trigger();
                    case MISTRAL -> Expression.literal(", ");
                    default -> Expression.literal("; ");
                };
        String end = format.calls().isList() ? "]" : "";
        Expression others = format.oneCall()
                ? Expression.EMPTY
                : Expression.repeat(
                        Expression.sequence(separator, Expression.reference("call")), 0, Expression.Repeat.UNBOUNDED);
        rules.put("more", Expression.sequence(others, Expression.literal(end)));
        return Expression.reference("more");
    }

    private Expression marker(String text) {
        return special.contains(text) ? new Expression.TokenReference(text) : Expression.literal(text);
    }

    /** Returns any text up to a marker. */
    private Expression until(String text) {
        return special.contains(text)
                ? Expression.sequence(Expression.terminal(Regex.ANY_TEXT), marker(text))
                : Expression.terminal(Regex.concat(without(text), Regex.literal(text)));
    }

    private static Regex without(String text) {
        return Regex.not(Regex.concat(Regex.ANY_TEXT, Regex.literal(text), Regex.ANY_TEXT));
    }

    private static Expression lines() {
        return Expression.terminal(Regex.repeat(Regex.literal("\n"), 0, MAX_LINES));
    }

    private static Regex spaces() {
        Regex space = Regex.or(Regex.literal(" "), Regex.literal("\n"), Regex.literal("\t"), Regex.literal("\r"));
        return Regex.star(space);
    }

    /** Returns an expression whose references have a prefix. */
    private static Expression renamed(Expression expression, String prefix) {
        return switch (expression) {
            case Expression.Terminal terminal -> terminal;
            case Expression.TokenReference token -> token;
            case Expression.Sequence all -> new Expression.Sequence(renamed(all.parts(), prefix));
            case Expression.Choice one -> new Expression.Choice(renamed(one.alternatives(), prefix));
            case Expression.Repeat repeat ->
                new Expression.Repeat(renamed(repeat.operand(), prefix), repeat.min(), repeat.max());
            case Expression.Reference reference -> new Expression.Reference(prefix + reference.rule());
        };
    }

    private static List<Expression> renamed(List<Expression> parts, String prefix) {
        return parts.stream().map(part -> renamed(part, prefix)).toList();
    }
}

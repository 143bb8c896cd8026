package io.roseinfer.grammar;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Turns rules and parts of rules whose language is regular by their form into terminals. Grammars by hand spell strings
 * and numbers character by character; as terminals they need no parser.
 */
final class TerminalMerger {
    private final Map<String, Expression> rules;
    private final Map<String, Expression> merged = new HashMap<>();
    private final Set<String> open = new HashSet<>();

    private TerminalMerger(Map<String, Expression> rules) {
        this.rules = rules;
    }

    /** Returns rules of the same language. */
    static Map<String, Expression> merged(Map<String, Expression> rules) {
        TerminalMerger merger = new TerminalMerger(rules);
        Map<String, Expression> result = new LinkedHashMap<>();
        rules.keySet().forEach(name -> result.put(name, merger.rule(name)));
        return result;
    }

    /** Returns a rule's right side; a reference to itself if it is recursive. */
    private Expression rule(String name) {
        Expression known = merged.get(name);
        Expression right = rules.get(name);
        if (known != null || right == null) {
            return known == null ? Expression.reference(name) : known;
        }
        if (open.size() >= GrammarSize.NESTING || !open.add(name)) {
            return Expression.reference(name);
        }
        Expression result = merge(right);
        open.remove(name);
        merged.put(name, result);
        return result;
    }

    private static @Nullable Regex regex(Expression expression) {
        return expression instanceof Expression.Terminal(Regex regex)
                ? regex
                : expression.equals(Expression.EMPTY) ? Regex.EMPTY : null;
    }

    private Expression merge(Expression expression) {
        return switch (expression) {
            case Expression.Terminal _, Expression.TokenReference _ -> expression;
            case Expression.Reference(String name) -> {
                Regex regex = regex(rule(name));
                yield regex != null && RegexParser.sizeOf(regex, 1_000) <= 1_000
                        ? Expression.terminal(regex)
                        : expression;
            }
            case Expression.Sequence(var parts) -> sequence(parts);
            case Expression.Choice(var alternatives) -> choice(alternatives);
            case Expression.Repeat(var operand, int min, int max) -> {
                Expression inner = merge(operand);
                Regex regex = regex(inner);
                yield regex != null
                        ? Expression.terminal(Regex.repeat(regex, min, max))
                        : Expression.repeat(inner, min, max);
            }
        };
    }

    private Expression sequence(List<Expression> parts) {
        List<Expression> result = new ArrayList<>();
        for (Expression part : parts) {
            Expression one = merge(part);
            Regex regex = regex(one);
            if (regex != null && !result.isEmpty() && result.getLast() instanceof Expression.Terminal(Regex before)) {
                result.set(result.size() - 1, Expression.terminal(Regex.concat(before, regex)));
            } else if (!one.equals(Expression.EMPTY)) {
                result.add(one);
            }
        }
        return Expression.sequence(result);
    }

    private Expression choice(List<Expression> alternatives) {
        List<Regex> regexes = new ArrayList<>();
        List<Expression> others = new ArrayList<>();
        for (Expression alternative : alternatives) {
            Expression one = merge(alternative);
            Regex regex = regex(one);
            if (regex != null) {
                regexes.add(regex);
            } else {
                others.add(one);
            }
        }
        if (!regexes.isEmpty()) {
            others.addFirst(Expression.terminal(Regex.or(regexes)));
        }
        return Expression.choice(others);
    }
}

package io.roseinfer.grammar;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Removes from grammars what derives no text, and rules that are not reached. */
final class GrammarCleaner {
    private final Map<String, Expression> rules;
    private final Set<String> productive = new HashSet<>();

    private GrammarCleaner(Map<String, Expression> rules) {
        this.rules = rules;
    }

    /** Returns the same language without useless rules and alternatives, or null if it has no text. */
    static @Nullable Grammar cleaned(String start, Map<String, Expression> rules) {
        GrammarCleaner cleaner = new GrammarCleaner(rules);
        cleaner.findProductive();
        if (!cleaner.productive.contains(start)) {
            return null;
        }
        Map<String, Expression> kept = new LinkedHashMap<>();
        Deque<String> open = new ArrayDeque<>();
        open.add(start);
        kept.put(start, Expression.EMPTY);
        while (!open.isEmpty()) {
            String rule = open.remove();
            Expression right = cleaner.cleaned(rules.get(rule));
            kept.put(rule, right);
            references(right, reference -> {
                if (!kept.containsKey(reference)) {
                    kept.put(reference, Expression.EMPTY);
                    open.add(reference);
                }
            });
        }
        return new Grammar(start, kept);
    }

    private void findProductive() {
        // Each rule is looked at again only if one that it refers to has become productive.
        Map<String, List<String>> users = new HashMap<>();
        rules.forEach((rule, right) -> references(
                right,
                used -> users.computeIfAbsent(used, key -> new ArrayList<>()).add(rule)));
        Deque<String> open = new ArrayDeque<>(rules.keySet());
        while (!open.isEmpty()) {
            String rule = open.remove();
            if (!productive.contains(rule) && isProductive(rules.get(rule))) {
                productive.add(rule);
                open.addAll(users.getOrDefault(rule, List.of()));
            }
        }
    }

    private boolean isProductive(@Nullable Expression expression) {
        return switch (expression) {
            case null -> false;
            case Expression.Terminal(Regex regex) -> !RegexSolver.isEmpty(regex);
            case Expression.TokenReference _ -> true;
            case Expression.Reference(String rule) -> productive.contains(rule);
            case Expression.Sequence(var parts) -> areProductive(parts);
            case Expression.Choice(var alternatives) -> anyProductive(alternatives);
            case Expression.Repeat(var operand, int min, int _) -> min == 0 || isProductive(operand);
        };
    }

    private boolean areProductive(List<Expression> parts) {
        for (Expression part : parts) {
            if (!isProductive(part)) {
                return false;
            }
        }
        return true;
    }

    private boolean anyProductive(List<Expression> alternatives) {
        for (Expression alternative : alternatives) {
            if (isProductive(alternative)) {
                return true;
            }
        }
        return false;
    }

    private static void references(Expression expression, Consumer<String> action) {
        switch (expression) {
            case Expression.Terminal _, Expression.TokenReference _ -> {}
            case Expression.Reference(String rule) -> action.accept(rule);
            case Expression.Sequence(var parts) -> parts.forEach(part -> references(part, action));
            case Expression.Choice(var alternatives) -> alternatives.forEach(part -> references(part, action));
            case Expression.Repeat(var operand, int _, int _) -> references(operand, action);
        }
    }

    /** Returns a productive expression without alternatives that are not. */
    private Expression cleaned(@Nullable Expression expression) {
        return switch (expression) {
            case null -> Expression.EMPTY;
            case Expression.Terminal _, Expression.TokenReference _, Expression.Reference _ -> expression;
            case Expression.Sequence(var parts) ->
                Expression.sequence(parts.stream()
                        .map(this::cleaned)
                        .filter(part -> !part.equals(Expression.EMPTY))
                        .toList());
            case Expression.Choice(var alternatives) ->
                Expression.choice(alternatives.stream()
                        .filter(this::isProductive)
                        .map(this::cleaned)
                        .toList());
            case Expression.Repeat(var operand, int min, int max) ->
                isProductive(operand) ? Expression.repeat(cleaned(operand), min, max) : Expression.EMPTY;
        };
    }
}

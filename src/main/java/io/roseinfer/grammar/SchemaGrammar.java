package io.roseinfer.grammar;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.Utf16;
import io.roseinfer.grammar.Condition.All;
import io.roseinfer.grammar.ObjectShape.Names;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Writes the rules of a schema's texts. White space belongs to the terminals of brackets, commas and colons, so no
 * terminal can be empty. Used by one thread.
 */
final class SchemaGrammar {
    private record Unwritten(String name, ValueShape shape, String place) {}

    /** An undeclared property: the string of its name, and its value. */
    private record Undeclared(Regex name, Expression value) {}

    /** Steps of work that one way to write a property counts as. */
    private static final int PROPERTY_STEPS = 8;

    /** Steps of work that a document counts as. */
    private static final int DOCUMENT_STEPS = 1_000;

    private final SchemaReader reader;
    private final JsonText text = new JsonText();
    private final Map<String, Expression> rules = new LinkedHashMap<>();
    /** The rules of values. A reference has the very shape of its target, and so the same rule. */
    private final IdentityHashMap<ValueShape, String> names = new IdentityHashMap<>();

    private final Deque<Unwritten> unwritten = new ArrayDeque<>();
    private final Map<DecimalSet, Expression> numbers = new HashMap<>();
    private final Map<Texts, Regex> strings = new HashMap<>();
    private final Regex space;
    private final Expression comma;
    private int expressions;
    /** Where the schema is that is being written, for messages. */
    private String place = "the root";

    private SchemaGrammar(SchemaReader reader, Regex space) {
        this.reader = reader;
        this.space = space;
        this.comma = terminal(space, Regex.literal(","), space);
    }

    /**
     * Returns the grammar of a schema's texts.
     *
     * @param space the white space between two tokens
     */
    static Grammar of(JsonNode schema, Regex space) {
        GrammarWork.add(DOCUMENT_STEPS);
        SchemaDocument document = new SchemaDocument(schema);
        SchemaReader reader = new SchemaReader(document);
        SchemaGrammar grammar = new SchemaGrammar(reader, space);
        All root = All.of(new Condition.Schema(document.root()));
        Map<String, Expression> rules = grammar.write(root);
        Grammar cleaned = GrammarCleaner.cleaned("root", rules);
        if (cleaned == null) {
            throw new BadInput("the schema is valid for no value: its keywords contradict each other at "
                    + reader.contradiction(root));
        }
        return cleaned;
    }

    private Map<String, Expression> write(All root) {
        rules.put("root", Expression.EMPTY);
        try {
            rules.put("root", value(root));
            while (!unwritten.isEmpty()) {
                Unwritten next = unwritten.remove();
                place = next.place;
                rules.put(next.name, body(next.name, next.shape));
            }
        } catch (SchemaReader.CircularException e) {
            throw e.asBadInput();
        }
        return rules;
    }

    private Expression value(All all) {
        GrammarSize.require(
                ++expressions <= GrammarSize.EXPRESSIONS,
                "the size of the schema's grammar",
                expressions,
                "at most " + GrammarSize.EXPRESSIONS);
        ValueShape shape = reader.shape(all);
        if (shape.isScalar()) {
            return scalar(shape);
        }
        String name = names.get(shape);
        if (name == null) {
            name = "value" + names.size();
            names.put(shape, name);
            unwritten.add(new Unwritten(name, shape, all.place()));
        }
        return Expression.reference(name);
    }

    private Expression body(String name, ValueShape shape) {
        List<Expression> alternatives = new ArrayList<>();
        Expression scalar = scalar(shape);
        if (!scalar.equals(Expression.terminal(Regex.NONE))) {
            alternatives.add(scalar);
        }
        for (int i = 0; i < shape.arrays().size(); i++) {
            alternatives.add(array(name + "_array" + i, shape.arrays().get(i)));
        }
        int number = 0;
        for (ObjectShape one : shape.objects()) {
            for (ObjectShape object : withoutNamedSome(one)) {
                alternatives.add(object(name + "_object" + number++, object));
            }
        }
        return Expression.choice(alternatives);
    }

    private static Expression terminal(Regex... parts) {
        return Expression.terminal(Regex.concat(parts));
    }

    // --- scalars ----------------------------------------------------------------------------------------------------

    private Expression scalar(ValueShape shape) {
        List<Regex> spellings = new ArrayList<>();
        if (shape.nulls()) {
            spellings.add(Regex.literal("null"));
        }
        if ((shape.booleans() & 2) != 0) {
            spellings.add(Regex.literal("true"));
        }
        if ((shape.booleans() & 1) != 0) {
            spellings.add(Regex.literal("false"));
        }
        if (!shape.strings().equals(Texts.Finite.NONE)) {
            spellings.add(string(shape.strings()));
        }
        Expression number = shape.numbers().isEmpty() ? null : number(shape.numbers());
        if (number instanceof Expression.Terminal(Regex regex)) {
            spellings.add(regex);
            number = null;
        }
        Expression terminal = Expression.terminal(Regex.or(spellings));
        return number == null ? terminal : spellings.isEmpty() ? number : Expression.choice(terminal, number);
    }

    private Regex string(Texts texts) {
        return strings.computeIfAbsent(
                texts, key -> text.string(requireWellFormed(key).regex()));
    }

    private static Texts requireWellFormed(Texts texts) {
        if (texts instanceof Texts.Finite(List<String> listed)) {
            for (String one : listed) {
                boolean unpaired = Utf16.unpairedSurrogate(one) >= 0;
                GrammarSize.require(!unpaired, "a string of the schema", one, "without unpaired surrogates");
            }
        }
        return texts;
    }

    private Expression number(DecimalSet set) {
        Expression known = numbers.get(set);
        if (known != null) {
            return known;
        }
        Expression written;
        if (set.equals(DecimalSet.ALL)) {
            written = Expression.terminal(JsonText.NUMBER);
        } else {
            DecimalSet spellings = DecimalRegex.written(set);
            Regex regex = DecimalRegex.regex(spellings);
            written = regex != null ? Expression.terminal(regex) : numberRules(spellings);
        }
        numbers.put(set, written);
        return written;
    }

    /** Writes an automaton as left-recursive rules, one for each state. */
    private Expression numberRules(DecimalSet set) {
        String name = "number" + numbers.size() + "_";
        List<List<Expression>> ways = new ArrayList<>();
        List<Expression> accepting = new ArrayList<>();
        for (int state = 0; state < set.states(); state++) {
            ways.add(new ArrayList<>());
            if (set.isAccepting(state)) {
                accepting.add(Expression.reference(name + state));
            }
        }
        ways.getFirst().add(Expression.EMPTY);
        for (int state = 0; state < set.states(); state++) {
            int from = state;
            DecimalRegex.symbols(set, state)
                    .forEach((target, symbols) -> ways.get(target)
                            .add(Expression.sequence(
                                    Expression.reference(name + from),
                                    Expression.terminal(Regex.chars(CodePointSet.of(symbols))))));
        }
        for (int state = 0; state < set.states(); state++) {
            rules.put(name + state, Expression.choice(ways.get(state)));
        }
        return Expression.choice(accepting);
    }

    // --- arrays -----------------------------------------------------------------------------------------------------

    private Expression array(String name, ArrayShape shape) {
        if (shape.unique()) {
            return uniqueArray(name, shape);
        }
        if (!shape.contains().isEmpty()) {
            return countedArray(name, shape);
        }
        List<Expression> alternatives = new ArrayList<>();
        if (shape.min() == 0) {
            alternatives.add(emptyArray());
        }
        if (shape.max() > 0) {
            alternatives.add(bracketed(Expression.sequence(value(shape.at(0)), afterFirst(shape))));
        }
        return Expression.choice(alternatives);
    }

    private Expression emptyArray() {
        return terminal(Regex.literal("["), space, Regex.literal("]"));
    }

    private Expression bracketed(Expression elements) {
        return Expression.sequence(terminal(Regex.literal("["), space), elements, terminal(space, Regex.literal("]")));
    }

    private Expression afterFirst(ArrayShape shape) {
        int fixed = Math.max(1, shape.prefix().size());
        Expression tail = Expression.EMPTY;
        if (shape.max() > fixed) {
            int max = shape.max() == ArrayShape.UNBOUNDED ? Expression.Repeat.UNBOUNDED : shape.max() - fixed;
            tail = Expression.repeat(
                    Expression.sequence(comma, value(shape.rest())), Math.max(0, shape.min() - fixed), max);
        }
        for (int i = shape.prefix().size() - 1; i > 0; i--) {
            Expression element = Expression.sequence(comma, value(shape.prefix().get(i)), tail);
            tail = i < shape.min() ? element : Expression.optional(element);
        }
        return tail;
    }

    /** Writes an array with {@code contains}: an automaton over the index and the counts of matching elements. */
    private Expression countedArray(String name, ArrayShape shape) {
        int fixed = Math.max(1, Math.max(shape.prefix().size(), shape.min()));
        for (ArrayShape.Contains one : shape.contains()) {
            fixed = Math.max(fixed, one.from());
        }
        Automaton automaton = new Automaton(name);
        Deque<List<Integer>> open = new ArrayDeque<>();
        List<Integer> start =
                new ArrayList<>(Collections.nCopies(shape.contains().size() + 1, 0));
        automaton.start(start);
        open.add(start);
        while (!open.isEmpty()) {
            List<Integer> state = open.remove();
            int index = state.getFirst();
            if (isComplete(shape, state)) {
                automaton.accept(state);
            }
            boolean last = shape.max() != ArrayShape.UNBOUNDED && index == shape.max();
            for (int counted = 0; !last && counted < 1 << shape.contains().size(); counted++) {
                All element = shape.at(index);
                List<Integer> next = new ArrayList<>(state);
                int cap = shape.max() == ArrayShape.UNBOUNDED ? fixed : shape.max();
                next.set(0, Math.min(cap, index + 1));
                boolean possible = true;
                for (int i = 0; possible && i < shape.contains().size(); i++) {
                    ArrayShape.Contains one = shape.contains().get(i);
                    boolean limited = one.max() != ArrayShape.UNBOUNDED;
                    int most = limited ? one.max() : one.min();
                    if ((counted >> i & 1) != 0) {
                        possible &= index >= one.from() && state.get(i + 1) < most;
                        next.set(i + 1, state.get(i + 1) + 1);
                        element = element.and(one.value());
                    } else if (limited && index >= one.from()) {
                        element = element.and(All.not(one.value()));
                    }
                }
                if (possible && !element.isFalse() && automaton.add(state, next, value(element))) {
                    open.add(next);
                }
            }
        }
        return arrayOf(automaton, shape.min() == 0 && isComplete(shape, start));
    }

    private static boolean isComplete(ArrayShape shape, List<Integer> state) {
        boolean complete = state.getFirst() >= shape.min();
        for (int i = 0; i < shape.contains().size(); i++) {
            complete &= state.get(i + 1) >= shape.contains().get(i).min();
        }
        return complete;
    }

    private Expression arrayOf(Automaton automaton, boolean canBeEmpty) {
        List<Expression> alternatives = new ArrayList<>();
        if (canBeEmpty) {
            alternatives.add(emptyArray());
        }
        List<Expression> accepted = automaton.write();
        if (!accepted.isEmpty()) {
            alternatives.add(bracketed(Expression.choice(accepted)));
        }
        return Expression.choice(alternatives);
    }

    /** Writes an array of different elements from a short list: an automaton of the index and those used. */
    private Expression uniqueArray(String name, ArrayShape shape) {
        Set<String> values = new LinkedHashSet<>();
        List<List<String>> allowed = new ArrayList<>();
        for (int i = 0; i <= shape.prefix().size(); i++) {
            List<String> spellings = i == shape.prefix().size() && shape.max() <= i ? List.of() : finite(shape.at(i));
            if (spellings == null || !shape.contains().isEmpty()) {
                throw new BadInput("uniqueItems at " + place + " is supported only for elements of an enumeration of at most "
                        + GrammarSize.UNIQUE_VALUES + " scalars, without contains");
            }
            values.addAll(spellings);
            allowed.add(spellings);
        }
        GrammarSize.require(
                values.size() <= GrammarSize.UNIQUE_VALUES,
                "the number of different elements of the array with uniqueItems at " + place,
                values.size(),
                "at most " + GrammarSize.UNIQUE_VALUES);
        List<String> listed = List.copyOf(values);
        Automaton automaton = new Automaton(name);
        Deque<List<Integer>> open = new ArrayDeque<>();
        List<Integer> start = List.of(0);
        automaton.start(start);
        open.add(start);
        while (!open.isEmpty()) {
            List<Integer> state = open.remove();
            int used = state.getFirst();
            int index = Integer.bitCount(used);
            if (index >= shape.min()) {
                automaton.accept(state);
            }
            for (String spelling : allowed.get(Math.min(index, allowed.size() - 1))) {
                int bit = 1 << listed.indexOf(spelling);
                List<Integer> next = List.of(used | bit);
                if (index < shape.max()
                        && (used & bit) == 0
                        && automaton.add(state, next, Expression.literal(spelling))) {
                    open.add(next);
                }
            }
        }
        return arrayOf(automaton, shape.min() == 0);
    }

    /** Returns the spellings of a short list of scalars, or null if the values are not one. */
    private @Nullable List<String> finite(All all) {
        ValueShape shape = reader.shape(all);
        DecimalSet written = DecimalRegex.written(shape.numbers());
        if (!shape.isScalar() || !written.isFinite() || !(shape.strings() instanceof Texts.Finite(var texts))) {
            return null;
        }
        List<String> spellings = new ArrayList<>();
        if (shape.nulls()) {
            spellings.add("null");
        }
        if ((shape.booleans() & 2) != 0) {
            spellings.add("true");
        }
        if ((shape.booleans() & 1) != 0) {
            spellings.add("false");
        }
        requireWellFormed(shape.strings());
        texts.forEach(one -> spellings.add(JsonText.quoted(one)));
        spellings.addAll(written.spellings(GrammarSize.UNIQUE_VALUES + 1));
        return spellings;
    }

    /** An automaton over elements, written as left-recursive rules: one for each state but the first. */
    private final class Automaton {
        private final String name;
        private final Map<List<Integer>, List<Expression>> ways = new LinkedHashMap<>();
        private final Set<List<Integer>> accepting = new LinkedHashSet<>();
        private List<Integer> start = List.of();

        Automaton(String name) {
            this.name = name;
        }

        void start(List<Integer> state) {
            start = state;
        }

        void accept(List<Integer> state) {
            accepting.add(state);
        }

        /** Adds a transition; returns whether its target is new. */
        boolean add(List<Integer> from, List<Integer> to, Expression element) {
            boolean fresh = !ways.containsKey(to);
            List<Expression> sources = ways.computeIfAbsent(to, key -> new ArrayList<>());
            sources.add(
                    from.equals(start)
                            ? element
                            : Expression.sequence(Expression.reference(ruleOf(from)), comma, element));
            GrammarSize.require(
                    ways.size() <= GrammarSize.COUNTERS,
                    "the number of counting rules of an array",
                    ways.size(),
                    "at most " + GrammarSize.COUNTERS + "; lower minItems, maxItems, minContains or maxContains");
            return fresh;
        }

        private String ruleOf(List<Integer> state) {
            StringBuilder rule = new StringBuilder(name);
            state.forEach(part -> rule.append('_').append(part));
            return rule.toString();
        }

        /** Writes the rules; returns the texts of one or more elements that are accepted. */
        List<Expression> write() {
            ways.forEach((state, sources) -> rules.put(ruleOf(state), Expression.choice(sources)));
            return accepting.stream()
                    .filter(ways::containsKey)
                    .map(state -> Expression.reference(ruleOf(state)))
                    .toList();
        }
    }

    // --- objects ----------------------------------------------------------------------------------------------------

    /** Returns objects whose {@code some} have other names: a named property that must be so is required instead. */
    private static List<ObjectShape> withoutNamedSome(ObjectShape shape) {
        if (shape.some().isEmpty()) {
            return List.of(shape);
        }
        List<ObjectShape> results = new ArrayList<>();
        results.add(shape.withSome(List.of()));
        for (Names one : shape.some()) {
            List<ObjectShape> next = new ArrayList<>();
            for (ObjectShape known : results) {
                for (String name : shape.named().keySet()) {
                    if (one.names().contains(name)) {
                        ObjectShape declared = known.and(ObjectShape.with(name, one.value()));
                        if (declared != null) {
                            next.add(declared);
                        }
                    }
                }
                List<Names> some = new ArrayList<>(known.some());
                some.add(one);
                next.add(known.withSome(some));
            }
            GrammarSize.require(
                    next.size() <= GrammarSize.ALTERNATIVES,
                    "the number of alternatives of one object",
                    next.size(),
                    "at most " + GrammarSize.ALTERNATIVES);
            results = next;
        }
        return results;
    }

    private Expression object(String name, ObjectShape shape) {
        List<String> declared = shape.named().entrySet().stream()
                .filter(entry -> !entry.getValue().isFalse())
                .map(Map.Entry::getKey)
                .toList();
        requireWellFormed(new Texts.Finite(declared));
        boolean counted = shape.min() > Math.max(1, shape.required().size())
                || shape.max() < (shape.others().isEmpty() ? declared.size() : ObjectShape.UNBOUNDED);
        boolean ordered = !counted && !shape.required().isEmpty();
        GrammarWork.add((long) PROPERTY_STEPS * declared.size() * (ordered ? 1 : 2));
        Rest rest = rest(name, shape);
        List<Expression> alternatives = new ArrayList<>();
        if (shape.required().isEmpty() && shape.min() == 0 && shape.some().isEmpty()) {
            alternatives.add(terminal(Regex.literal("{"), space, Regex.literal("}")));
        }
        Expression body = ordered
                ? inOrder(shape, declared, rest)
                : counted(name, shape, declared, rest, counted);
        if (body != null) {
            alternatives.add(Expression.sequence(
                    terminal(Regex.literal("{"), space), body, terminal(space, Regex.literal("}"))));
        }
        return Expression.choice(alternatives);
    }

    /**
     * Undeclared properties.
     *
     * @param first one of them as an object's first property
     * @param further one after a comma
     * @param needed at least those that must be present, each after a comma; null if none must
     * @param neededFirst the same without the first comma
     */
    private record Rest(
            Expression first,
            Expression further,
            @Nullable Expression needed,
            @Nullable Expression neededFirst) {
        /** Returns the undeclared properties after others. */
        Expression after(int min, int max) {
            return needed != null ? needed : Expression.repeat(further, min, max);
        }

        /** Returns at least one undeclared property and no other. */
        Expression alone(int min, int max) {
            int left = max == Expression.Repeat.UNBOUNDED ? max : max - 1;
            return neededFirst != null
                    ? neededFirst
                    : Expression.sequence(first, Expression.repeat(further, Math.max(0, min - 1), left));
        }
    }

    private Rest rest(String name, ObjectShape shape) {
        List<Undeclared> properties = undeclared(shape, 0);
        Expression first = item(properties, false);
        Expression further = item(properties, true);
        if (shape.some().isEmpty()) {
            return new Rest(first, further, null, null);
        }
        GrammarSize.require(
                shape.some().size() <= GrammarSize.NEEDED_NAMES,
                "the number of undeclared properties that must exist by not, if or oneOf",
                shape.some().size(),
                "at most " + GrammarSize.NEEDED_NAMES);
        // Left-recursive rules: one for each set of needs that are fulfilled so far.
        int all = (1 << shape.some().size()) - 1;
        for (int known = 0; known <= all; known++) {
            List<Expression> after = new ArrayList<>();
            List<Expression> alone = new ArrayList<>();
            alone.add(item(undeclared(shape, known), false));
            if (known == 0) {
                after.add(Expression.EMPTY);
            }
            for (int before = known; before >= 0; before = before == 0 ? -1 : (before - 1) & known) {
                Expression next = item(undeclared(shape, known & ~before), true);
                after.add(Expression.sequence(Expression.reference(name + "_after_" + before), next));
                alone.add(Expression.sequence(Expression.reference(name + "_alone_" + before), next));
            }
            rules.put(name + "_after_" + known, Expression.choice(after));
            rules.put(name + "_alone_" + known, Expression.choice(alone));
        }
        return new Rest(
                first,
                further,
                Expression.reference(name + "_after_" + all),
                Expression.reference(name + "_alone_" + all));
    }

    private Expression item(List<Undeclared> properties, boolean afterComma) {
        Regex before = afterComma ? Regex.concat(space, Regex.literal(","), space) : Regex.EMPTY;
        return Expression.choice(properties.stream()
                .map(one -> Expression.sequence(terminal(before, one.name, space, Regex.literal(":"), space), one.value))
                .toList());
    }

    /**
     * Returns the undeclared properties.
     *
     * @param needs bits of those needs of the object that each fulfills
     */
    private List<Undeclared> undeclared(ObjectShape shape, int needs) {
        List<Undeclared> properties = new ArrayList<>();
        for (Names one : shape.others()) {
            Texts texts = one.names();
            All value = one.value();
            for (int i = 0; i < shape.some().size(); i++) {
                if ((needs >> i & 1) != 0) {
                    texts = texts.and(shape.some().get(i).names());
                    value = value.and(shape.some().get(i).value());
                }
            }
            List<String> excluded =
                    shape.named().keySet().stream().filter(texts::contains).toList();
            boolean exists = texts.equals(Texts.Pattern.ALL); // after exclusions too: they are finite
            texts = excluded.isEmpty() ? texts : texts.and(new Texts.Finite(excluded).not());
            if (!value.isFalse() && (exists || !texts.isEmpty())) {
                properties.add(new Undeclared(string(texts), value(value)));
            }
        }
        return properties;
    }

    private Expression property(String name, Expression value, boolean afterComma) {
        Regex key = Regex.literal(JsonText.quoted(name));
        Expression head = afterComma
                ? terminal(space, Regex.literal(","), space, key, space, Regex.literal(":"), space)
                : terminal(key, space, Regex.literal(":"), space);
        return Expression.sequence(head, value);
    }

    /** Writes declared properties around the first required one: a comma after those before it, before those after. */
    private Expression inOrder(ObjectShape shape, List<String> declared, Rest rest) {
        List<Expression> parts = new ArrayList<>();
        boolean afterRequired = false;
        for (String name : declared) {
            boolean required = shape.required().contains(name);
            Expression property = property(name, value(shape.at(name)), afterRequired);
            if (!afterRequired && !required) {
                parts.add(Expression.optional(Expression.sequence(property, comma)));
            } else {
                parts.add(required ? property : Expression.optional(property));
                afterRequired = true;
            }
        }
        parts.add(rest.after(0, Expression.Repeat.UNBOUNDED));
        return Expression.sequence(parts);
    }

    /**
     * Writes declared properties as left-recursive rules of the index and the number of properties so far, then the
     * undeclared ones.
     */
    private @Nullable Expression counted(
            String name, ObjectShape shape, List<String> declared, Rest rest, boolean isCounted) {
        boolean limited = isCounted && shape.max() != ObjectShape.UNBOUNDED;
        int cap = !isCounted ? 1 : limited ? Math.min(shape.max(), declared.size()) : Math.max(1, shape.min());
        cap = Math.max(1, Math.min(cap, Math.max(1, declared.size())));
        GrammarSize.require(
                (long) cap * declared.size() <= GrammarSize.COUNTERS,
                "the number of counting rules of an object",
                (long) cap * declared.size(),
                "at most " + GrammarSize.COUNTERS + "; lower minProperties or maxProperties");
        boolean[] known = new boolean[cap + 1];
        boolean canSkip = true;
        for (int i = 0; i < declared.size(); i++) {
            boolean required = shape.required().contains(declared.get(i));
            Expression value = value(shape.at(declared.get(i)));
            Expression first = property(declared.get(i), value, false);
            Expression further = property(declared.get(i), value, true);
            boolean[] next = new boolean[cap + 1];
            for (int count = 1; count <= cap; count++) {
                List<Expression> ways = new ArrayList<>();
                if (!required && known[count]) {
                    ways.add(Expression.reference(name + "_" + i + "_" + count));
                }
                if (known[count - 1]) {
                    ways.add(Expression.sequence(Expression.reference(name + "_" + i + "_" + (count - 1)), further));
                }
                boolean saturated = count == cap && !limited;
                if (saturated && known[count]) {
                    ways.add(Expression.sequence(Expression.reference(name + "_" + i + "_" + count), further));
                }
                if (count == 1 && canSkip && shape.max() >= 1) {
                    ways.add(first);
                }
                next[count] = !ways.isEmpty();
                if (next[count]) {
                    rules.put(name + "_" + (i + 1) + "_" + count, Expression.choice(ways));
                }
            }
            known = next;
            canSkip &= !required;
        }
        List<Expression> bodies = new ArrayList<>();
        for (int count = 1; count <= cap; count++) {
            if (known[count]) {
                Expression tail = tail(shape, rest, count);
                if (tail != null) {
                    bodies.add(Expression.sequence(
                            Expression.reference(name + "_" + declared.size() + "_" + count), tail));
                }
            }
        }
        if (canSkip && shape.max() >= 1 && !shape.others().isEmpty()) {
            int missing = requireDistinct(shape, shape.min());
            bodies.add(rest.alone(missing, shape.max()));
        }
        return bodies.isEmpty() ? null : Expression.choice(bodies);
    }

    private @Nullable Expression tail(ObjectShape shape, Rest rest, int count) {
        int missing = Math.max(0, shape.min() - count);
        if (shape.others().isEmpty()) {
            return missing > 0 || rest.needed != null ? null : Expression.EMPTY;
        }
        int left = shape.max() == ObjectShape.UNBOUNDED ? Expression.Repeat.UNBOUNDED : shape.max() - count;
        return rest.after(requireDistinct(shape, missing), left);
    }

    private int requireDistinct(ObjectShape shape, int missing) {
        if (missing > 1) {
            throw new BadInput("minProperties " + shape.min() + " at " + place
                    + " is not supported for undeclared properties: their names may repeat, so only one counts");
        }
        if (!shape.some().isEmpty() && (missing > 0 || shape.max() != ObjectShape.UNBOUNDED)) {
            throw new BadInput("minProperties and maxProperties at " + place + " are not supported together with a property that must"
                    + " exist by not, if or oneOf");
        }
        return missing;
    }
}

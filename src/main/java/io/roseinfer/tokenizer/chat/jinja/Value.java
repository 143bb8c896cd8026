package io.roseinfer.tokenizer.chat.jinja;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** A value of a template, with Python's semantics. Lengths and indexes of strings are in code points. */
sealed interface Value {
    record Text(String text) implements Value {}

    record Int(long value) implements Value {}

    /** An integer beyond 64 bits, which JSON can have: it can be written and compared, but not calculated with. */
    record LargeInt(BigInteger value) implements Value {}

    record Real(double value) implements Value {}

    record Bool(boolean value) implements Value {
        static final Bool TRUE = new Bool(true);
        static final Bool FALSE = new Bool(false);

        static Bool of(boolean value) {
            return value ? TRUE : FALSE;
        }
    }

    enum None implements Value {
        NONE
    }

    /** An undefined value. Its text is empty, and most operations on it fail. */
    record Undefined(String name) implements Value {}

    record Items(List<Value> values, Kind kind) implements Value {
        enum Kind {
            LIST,
            TUPLE,
            RANGE,
            /**
             * The result of a dict's {@code keys}, {@code values} and {@code items}: it has a length, but cannot be
             * indexed.
             */
            VIEW
        }

        static Items list(List<Value> values) {
            return new Items(values, Kind.LIST);
        }

        static Items tuple(Value... values) {
            return new Items(List.of(values), Kind.TUPLE);
        }
    }

    record Dict(Map<Value, Value> entries) implements Value {
        /** Returns the value of a string key. */
        Value get(String key) {
            return Objects.requireNonNullElseGet(entries.get(new Text(key)), () -> new Undefined(key));
        }
    }

    /**
     * The result of filters such as {@code map}: it can be iterated once, is always true, and has neither length nor
     * indexes.
     */
    record Generator(Iterator<Value> values) implements Value {}

    /** The result of {@code namespace}, the only mutable value. */
    record Namespace(Map<String, Value> fields) implements Value {
        Namespace() {
            this(new LinkedHashMap<>());
        }
    }

    record Function(String name, Body body) implements Value {
        /** The implementation of a function. */
        interface Body {
            Value call(Given arguments);
        }
    }

    /** The variable {@code loop} within a loop, with its progress. */
    final class Loop implements Value {
        private final List<Value> items;
        private int index;
        private Optional<List<Value>> seen = Optional.empty();

        Loop(List<Value> items) {
            this.items = items;
        }

        void moveTo(int newIndex) {
            index = newIndex;
        }

        Value attribute(String name) {
            int length = items.size();
            return switch (name) {
                case "index" -> new Int(index + 1L);
                case "index0" -> new Int(index);
                case "revindex" -> new Int((long) length - index);
                case "revindex0" -> new Int(length - index - 1L);
                case "first" -> Bool.of(index == 0);
                case "last" -> Bool.of(index == length - 1);
                case "length" -> new Int(length);
                // Only recursive loops are deeper, and they are not supported.
                case "depth" -> new Int(1);
                case "depth0" -> new Int(0);
                case "previtem" -> index > 0 ? items.get(index - 1) : new Undefined("loop.previtem of the first item");
                case "nextitem" ->
                    index + 1 < length ? items.get(index + 1) : new Undefined("loop.nextitem of the last item");
                case "cycle" -> new Function(name, this::cycle);
                case "changed" -> new Function(name, this::changed);
                default -> new Undefined("loop." + name);
            };
        }

        private Value cycle(Given arguments) {
            List<Value> values = arguments.positional();
            if (values.isEmpty()) {
                throw new TemplateError("loop.cycle needs items to cycle through");
            }
            return values.get(index % values.size());
        }

        private Value changed(Given arguments) {
            List<Value> now = arguments.positional();
            boolean same = seen.isPresent() && Operators.equal(Items.list(seen.get()), Items.list(now));
            seen = Optional.of(now);
            return Bool.of(!same);
        }
    }

    /** The evaluated arguments of a call, a filter or a test. */
    record Given(String callee, List<Value> positional, Map<String, Value> named) {

        /** Returns the values by the callee's parameters, in order; throws for too many or unknown arguments. */
        List<Optional<Value>> bind(String... parameters) {
            if (positional.size() > parameters.length) {
                throw new TemplateError(
                        callee + " takes at most " + parameters.length + " arguments, not " + positional.size());
            }
            List<Optional<Value>> bound = new ArrayList<>();
            for (int i = 0; i < parameters.length; i++) {
                Optional<Value> byName = Optional.ofNullable(named.get(parameters[i]));
                if (i < positional.size() && byName.isPresent()) {
                    throw new TemplateError(callee + " has the argument " + parameters[i] + " twice");
                }
                bound.add(i < positional.size() ? Optional.of(positional.get(i)) : byName);
            }
            for (String name : named.keySet()) {
                if (!Arrays.asList(parameters).contains(name)) {
                    throw new TemplateError(callee + " has no parameter \"" + name + '"');
                }
            }
            return bound;
        }

        /** Returns the only argument, which is required. */
        Value one(String parameter) {
            return required(bind(parameter), 0, parameter);
        }

        Value required(List<Optional<Value>> bound, int index, String parameter) {
            return bound.get(index).orElseThrow(() -> new TemplateError(callee + " needs " + parameter));
        }

        /** Throws if there are arguments. */
        void none() {
            List<Optional<Value>> unused = bind();
        }
    }
}

package io.roseinfer.tokenizer.chat.jinja;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** Names and their values in a template, a loop or a macro. Assignments do not affect the enclosing scope. */
final class Scope {
    private final Optional<Scope> around;
    private final Map<String, Value> values = new HashMap<>();

    Scope(Optional<Scope> around) {
        this.around = around;
    }

    Scope inner() {
        return new Scope(Optional.of(this));
    }

    void set(String name, Value value) {
        values.put(name, value);
    }

    Value get(String name) {
        Scope scope = this;
        while (true) {
            Value value = scope.values.get(name);
            if (value != null) {
                return value;
            }
            if (scope.around.isEmpty()) {
                return new Value.Undefined(name);
            }
            scope = scope.around.get();
        }
    }
}

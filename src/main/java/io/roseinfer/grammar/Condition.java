package io.roseinfer.grammar;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** A condition on a JSON value. Immutable. The methods that records have are slow until they are compiled. */
sealed interface Condition {
    /** The value is valid against a schema of the document. */
    record Schema(SchemaSource source) implements Condition {
        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Schema schema && source == schema.source;
        }

        @Override
        public int hashCode() {
            return source.hashCode();
        }
    }

    /** The value is equal to a constant; numbers by value. */
    record Constant(JsonNode value) implements Condition {}

    /** The value does not fulfil all of some conditions. */
    record Not(All operand) implements Condition {}

    /**
     * Conditions that a value fulfils together.
     *
     * @param conditions distinct, in the order in which their properties are written
     */
    record All(List<Condition> conditions) {
        /** Every value. */
        static final All TRUE = new All(List.of());

        /** No value. */
        static final All FALSE = new All(List.of(new Not(TRUE)));

        static All of(Condition condition) {
            if (condition instanceof Not(All operand)) {
                return not(operand);
            }
            if (condition instanceof Schema(SchemaSource source)) {
                if (source.isTrue()) {
                    return TRUE;
                }
                if (source.isFalse()) {
                    return FALSE;
                }
            }
            return new All(List.of(condition));
        }

        static All not(All operand) {
            if (operand.isTrue()) {
                return FALSE;
            }
            if (operand.conditions.size() == 1 && operand.conditions.getFirst() instanceof Not(All inner)) {
                return inner;
            }
            return new All(List.of(new Not(operand)));
        }

        All and(All other) {
            if (isTrue() || other.isFalse() || equals(other)) {
                return other;
            }
            if (other.isTrue() || isFalse()) {
                return this;
            }
            if (conditions.size() == 1 && other.conditions.size() == 1) {
                return new All(List.of(conditions.getFirst(), other.conditions.getFirst()));
            }
            GrammarWork.add((conditions.size() + other.conditions.size()) / 2);
            Set<Condition> distinct = new LinkedHashSet<>(conditions);
            distinct.addAll(other.conditions);
            return new All(new ArrayList<>(distinct));
        }

        /** Returns the places of the schemas, for messages. */
        String place() {
            List<String> places = conditions.stream()
                    .filter(Schema.class::isInstance)
                    .map(one -> ((Schema) one).source().toString())
                    .toList();
            return places.isEmpty() ? "the root" : String.join(" and ", places);
        }

        boolean isTrue() {
            return conditions.isEmpty();
        }

        boolean isFalse() {
            return equals(FALSE);
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof All all && conditions.equals(all.conditions);
        }

        @Override
        public int hashCode() {
            return conditions.hashCode();
        }
    }
}

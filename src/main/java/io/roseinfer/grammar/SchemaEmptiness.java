package io.roseinfer.grammar;

import io.roseinfer.grammar.Condition.All;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether sets of values are empty. It errs on one side: an empty set may be reported as not empty, for example
 * if that takes too long to decide. Used by one thread.
 */
final class SchemaEmptiness {
    /** Maximum sets looked at for one decision. */
    private static final int MAX_STEPS = 2_000;

    /** Maximum sets looked at for all decisions. */
    private static final int MAX_TOTAL_STEPS = 200_000;

    private final SchemaReader reader;
    private final Set<All> inhabited = new HashSet<>();
    private final Set<All> uninhabited = new HashSet<>();
    private Set<All> open = new HashSet<>();
    private int steps;
    private int totalSteps;

    SchemaEmptiness(SchemaReader reader) {
        this.reader = reader;
    }

    /** Returns whether no value is in both sets. */
    boolean areDisjoint(ValueShape left, ValueShape right) {
        return decide(() -> haveNothingCommon(left, right));
    }

    /** Returns whether the set is certainly empty. */
    boolean isCertainlyEmpty(ObjectShape shape) {
        return decide(() -> isEmpty(shape));
    }

    /** Decides without the assumptions of an outer decision, which may need this one. */
    private boolean decide(BooleanSupplier question) {
        Set<All> outer = open;
        open = new HashSet<>();
        steps = outer.isEmpty() ? 0 : steps;
        try {
            return question.getAsBoolean();
        } finally {
            open = outer;
        }
    }

    /** Returns a property or element that a value must have and that can have no value, if there is one. */
    @Nullable
    All emptyPart(All all) {
        ValueShape shape = reader.shape(all);
        for (ObjectShape object : shape.objects()) {
            for (String name : object.required()) {
                if (decide(() -> isEmpty(object.at(name))) && !object.at(name).isFalse()) {
                    return object.at(name);
                }
            }
        }
        for (ArrayShape array : shape.arrays()) {
            for (int i = 0; i < Math.min(array.min(), array.prefix().size() + 1); i++) {
                All element = array.at(i);
                if (decide(() -> isEmpty(element)) && !element.isFalse()) {
                    return element;
                }
            }
        }
        return null;
    }

    private boolean haveNothingCommon(ValueShape left, ValueShape right) {
        if ((left.nulls() && right.nulls())
                || (left.booleans() & right.booleans()) != 0
                || !left.numbers().and(right.numbers()).isEmpty()
                || !left.strings().and(right.strings()).isEmpty()) {
            return false;
        }
        for (ArrayShape one : left.arrays()) {
            for (ArrayShape two : right.arrays()) {
                ArrayShape both = one.and(two);
                if (both != null && !isEmpty(both)) {
                    return false;
                }
            }
        }
        for (ObjectShape one : left.objects()) {
            for (ObjectShape two : right.objects()) {
                if (!areDisjoint(one, two)) {
                    return false;
                }
            }
        }
        return true;
    }

    private boolean areDisjoint(ObjectShape left, ObjectShape right) {
        for (String name : left.required()) {
            if (isEmpty(left.at(name).and(right.at(name)))) {
                return true;
            }
        }
        for (String name : right.required()) {
            if (isEmpty(left.at(name).and(right.at(name)))) {
                return true;
            }
        }
        ObjectShape both = left.and(right);
        return both == null || isEmpty(both);
    }

    private boolean isEmpty(All all) {
        if (all.isTrue() || inhabited.contains(all)) {
            return false;
        }
        if (all.isFalse() || uninhabited.contains(all)) {
            return true;
        }
        if (++steps > MAX_STEPS || ++totalSteps > MAX_TOTAL_STEPS) {
            return false;
        }
        if (!open.add(all)) {
            return true; // A value that contains itself is infinite.
        }
        try {
            ValueShape shape = reader.shape(all);
            boolean empty = isEmpty(shape);
            if (!empty) {
                inhabited.add(all);
            } else if (shape.isScalar()) {
                uninhabited.add(all); // It does not rest on an assumption about an open set.
            }
            return empty;
        } finally {
            open.remove(all);
        }
    }

    private boolean isEmpty(ValueShape shape) {
        return !shape.hasScalar()
                && shape.arrays().stream().allMatch(this::isEmpty)
                && shape.objects().stream().allMatch(this::isEmpty);
    }

    private boolean isEmpty(ArrayShape shape) {
        int checked = Math.min(shape.min(), shape.prefix().size() + 1);
        for (int i = 0; i < checked; i++) {
            if (isEmpty(shape.at(i))) {
                return true;
            }
        }
        return shape.contains().stream().anyMatch(one -> one.min() > 0 && !canContain(shape, one));
    }

    private boolean canContain(ArrayShape shape, ArrayShape.Contains one) {
        int last = Math.min(shape.max() - 1, Math.max(one.from(), shape.prefix().size()));
        for (int i = one.from(); i <= last; i++) {
            if (!isEmpty(shape.at(i).and(one.value()))) {
                return true;
            }
        }
        return false;
    }

    private boolean isEmpty(ObjectShape shape) {
        for (String name : shape.required()) {
            if (isEmpty(shape.at(name))) {
                return true;
            }
        }
        for (ObjectShape.Names one : shape.some()) {
            if (!canHave(shape, one)) {
                return true;
            }
        }
        if (shape.min() <= shape.required().size() || !shape.others().isEmpty()) {
            return false;
        }
        long possible = shape.named().entrySet().stream()
                .filter(entry -> shape.required().contains(entry.getKey()) || !isEmpty(entry.getValue()))
                .count();
        return possible < shape.min();
    }

    private boolean canHave(ObjectShape shape, ObjectShape.Names one) {
        for (Map.Entry<String, All> property : shape.named().entrySet()) {
            if (one.names().contains(property.getKey())
                    && !isEmpty(property.getValue().and(one.value()))) {
                return true;
            }
        }
        Texts declared = new Texts.Finite(List.copyOf(shape.named().keySet()));
        for (ObjectShape.Names other : shape.others()) {
            if (!one.names().and(other.names()).and(declared.not()).isEmpty()
                    && !isEmpty(other.value().and(one.value()))) {
                return true;
            }
        }
        return false;
    }
}

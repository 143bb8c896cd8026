package io.roseinfer.tokenizer;

import io.roseinfer.base.WorkCounter;
import java.util.List;

/**
 * The {@code normalizer} of {@code tokenizer.json}, which changes text before it is split into words.
 *
 * @param steps in order; none leaves the text unchanged
 */
record Normalizer(List<Step> steps) {
    static final Normalizer NONE = new Normalizer(List.of());

    Normalizer {
        steps = List.copyOf(steps);
    }

    /** A change to a text. */
    sealed interface Step {
        String apply(String text, WorkCounter work);
    }

    /** Unicode's Normalization Form C. */
    record Nfc() implements Step {
        @Override
        public String apply(String text, WorkCounter work) {
            return NormalizationFormC.of(text, work);
        }
    }

    /** Prepends a prefix to a text that is not empty. */
    record Prepend(String prefix) implements Step {
        @Override
        public String apply(String text, WorkCounter work) {
            return text.isEmpty() ? text : prefix + text;
        }
    }

    /** Replaces every occurrence of a string. */
    record Replace(String from, String to) implements Step {
        @Override
        public String apply(String text, WorkCounter work) {
            work.add(text.length());
            return apply(text);
        }

        String apply(String text) {
            return text.replace(from, to);
        }

        /** Reads a {@code Replace}, which has the same format in normalizers and decoders. */
        static Replace read(JsonView step) {
            JsonView pattern = step.field("pattern").object().field("String");
            if (pattern.isAbsent()) {
                throw step.field("pattern").refused("is not a String; only a String is supported, not a Regex");
            }
            if (pattern.text().isEmpty()) {
                throw pattern.refused("is empty; it must be the text to replace");
            }
            return new Replace(pattern.text(), step.field("content").text());
        }
    }

    /** Reads the component; a missing one is {@link #NONE}. */
    static Normalizer read(JsonView normalizer) {
        List<Step> steps = normalizer.steps("normalizers").map(Normalizer::step).toList();
        return steps.isEmpty() ? NONE : new Normalizer(steps);
    }

    private static Step step(JsonView step) {
        return switch (step.type()) {
            case "NFC" -> new Nfc();
            case "Prepend" -> new Prepend(step.field("prepend").text());
            case "Replace" -> Replace.read(step);
            default -> throw step.unsupported("normalizer", "NFC, Prepend, Replace and a Sequence of them");
        };
    }

    boolean isNone() {
        return steps.isEmpty();
    }

    String apply(String text, WorkCounter work) {
        String normalized = text;
        for (Step step : steps) {
            normalized = step.apply(normalized, work);
        }
        return normalized;
    }

    /**
     * Returns whether normalized text never contains a string: the last step that could add it precedes one that
     * replaces it.
     */
    boolean removes(String string) {
        boolean removed = false;
        for (Step step : steps) {
            removed = switch (step) {
                case Nfc nfc -> removed;
                case Prepend prepend -> removed && !prepend.prefix.contains(string);
                case Replace replace -> (removed || replace.from.equals(string)) && !replace.to.contains(string);
            };
        }
        return removed;
    }
}

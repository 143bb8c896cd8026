package io.roseinfer.engine;

import io.roseinfer.base.Limits;
import io.roseinfer.base.RoseException.BadInput;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The prompt of a completion: text, or token ids that need no tokenizer. */
public sealed interface Prompt {

    /** Text, encoded by the model's tokenizer, which may add special tokens such as a beginning-of-text token. */
    record Text(String text) implements Prompt {
        public Text {
            if (Objects.requireNonNull(text, "text").isEmpty()) {
                throw new BadInput("the prompt is empty; a completion needs at least one token to continue");
            }
            if (text.length() > Limits.PROMPT_CHARS) {
                throw new BadInput("the prompt has " + text.length() + " characters; at most " + Limits.PROMPT_CHARS
                        + " are allowed");
            }
        }
    }

    /** Token ids; checked against the vocabulary when submitted. */
    record Tokens(int... ids) implements Prompt {
        public Tokens {
            if (Objects.requireNonNull(ids, "ids").length == 0) {
                throw new BadInput("the prompt has no token ids; a completion needs at least one token to continue");
            }
            ids = ids.clone();
        }

        /** Returns the number of ids. */
        public int size() {
            return ids.length;
        }

        /** Returns the ids without copying; they must not be modified. */
        int[] own() {
            return ids;
        }

        /** Returns a copy of the ids. */
        @Override
        public int[] ids() {
            return ids.clone();
        }

        /** Returns whether {@code other} has equal ids. */
        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Tokens tokens && Arrays.equals(ids, tokens.ids);
        }

        @Override
        public int hashCode() {
            return Arrays.hashCode(ids);
        }

        @Override
        public String toString() {
            return "Tokens[ids=" + Arrays.toString(ids) + "]";
        }
    }
}

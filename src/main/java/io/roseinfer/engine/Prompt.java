package io.roseinfer.engine;

import io.roseinfer.base.Limits;
import io.roseinfer.base.RoseException.BadInput;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The prompt that a completion continues: text, or token ids that need no tokenizer. */
public sealed interface Prompt {

    /** Text, tokenized by the model's own tokenizer, which may put special tokens around it such as a beginning of text. */
    record Text(String text) implements Prompt {
        public Text {
            if (Objects.requireNonNull(text, "text").isEmpty()) {
                throw new BadInput("the prompt is empty; a completion needs at least one token to continue");
            }
            if (text.length() > Limits.PROMPT_CHARS) {
                throw new BadInput("the prompt has " + text.length() + " characters; at most " + Limits.PROMPT_CHARS
                        + " are read");
            }
        }
    }

    /** Token ids as they are; range-checked against the vocabulary when submitted. */
    record Tokens(int... ids) implements Prompt {
        public Tokens {
            if (Objects.requireNonNull(ids, "ids").length == 0) {
                throw new BadInput("the prompt has no token ids; a completion needs at least one token to continue");
            }
            ids = ids.clone();
        }

        /** The ids themselves, which nobody changes. */
        int[] own() {
            return ids;
        }

        /** The ids, as a copy. */
        @Override
        public int[] ids() {
            return ids.clone();
        }

        /** Whether the ids are the same. */
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

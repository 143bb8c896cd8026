package io.roseinfer.bench.load;

import io.roseinfer.engine.Prompt;

/** A prompt that is made when it is read, so that a load of many long prompts takes no memory. Immutable. */
public interface PromptSource {
    /** Returns the prompt, an equal one at each call. */
    Prompt prompt();

    /** Returns the number of its tokens; -1 for text, which is not tokenized here. */
    int tokens();

    /** Returns the source of a prompt that is kept. */
    static PromptSource of(Prompt prompt) {
        return new Kept(prompt);
    }

    /** A kept prompt. */
    record Kept(Prompt prompt) implements PromptSource {
        @Override
        public int tokens() {
            return switch (prompt) {
                case Prompt.Tokens tokens -> tokens.size();
                case Prompt.Text text -> -1;
            };
        }
    }
}

package io.roseinfer.cli;

import io.roseinfer.LoadedModel;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.tokenizer.Tokenizer;

/** The tokenizer for prompts of text. */
final class TextPrompts {
    private TextPrompts() {}

    /**
     * The model's tokenizer.
     *
     * @throws BadInput if there is none, naming the flag that does without
     */
    static Tokenizer tokenizer(LoadedModel loaded) {
        return loaded.tokenizer()
                .orElseThrow(() -> new BadInput("--model " + loaded.spec().name()
                        + " has no tokenizer, so --prompt cannot be read; give --prompt-ids, or add a readable"
                        + " tokenizer.json next to its weights"));
    }
}

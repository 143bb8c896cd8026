package io.roseinfer.cli;

import io.roseinfer.LoadedModel;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.tokenizer.Tokenizer;
import io.roseinfer.tokenizer.Tokenizers;

/** Access to the tokenizer for text prompts. */
final class TextPrompts {
    private TextPrompts() {}

    /**
     * Returns the model's tokenizer.
     *
     * @throws BadInput if there is none
     */
    static Tokenizer tokenizer(LoadedModel loaded) {
        return loaded.tokenizer()
                .orElseThrow(() -> new BadInput("--model " + loaded.spec().name()
                        + " has no tokenizer, so --prompt cannot be read; " + Tokenizers.ADD_FILES
                        + ", or give --prompt-ids"));
    }
}

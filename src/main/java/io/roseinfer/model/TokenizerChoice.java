package io.roseinfer.model;

import io.roseinfer.tokenizer.Tokenizer;
import io.roseinfer.tokenizer.Tokenizers;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The tokenizer a model directory gets: its own; or GPT-2's where there is no sign of another and the vocabulary has its size; or
 * none, so that no prompt is read with a vocabulary the model was not trained on.
 *
 * @param warnings what a person should hear about the choice; usually nothing
 */
record TokenizerChoice(Optional<Tokenizer> tokenizer, List<String> warnings) {
    private static final int GPT2_VOCABULARY = 50257;

    /** Trainers round the vocabulary up to a multiple of a power of two; this is the largest usual one. */
    private static final int LARGEST_PADDING = 128;

    TokenizerChoice {
        warnings = List.copyOf(warnings);
    }

    static TokenizerChoice ofDirectory(Path directory, int vocabularySize) {
        Optional<Tokenizer> own = Tokenizers.fromDirectory(directory);
        if (own.isPresent()) {
            List<String> warnings = new ArrayList<>(own.get().warnings());
            own.get().misfit(vocabularySize).ifPresent(warnings::add);
            return new TokenizerChoice(own, warnings);
        }
        List<String> others = Tokenizers.unreadFiles(directory);
        if (!others.isEmpty()) {
            return new TokenizerChoice(
                    Optional.empty(),
                    List.of(directory + ": has " + String.join(", ", others)
                            + ", but neither tokenizer.json nor vocab.json with merges.txt, which alone can be read;"
                            + " the model has no tokenizer and takes token ids only"));
        }
        Optional<Tokenizer> gpt2 = gpt2For(vocabularySize);
        String note =
                directory + ": has no tokenizer files; using GPT-2's vocabulary, since vocab_size is " + vocabularySize;
        return new TokenizerChoice(gpt2, gpt2.isPresent() ? List.of(note) : List.of());
    }

    /** GPT-2's tokenizer if a vocabulary has its size, exactly or padded. */
    static Optional<Tokenizer> gpt2For(int vocabularySize) {
        boolean fits = vocabularySize == GPT2_VOCABULARY;
        for (int multiple = 8; multiple <= LARGEST_PADDING; multiple *= 2) {
            fits |= vocabularySize == Math.ceilDiv(GPT2_VOCABULARY, multiple) * multiple;
        }
        return fits ? Optional.of(Tokenizers.gpt2()) : Optional.empty();
    }
}

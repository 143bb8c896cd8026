package io.roseinfer.model.family;

import io.roseinfer.tokenizer.Tokenizer;
import io.roseinfer.tokenizer.Tokenizers;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The tokenizer a model directory gets: its own; or the family's built-in one where there is no sign of another and the vocabulary
 * has its size; or none, so that no prompt is read with a vocabulary the model was not trained on.
 *
 * @param warnings what a person should hear about the choice; usually nothing
 */
record TokenizerChoice(Optional<Tokenizer> tokenizer, List<String> warnings) {
    TokenizerChoice {
        warnings = List.copyOf(warnings);
    }

    static TokenizerChoice ofDirectory(Family family, Path directory, int vocabularySize) {
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
        Optional<Tokenizer> builtin = family.builtinVocabulary(vocabularySize);
        return new TokenizerChoice(
                builtin,
                builtin.stream()
                        .map(tokenizer -> directory + ": has no tokenizer files; using " + tokenizer.description()
                                + ", since vocab_size is " + vocabularySize)
                        .toList());
    }
}

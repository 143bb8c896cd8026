package io.roseinfer.model.files;

import io.roseinfer.base.Remedy;
import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.model.family.Family;
import io.roseinfer.tokenizer.Tokenizer;
import io.roseinfer.tokenizer.Tokenizers;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * The tokenizer a model directory gets: its own; or the family's built-in one where there is no sign of another and the vocabulary
 * has its size; or none, so that no prompt is read with a vocabulary or in a way the model was not trained on.
 *
 * @param warnings what to report about the choice; usually nothing
 * @param refused whether there is a tokenizer that cannot be read, with the reason as the first warning
 */
record TokenizerChoice(Optional<Tokenizer> tokenizer, List<String> warnings, boolean refused) {
    TokenizerChoice {
        warnings = List.copyOf(warnings);
    }

    /**
     * Chooses for a directory, whose tokenizer must be readable if there is one.
     *
     * @throws BadModel with the reason if it is refused
     */
    static TokenizerChoice required(Family family, Path directory, int vocabularySize) {
        return ofDirectory(family, directory, vocabularySize, damaged -> true).orThrow();
    }

    /** Returns this choice unless a tokenizer was refused. */
    TokenizerChoice orThrow() {
        if (refused) {
            throw new BadModel(
                    warnings.getFirst(),
                    Remedy.of(
                            "give it token ids (%s, or Settings.withTokenIdsOnly); the page models.md lists the tokenizers"
                                    + " that can be read",
                            "prompt_ids"));
        }
        return this;
    }

    /**
     * Chooses for a directory. A tokenizer that is there and refused is none, with the reason as the warning: the model still takes token
     * ids.
     *
     * @param isIntact whether the directory's files are what they should be; a refusal over one that is not goes to the caller
     */
    static TokenizerChoice ofDirectory(Family family, Path directory, int vocabularySize, Predicate<Path> isIntact) {
        Optional<Tokenizer> own;
        try {
            own = Tokenizers.fromDirectory(directory, family.ownsTokenizerClass());
        } catch (BadModel refusal) {
            if (!isIntact.test(directory)) {
                throw refusal;
            }
            return new TokenizerChoice(
                    Optional.empty(),
                    List.of(refusal.getMessage() + "; the model has no tokenizer and takes token ids only"),
                    true);
        }
        if (own.isPresent()) {
            List<String> warnings = new ArrayList<>(own.get().warnings());
            own.get().misfit(vocabularySize).ifPresent(warnings::add);
            return new TokenizerChoice(own, warnings, false);
        }
        List<String> others = Tokenizers.unreadFiles(directory);
        if (!others.isEmpty()) {
            return new TokenizerChoice(
                    Optional.empty(),
                    List.of(directory + ": has " + String.join(", ", others)
                            + ", but neither tokenizer.json nor vocab.json with merges.txt, which alone can be read;"
                            + " the model has no tokenizer and takes token ids only"),
                    true);
        }
        Optional<Tokenizer> builtin = family.builtinVocabulary(vocabularySize);
        return new TokenizerChoice(
                builtin,
                builtin.stream()
                        .map(tokenizer -> directory + ": has no tokenizer files; using " + tokenizer.description()
                                + ", since vocab_size is " + vocabularySize)
                        .toList(),
                false);
    }
}

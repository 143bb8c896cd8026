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
 * The tokenizer for a model directory: the directory's own; or the family's built-in one if there is no other and the
 * vocabulary has its size; or none. So no prompt is encoded in a way the model was not trained on.
 *
 * @param warnings what to report about the choice; usually nothing
 * @param refused whether there is a tokenizer that cannot be read, with the reason as the first warning
 */
record TokenizerChoice(Optional<Tokenizer> tokenizer, List<String> warnings, boolean refused) {
    TokenizerChoice {
        warnings = List.copyOf(warnings);
    }

    /**
     * Chooses for a directory whose tokenizer, if any, must be readable.
     *
     * @throws BadModel with the reason if it cannot be read
     */
    static TokenizerChoice required(Family family, Path directory, int vocabularySize) {
        return ofDirectory(family, directory, vocabularySize, damaged -> true).orThrow();
    }

    /** Returns this choice, or throws if a tokenizer was rejected. */
    TokenizerChoice orThrow() {
        if (refused) {
            throw new BadModel(
                    warnings.getFirst(),
                    Remedy.of(
                            "give it token ids (%s, or Settings.withTokenIdsOnly); the page models.md lists the tokenizers"
                                    + " that are supported",
                            "prompt_ids"));
        }
        return this;
    }

    /**
     * Chooses for a directory. An unreadable tokenizer is replaced by none, with the reason as a warning: the model
     * still takes token ids.
     *
     * @param isIntact returns whether the directory's files are undamaged; a rejection of damaged files is thrown
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
                            + ", but only tokenizer.json, or vocab.json with merges.txt, is supported;"
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

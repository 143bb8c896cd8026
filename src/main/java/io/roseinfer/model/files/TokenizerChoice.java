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
 * @param refusal the failure if there is a tokenizer that cannot be read; the reason is also the first warning
 */
record TokenizerChoice(Optional<Tokenizer> tokenizer, List<String> warnings, Optional<BadModel> refusal) {
    private static final String NO_TOKENIZER = "; the model has no tokenizer and takes token ids only";

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
        if (refusal.isPresent()) {
            throw refusal.get();
        }
        return this;
    }

    private static TokenizerChoice refused(String reason) {
        String warning = reason + NO_TOKENIZER;
        BadModel unsupported = new BadModel(
                warning,
                Remedy.of(
                        "give it token ids (%s, or Settings.withTokenIdsOnly); the page models.md lists the tokenizers"
                                + " that are supported",
                        "prompt_ids"));
        return new TokenizerChoice(Optional.empty(), List.of(warning), Optional.of(unsupported));
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
            TokenizerChoice unsupported = refused(refusal.getMessage());
            boolean isDamaged = refusal.getCause() != null;
            return isDamaged
                    ? new TokenizerChoice(Optional.empty(), unsupported.warnings(), Optional.of(refusal))
                    : unsupported;
        }
        if (own.isPresent()) {
            List<String> warnings = new ArrayList<>(own.get().warnings());
            own.get().misfit(vocabularySize).ifPresent(warnings::add);
            return new TokenizerChoice(own, warnings, Optional.empty());
        }
        List<String> others = Tokenizers.unreadFiles(directory);
        if (!others.isEmpty()) {
            return refused(directory + ": has " + String.join(", ", others)
                    + ", but only tokenizer.json, or vocab.json with merges.txt, is supported");
        }
        Optional<Tokenizer> builtin = family.builtinVocabulary(vocabularySize);
        return new TokenizerChoice(
                builtin,
                builtin.stream()
                        .map(tokenizer -> directory + ": has no tokenizer files; using " + tokenizer.description()
                                + ", since vocab_size is " + vocabularySize)
                        .toList(),
                Optional.empty());
    }
}

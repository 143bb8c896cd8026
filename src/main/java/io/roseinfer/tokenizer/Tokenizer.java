package io.roseinfer.tokenizer;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Converts text to token ids and back. Immutable and thread-safe; {@link Tokenizers} creates tokenizers.
 *
 * <p>Encoding takes O(n log n). It checks the thread's interrupt status every few thousand steps: an interrupt ends it
 * with a {@link java.util.concurrent.CancellationException} and remains set. A short text may be encoded before the
 * check.
 */
public interface Tokenizer {

    /**
     * Returns the ids of a text, like Hugging Face {@code tokenizers} without a post-processor. Added tokens in the
     * text, including special ones, become their ids, as in {@code tokenizer(text, add_special_tokens=False)}. For
     * untrusted text use {@link #encodeOrdinary}.
     *
     * @throws io.roseinfer.base.RoseException.BadInput if the text has an unpaired surrogate or is longer than
     *     {@link io.roseinfer.base.Limits#PROMPT_CHARS}
     * @throws java.util.concurrent.CancellationException if the thread is interrupted; the interrupt status remains set
     */
    int[] encode(String text);

    /**
     * Encodes like {@link #encode}, and adds the special tokens of the post-processor, such as a beginning of text, as
     * in {@code tokenizer(text)}. Models expect them in a text prompt; a chat template writes them itself.
     */
    default int[] encodePrompt(String text) {
        return encode(text);
    }

    /**
     * Encodes like {@link #encode}, but special tokens in the text are ordinary text, as with
     * {@code split_special_tokens=True} in transformers. Added tokens that are not special still become their ids.
     */
    int[] encodeOrdinary(String text);

    /** Returns the vocabulary. */
    Vocabulary vocabulary();

    /** Returns the tokens matched before the text is split into words, ordered by id. */
    List<AddedToken> addedTokens();

    /**
     * Returns the text of special tokens by role, such as {@code bos_token}, for chat templates. A role that the files
     * do not set has the default of the tokenizer's class in transformers, if there is one.
     */
    Map<String, String> specialTokens();

    /**
     * Returns the id of the end-of-text token, if the vocabulary has one; it is {@code <|endoftext|>} unless the files
     * name another.
     */
    OptionalInt endOfText();

    /** Returns warnings about the tokenizer's files, which were suspicious but valid; one line each, usually none. */
    List<String> warnings();

    /** Returns the tokenizer's name for messages: a path, or {@code the built-in GPT-2 vocabulary}. */
    String description();

    /** Returns one more than the largest id, including unused ids. */
    default int vocabularySize() {
        return vocabulary().size();
    }

    /** Returns a copy of the id's bytes, which may be part of a character; empty for an id without a token. */
    default byte[] bytes(int id) {
        return vocabulary().bytes(id);
    }

    /**
     * Returns the text of the ids, including special tokens. Bytes that are not UTF-8 become U+FFFD; an id without a
     * token is ignored. {@code decode(encode(text))} is {@code text}, unless an added token consumed adjacent spaces,
     * the text was normalized, or the vocabulary lacks one of its characters.
     */
    default String decode(int[] ids) {
        Detokenizer detokenizer = detokenizer(false);
        StringBuilder text = new StringBuilder();
        for (int id : ids) {
            detokenizer.push(id, text);
        }
        detokenizer.flush(text);
        return text.toString();
    }

    /** Returns a detokenizer for a new stream of ids. */
    default Detokenizer detokenizer(boolean skipSpecialTokens) {
        return new Detokenizer(vocabulary(), skipSpecialTokens);
    }

    /**
     * Returns a detokenizer for ids that follow others, such as a completion after its prompt: it keeps a leading
     * space.
     */
    default Detokenizer continuation(boolean skipSpecialTokens) {
        return new Detokenizer(vocabulary(), skipSpecialTokens, true);
    }

    /**
     * Returns a warning if the model's vocabulary size differs from this tokenizer's. That is not an error:
     * vocabularies are padded, and a token may have been added without resizing the model.
     */
    default Optional<String> misfit(int modelVocabularySize) {
        String sizes = description() + ": the largest token id is " + (vocabularySize() - 1)
                + ", but the model's vocab_size is " + modelVocabularySize + " (ids 0.." + (modelVocabularySize - 1)
                + "); ";
        if (vocabularySize() > modelVocabularySize) {
            return Optional.of(sizes + "a prompt with a larger id is rejected");
        }
        return vocabularySize() < modelVocabularySize
                ? Optional.of(sizes + "the model may generate ids without a token, which have no text")
                : Optional.empty();
    }
}

package io.roseinfer.tokenizer;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Text to token ids and back. Immutable and safe for any number of threads at once; {@link Tokenizers} makes them.
 *
 * <p>Encoding checks its thread's interrupt status every few thousand steps. An interrupt ends it with a {@link
 * java.util.concurrent.CancellationException} and remains set; a short text may be encoded first. Time is O(n log n) in the text.
 */
public interface Tokenizer {

    /**
     * The ids of a text, as Hugging Face {@code tokenizers} gives them without a post-processor: added tokens that stand in
     * the text, special ones too, become their ids, as in {@code tokenizer(text, add_special_tokens=False)}. For text that is
     * not trusted to hold special tokens use {@link #encodeOrdinary}.
     *
     * @throws io.roseinfer.base.RoseException.BadInput if the text holds an unpaired surrogate or is longer than {@link
     *     io.roseinfer.base.Limits#PROMPT_CHARS}
     * @throws java.util.concurrent.CancellationException if the thread is interrupted; the interrupt status remains set
     */
    int[] encode(String text);

    /**
     * As {@link #encode}, with the special tokens that the files put around a text, such as one for its beginning, as {@code
     * tokenizer(text)}: what a model expects of a prompt that is all of its text. A chat template writes those tokens itself.
     */
    default int[] encodePrompt(String text) {
        return encode(text);
    }

    /**
     * As {@link #encode}, but a special token in the text is text like any other, as with {@code split_special_tokens=True} in
     * transformers. Added tokens that are not special remain vocabulary and become their ids.
     */
    int[] encodeOrdinary(String text);

    /** The bytes that each id stands for. */
    Vocabulary vocabulary();

    /** The tokens that are looked for in the text before it is cut into words, in the order of their ids. */
    List<AddedToken> addedTokens();

    /**
     * Returns the text of special tokens by role, such as {@code bos_token}, which a chat template can name. A role without a token in the
     * files has the default of the tokenizer's class in transformers, if there is one.
     */
    Map<String, String> specialTokens();

    /** The id that ends a text, {@code <|endoftext|>} unless the files name another, if the vocabulary has one. */
    OptionalInt endOfText();

    /** Warnings about the files this tokenizer came from, which were odd but not wrong; one line each, usually none. */
    List<String> warnings();

    /** Name of this tokenizer in messages: a path, or {@code the built-in GPT-2 vocabulary}. */
    String description();

    /** One more than the largest id, holes included. */
    default int vocabularySize() {
        return vocabulary().size();
    }

    /** A copy of the id's bytes, which need not be whole characters; empty for an id without a token. */
    default byte[] bytes(int id) {
        return vocabulary().bytes(id);
    }

    /**
     * The text of the ids, special tokens included. Bytes that are not UTF-8 become U+FFFD; an id without a token is nothing.
     * {@code decode(encode(text))} is {@code text}, unless an added token swallowed spaces beside it, the text was normalized, or the
     * vocabulary lacks one of its characters.
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

    /** A detokenizer for one new stream of ids. */
    default Detokenizer detokenizer(boolean skipSpecialTokens) {
        return new Detokenizer(vocabulary(), skipSpecialTokens);
    }

    /**
     * A detokenizer for ids that follow others, as a completion follows its prompt: it keeps a space that only the beginning of a whole
     * text loses.
     */
    default Detokenizer continuation(boolean skipSpecialTokens) {
        return new Detokenizer(vocabulary(), skipSpecialTokens, true);
    }

    /**
     * How a model's vocabulary differs from this tokenizer's, in one line; empty if it does not. Neither difference is an error:
     * vocabularies are padded, and a token may have been added without making the model wider.
     */
    default Optional<String> misfit(int modelVocabularySize) {
        String sizes = description() + ": the largest token id is " + (vocabularySize() - 1)
                + ", but the model's vocab_size is " + modelVocabularySize + " (ids 0.." + (modelVocabularySize - 1)
                + "); ";
        if (vocabularySize() > modelVocabularySize) {
            return Optional.of(sizes + "a prompt with one of the ids beyond it is refused");
        }
        return vocabularySize() < modelVocabularySize
                ? Optional.of(sizes + "an id without a token can be generated and is no text")
                : Optional.empty();
    }
}

package io.roseinfer.tokenizer;

import io.roseinfer.base.Limits;
import io.roseinfer.base.RoseException.BadModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/** Where tokenizers come from: a model's directory, files at hand, or the vocabulary of GPT-2 that is built in. */
public final class Tokenizers {
    private static final Set<String> SIGNS =
            Set.of("tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "vocab.txt", "tekken.json");
    private static final List<String> SIGN_SUFFIXES = List.of(".model", ".tiktoken", ".spm");

    private Tokenizers() {}

    /**
     * The tokenizer of a model directory in Hugging Face layout: {@code tokenizer.json}, else {@code vocab.json} with {@code
     * merges.txt}; and {@code tokenizer_config.json}, or the older {@code added_tokens.json} and {@code
     * special_tokens_map.json}. Where they say different things, that counts which counts for transformers. Empty if the
     * directory has no vocabulary; whether GPT-2's own fits then is for the caller to say.
     *
     * @throws BadModel if the files cannot be read, contradict each other, or ask for what is not supported
     */
    public static Optional<Tokenizer> fromDirectory(Path directory) {
        return fromDirectory(directory, true);
    }

    /**
     * As above, for a model whose type is known.
     *
     * @param gpt2Model whether it is a GPT-2. For any other, {@code tokenizer.json} counts as it is, though {@code
     *     tokenizer_config.json} may name GPT-2's class, and {@code vocab.json} with {@code merges.txt} is not enough, since they do not
     *     say how text is cut
     */
    public static Optional<Tokenizer> fromDirectory(Path directory, boolean gpt2Model) {
        TokenizerConfig config = config(directory, gpt2Model);
        Optional<byte[]> json = optionalFile(directory, "tokenizer.json");
        if (json.isPresent()) {
            return Optional.of(
                    new BpeTokenizer(TokenizerJson.read(json.get(), name(directory, "tokenizer.json"), config)));
        }
        Optional<byte[]> vocabulary = optionalFile(directory, "vocab.json");
        Optional<byte[]> merges = optionalFile(directory, "merges.txt");
        if (vocabulary.isPresent() != merges.isPresent()) {
            String missing = vocabulary.isPresent() ? "merges.txt" : "vocab.json";
            throw new BadModel(
                    name(directory, missing) + " is missing; vocab.json and merges.txt are only of use together");
        }
        if (vocabulary.isPresent() && !gpt2Model) {
            throw new BadModel(name(directory, "tokenizer.json")
                    + " is missing; vocab.json and merges.txt do not say how this model's text is cut into words");
        }
        return vocabulary.map(
                ids -> new BpeTokenizer(VocabularyFiles.read(ids, merges.orElseThrow(), directory.toString(), config)));
    }

    /**
     * The names of a directory's files that tell of a tokenizer but are not enough to make one, in the order of their names: a
     * SentencePiece model, a list of words, settings without the vocabulary they belong to.
     */
    public static List<String> unreadFiles(Path directory) {
        try (Stream<Path> files = Files.list(directory)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name ->
                            SIGNS.contains(name) || SIGN_SUFFIXES.stream().anyMatch(name::endsWith))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new BadModel(directory + " cannot be listed: " + e + "; check that it is a readable directory", e);
        }
    }

    /**
     * The tokenizer of a {@code tokenizer.json} at hand.
     *
     * @param utf8 the file
     * @param description what messages call it
     * @throws BadModel as {@link #fromDirectory}
     */
    public static Tokenizer fromTokenizerJson(byte[] utf8, String description) {
        return new BpeTokenizer(TokenizerJson.read(utf8, description, TokenizerConfig.NONE));
    }

    /**
     * As above, with the special tokens of a {@code tokenizer_config.json} at hand. Its class is not looked for among GPT-2's.
     *
     * @param config the other file
     */
    public static Tokenizer fromTokenizerJson(byte[] utf8, byte[] config, String description) {
        JsonView settings = JsonView.parse(config, description);
        TokenizerConfig read = TokenizerConfig.read(settings, Map.of(), SpecialTokens.NONE, false);
        return new BpeTokenizer(TokenizerJson.read(utf8, description, read));
    }

    /** The tokenizer of every published GPT-2: 50257 ids, {@code <|endoftext|>} is 50256. Built on first use, then shared. */
    public static Tokenizer gpt2() {
        return BuiltIn.GPT2;
    }

    private static final class BuiltIn {
        static final Tokenizer GPT2 = new BpeTokenizer(Gpt2Ranks.read());
    }

    private static TokenizerConfig config(Path directory, boolean gpt2Model) {
        Map<String, Integer> olderIds = optionalJson(directory, "added_tokens.json")
                .map(JsonView::tokenIds)
                .orElse(Map.of());
        SpecialTokens olderSpecial = optionalJson(directory, "special_tokens_map.json")
                .map(map -> SpecialTokens.read(map, true))
                .orElse(SpecialTokens.NONE);
        JsonView config = optionalJson(directory, "tokenizer_config.json")
                .orElseGet(() -> JsonView.empty(name(directory, "tokenizer_config.json")));
        return TokenizerConfig.read(config, olderIds, olderSpecial, gpt2Model);
    }

    private static Optional<JsonView> optionalJson(Path directory, String name) {
        return optionalFile(directory, name).map(bytes -> JsonView.parse(bytes, name(directory, name)));
    }

    private static Optional<byte[]> optionalFile(Path directory, String name) {
        Path file = directory.resolve(name);
        // A link into the hub's cache whose target is gone is a file that cannot be read, not one that is not there.
        if (!Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
            return Optional.empty();
        }
        try {
            long size = Files.size(file);
            if (size > Limits.CONFIG_BYTES) {
                throw new BadModel(file + " has " + size + " bytes, at most " + Limits.CONFIG_BYTES
                        + " are allowed; is it the right file?");
            }
            return Optional.of(Files.readAllBytes(file));
        } catch (IOException e) {
            throw new BadModel(file + " cannot be read: " + e + "; check that it is a readable file", e);
        }
    }

    private static String name(Path directory, String file) {
        return directory.resolve(file).toString();
    }
}

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

/** Creates tokenizers: from a model's directory, from files in memory, or with GPT-2's built-in vocabulary. */
public final class Tokenizers {
    /** The remedy if a model has no tokenizer. */
    public static final String ADD_FILES = "copy its tokenizer.json and tokenizer_config.json next to its weights"
            + " (the page models.md lists the tokenizers that are supported)";

    private static final Set<String> SIGNS =
            Set.of("tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "vocab.txt", "tekken.json");
    private static final List<String> SIGN_SUFFIXES = List.of(".model", ".tiktoken", ".spm");

    private Tokenizers() {}

    /**
     * Reads the tokenizer of a model directory in Hugging Face layout: {@code tokenizer.json}, else {@code vocab.json}
     * with {@code merges.txt}, and {@code tokenizer_config.json} with the legacy {@code added_tokens.json} and
     * {@code special_tokens_map.json}. Contradictions are resolved as in transformers. Empty if the directory has no
     * vocabulary; then the caller decides whether to use GPT-2's.
     *
     * @throws BadModel if the files cannot be read, are inconsistent, or need unsupported features
     */
    public static Optional<Tokenizer> fromDirectory(Path directory) {
        return fromDirectory(directory, true);
    }

    /**
     * Reads the tokenizer of a model directory, for a known model type.
     *
     * @param gpt2Model whether the model is a GPT-2. For others, the pipeline of {@code tokenizer.json} is used even if
     *     {@code tokenizer_config.json} names GPT-2's class, and {@code vocab.json} with {@code merges.txt} is not
     *     enough, because they do not define how text is split
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
            throw new BadModel(name(directory, missing) + " is missing; vocab.json and merges.txt need each other");
        }
        if (vocabulary.isPresent() && !gpt2Model) {
            throw new BadModel(name(directory, "tokenizer.json")
                    + " is missing; vocab.json and merges.txt do not define how this model's text is split into words");
        }
        return vocabulary.map(
                ids -> new BpeTokenizer(VocabularyFiles.read(ids, merges.orElseThrow(), directory.toString(), config)));
    }

    /**
     * Returns the sorted names of files in a directory that belong to a tokenizer but are not supported or not
     * sufficient: a SentencePiece model, a list of words, settings without a vocabulary.
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
     * Creates the tokenizer of a {@code tokenizer.json} in memory.
     *
     * @param utf8 the file
     * @param description its name in messages
     * @throws BadModel like {@link #fromDirectory}
     */
    public static Tokenizer fromTokenizerJson(byte[] utf8, String description) {
        return new BpeTokenizer(TokenizerJson.read(utf8, description, TokenizerConfig.NONE));
    }

    /**
     * Creates the tokenizer of a {@code tokenizer.json} with the special tokens of a {@code tokenizer_config.json},
     * both in memory. GPT-2's class is not recognized.
     *
     * @param config the other file
     */
    public static Tokenizer fromTokenizerJson(byte[] utf8, byte[] config, String description) {
        JsonView settings = JsonView.parse(config, description);
        TokenizerConfig read = TokenizerConfig.read(settings, Map.of(), SpecialTokens.NONE, false);
        return new BpeTokenizer(TokenizerJson.read(utf8, description, read));
    }

    /**
     * Returns the tokenizer of every published GPT-2: 50257 ids, {@code <|endoftext|>} is 50256. Created on first use,
     * then shared.
     */
    public static Tokenizer gpt2() {
        return BuiltIn.GPT2;
    }

    private static final class BuiltIn {
        static final Tokenizer GPT2 = new BpeTokenizer(Gpt2Ranks.read());
    }

    private static TokenizerConfig config(Path directory, boolean gpt2Model) {
        Map<String, Integer> legacyIds = optionalJson(directory, "added_tokens.json")
                .map(JsonView::tokenIds)
                .orElse(Map.of());
        SpecialTokens legacySpecial = optionalJson(directory, "special_tokens_map.json")
                .map(map -> SpecialTokens.read(map, true))
                .orElse(SpecialTokens.NONE);
        JsonView config = optionalJson(directory, "tokenizer_config.json")
                .orElseGet(() -> JsonView.empty(name(directory, "tokenizer_config.json")));
        return TokenizerConfig.read(config, legacyIds, legacySpecial, gpt2Model);
    }

    private static Optional<JsonView> optionalJson(Path directory, String name) {
        return optionalFile(directory, name).map(bytes -> JsonView.parse(bytes, name(directory, name)));
    }

    private static Optional<byte[]> optionalFile(Path directory, String name) {
        Path file = directory.resolve(name);
        // A dangling link into the hub's cache is an unreadable file, not a missing one.
        if (!Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
            return Optional.empty();
        }
        try {
            long size = Files.size(file);
            if (size > Limits.CONFIG_BYTES) {
                throw new BadModel(file + " has " + size + " bytes, at most " + Limits.CONFIG_BYTES
                        + " are allowed; check that it is the right file");
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

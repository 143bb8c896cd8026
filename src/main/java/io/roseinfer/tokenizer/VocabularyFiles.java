package io.roseinfer.tokenizer;

import io.roseinfer.base.RoseException.BadModel;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Reads {@code vocab.json} and {@code merges.txt}, GPT-2's format, with GPT-2's defaults for the rest. */
final class VocabularyFiles {
    private VocabularyFiles() {}

    /** Reads the model of both files. */
    static BpeModel read(byte[] vocabulary, byte[] merges, String description, TokenizerConfig config) {
        if (config.addBeginOfText()) {
            throw new BadModel(
                    description + ": add_bos_token is true in tokenizer_config.json, only false is supported");
        }
        List<String> warnings = new ArrayList<>();
        Map<String, Integer> ids =
                JsonView.parse(vocabulary, description + " vocab.json").tokenIds();
        List<Merge> pairs = merges(text(merges, description + " merges.txt"), description + " merges.txt");
        return new BpeModel(
                description,
                ids,
                Merge.table(pairs, ids, warnings),
                AddedTokens.of(description, ids, List.of(), config, warnings),
                BpeModel.Pipeline.ofGpt2(config.addPrefixSpace()),
                BpeModel.Options.NONE,
                config.roles(),
                warnings);
    }

    private static List<Merge> merges(String text, String file) {
        List<Merge> merges = new ArrayList<>();
        int number = 0;
        for (String line : text.split("\n", -1)) {
            number++;
            String merge = line.endsWith("\r") ? line.substring(0, line.length() - 1) : line;
            if (!merge.isEmpty() && !merge.startsWith("#version")) {
                merges.add(Merge.parse(file + " line " + number, merge));
            }
        }
        return merges;
    }

    private static String text(byte[] utf8, String file) {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(utf8))
                    .toString();
        } catch (CharacterCodingException e) {
            throw new BadModel(file + " is not valid UTF-8; download the file again", e);
        }
    }
}

package io.roseinfer.hub;

import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.safetensors.Safetensors;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * A repository's files at one commit, as far as the cache has them.
 *
 * @param id the id whose folder this is
 */
record Snapshot(HubId id, CacheFolder folder, String commit) {
    /** The model's configuration. */
    public static final String CONFIG = "config.json";

    /** The authors' generation defaults, which are optional. */
    public static final String GENERATION_CONFIG = "generation_config.json";

    static final String TOKENIZER = "tokenizer.json";

    /**
     * All files of a tokenizer and its chat template, including unsupported ones. With a file missing here, a model
     * from the hub could tokenize differently than from a directory.
     */
    public static final List<String> TOKENIZER_FILES = List.of(
            "tokenizer_config.json",
            TOKENIZER,
            "vocab.json",
            "merges.txt",
            "added_tokens.json",
            "special_tokens_map.json",
            "vocab.txt",
            "tekken.json",
            "chat_template.jinja",
            "chat_template.json");

    /** Optional files, in the order in which they are requested. */
    public static final List<String> OPTIONAL_FILES = Stream.concat(
                    Stream.of(GENERATION_CONFIG), TOKENIZER_FILES.stream())
            .toList();

    /** Files that change a model's output and that {@code tokenizer.json} does not replace. */
    private static final List<String> BESIDE_TOKENIZER =
            List.of(GENERATION_CONFIG, "tokenizer_config.json", "chat_template.jinja");

    /** Returns the directory of the files, in Hugging Face layout. */
    public Path directory() {
        return folder.snapshot(commit);
    }

    /** Returns the missing required files: the configuration and the weights. */
    List<String> missing() {
        List<String> missing = new ArrayList<>();
        if (!has(CONFIG)) {
            missing.add(CONFIG);
        }
        List<Path> weights = Safetensors.files(directory());
        if (weights.isEmpty()) {
            missing.add(Safetensors.SINGLE);
        } else if (weights.getFirst().endsWith(Safetensors.INDEX)) {
            missingShards(missing);
        }
        return missing;
    }

    private void missingShards(List<String> missing) {
        try {
            Safetensors.shards(directory().resolve(Safetensors.INDEX)).stream()
                    .filter(shard -> !has(shard))
                    .forEach(missing::add);
        } catch (BadModel unreadable) {
            missing.add(Safetensors.INDEX);
        }
    }

    /**
     * Returns the files that are neither here nor known to be absent from the repository: another tool may have
     * downloaded only some files. With {@code tokenizer.json} no other vocabulary file is needed.
     */
    public List<String> unknownFiles() {
        return (has(TOKENIZER) ? BESIDE_TOKENIZER : OPTIONAL_FILES)
                .stream()
                        .filter(name -> !has(name) && !folder.isKnownAbsent(commit, name))
                        .toList();
    }

    private boolean has(String file) {
        return Files.exists(directory().resolve(file));
    }
}

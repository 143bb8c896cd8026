package io.roseinfer.hub.cache;

import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.safetensors.Checkpoint;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A repository's files at one commit, as far as the cache has them.
 *
 * @param id the spelling of the id whose folder this is
 */
public record Snapshot(HubId id, CacheFolder folder, String commit) {
    /** The file that says what a model is. */
    public static final String CONFIG = "config.json";

    /** The file with its authors' defaults, which not every repository has. */
    public static final String GENERATION_CONFIG = "generation_config.json";

    static final String TOKENIZER = "tokenizer.json";

    /**
     * All that a tokenizer and its chat template are read from, or refused for; a file left out here would tokenize otherwise than the same
     * model in a directory.
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

    /** Where the files are, in Hugging Face layout. */
    public Path directory() {
        return folder.snapshot(commit);
    }

    /** The files without which it is no model: its configuration and all of its weights. */
    List<String> missing() {
        List<String> missing = new ArrayList<>();
        if (!has(CONFIG)) {
            missing.add(CONFIG);
        }
        List<Path> weights = Checkpoint.files(directory());
        if (weights.isEmpty()) {
            missing.add(Checkpoint.SINGLE);
        } else if (weights.getFirst().endsWith(Checkpoint.INDEX)) {
            missingShards(missing);
        }
        return missing;
    }

    private void missingShards(List<String> missing) {
        try {
            Checkpoint.shards(directory().resolve(Checkpoint.INDEX)).stream()
                    .filter(shard -> !has(shard))
                    .forEach(missing::add);
        } catch (BadModel unreadable) {
            missing.add(Checkpoint.INDEX);
        }
    }

    /**
     * The tokenizer's files of which nobody knows yet whether the repository has them: another tool may have wanted the weights
     * alone. None if {@code tokenizer.json} is there, which needs no other.
     */
    public List<String> unknownTokenizerFiles() {
        if (has(TOKENIZER)) {
            return List.of();
        }
        return TOKENIZER_FILES.stream()
                .filter(name -> !has(name) && !folder.isKnownAbsent(commit, name))
                .toList();
    }

    private boolean has(String file) {
        return Files.exists(directory().resolve(file));
    }
}

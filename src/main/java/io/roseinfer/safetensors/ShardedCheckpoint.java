package io.roseinfer.safetensors;

import io.roseinfer.base.FileFailure;
import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.checkpoint.Checkpoint;
import io.roseinfer.tensor.Tensor;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.Set;

/** A checkpoint of several safetensors files with an index; tensors are in name order of the shards. */
final class ShardedCheckpoint implements Checkpoint {
    private final String description;
    private final List<Checkpoint> shards;
    private final Map<String, Checkpoint> owners;

    private ShardedCheckpoint(String description, List<Checkpoint> shards, Map<String, Checkpoint> owners) {
        this.description = description;
        this.shards = shards;
        this.owners = Collections.unmodifiableMap(owners);
    }

    /**
     * Opens every shard in the index. Tensors that a shard has beyond the index are included, as in other readers.
     *
     * @throws BadModel if a shard is missing or broken, a listed tensor is not in its shard, or a tensor is in two
     *     shards
     */
    static Checkpoint open(Path indexFile) {
        ShardIndex index = ShardIndex.read(indexFile);
        String shown = FileFailure.shown(indexFile);
        requireShards(indexFile, shown, index);
        List<Checkpoint> open = new ArrayList<>();
        try {
            for (String shard : index.shards()) {
                open.add(Safetensors.openFile(indexFile.resolveSibling(shard)));
            }
            Map<String, Checkpoint> owners = owners(shown, open);
            requireListed(indexFile, shown, index, owners);
            return new ShardedCheckpoint(shown, List.copyOf(open), owners);
        } catch (RuntimeException e) {
            open.forEach(Checkpoint::close);
            throw e;
        }
    }

    private static void requireShards(Path indexFile, String shown, ShardIndex index) {
        List<String> missing = index.shards().stream()
                .filter(shard -> !Files.exists(indexFile.resolveSibling(shard)))
                .toList();
        if (!missing.isEmpty()) {
            throw new BadModel(
                    shown + ": " + missing.size() + " of " + index.shards().size() + " shards are missing: "
                            + Quoted.names(missing) + "; download them into the same directory");
        }
    }

    private static Map<String, Checkpoint> owners(String shown, List<Checkpoint> shards) {
        Map<String, Checkpoint> owners = new LinkedHashMap<>();
        for (Checkpoint shard : shards) {
            for (String name : shard.names()) {
                Checkpoint other = owners.putIfAbsent(name, shard);
                if (other != null) {
                    throw new BadModel(shown + ": tensor " + Quoted.name(name) + " is in two shards, "
                            + other.description() + " and " + shard.description() + "; download the checkpoint again");
                }
            }
        }
        return owners;
    }

    private static void requireListed(Path indexFile, String shown, ShardIndex index, Map<String, Checkpoint> owners) {
        List<String> absent = new ArrayList<>();
        index.shardOf().forEach((tensor, shard) -> {
            Checkpoint owner = owners.get(tensor);
            if (owner == null || !owner.description().equals(FileFailure.shown(indexFile.resolveSibling(shard)))) {
                absent.add(tensor);
            }
        });
        if (!absent.isEmpty()) {
            throw new BadModel(shown + ": " + absent.size() + " listed tensors are not in the shard the index names: "
                    + Quoted.names(absent)
                    + "; index and shards do not match, download the checkpoint again");
        }
    }

    @Override
    public String description() {
        return description;
    }

    @Override
    public Set<String> names() {
        return owners.keySet();
    }

    @Override
    public Optional<Info> info(String name) {
        return Optional.ofNullable(owners.get(name)).flatMap(shard -> shard.info(name));
    }

    @Override
    public Tensor read(String name, Arena arena) {
        Checkpoint shard = owners.get(name);
        if (shard == null) {
            throw new NoSuchElementException(description + " has no tensor " + Quoted.name(name));
        }
        return shard.read(name, arena);
    }

    @Override
    public void close() {
        shards.forEach(Checkpoint::close);
    }
}

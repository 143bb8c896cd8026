package io.roseinfer.safetensors;

import io.roseinfer.base.FileFailure;
import io.roseinfer.base.Limits;
import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.base.StrictJson;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/**
 * {@code model.safetensors.index.json}, which maps tensors to shards.
 *
 * @param shardOf file name by tensor name, in index order; names are relative and stay inside the directory
 */
record ShardIndex(Map<String, String> shardOf) {

    /**
     * Reads and checks an index, but not whether the shards exist.
     *
     * @throws BadModel if it cannot be read, is not an index, or a shard's name escapes the directory
     */
    static ShardIndex read(Path file) {
        String shown = FileFailure.shown(file);
        FileFailure.requireRegular(file);
        try (InputStream in = Files.newInputStream(file)) {
            byte[] json = in.readNBytes(Limits.CONFIG_BYTES + 1);
            if (json.length > Limits.CONFIG_BYTES) {
                throw new BadModel(
                        shown + ": too large for an index, at most " + Limits.CONFIG_BYTES + " bytes are read");
            }
            return parse(shown, StrictJson.parse(json));
        } catch (JacksonException e) {
            throw new BadModel(
                    shown + ": is not valid JSON: " + Quoted.escape(StrictJson.reason(e)) + "; download it again", e);
        } catch (IOException e) {
            throw FileFailure.reading(file, e);
        }
    }

    private static ShardIndex parse(String shown, JsonNode root) {
        JsonNode weightMap = root.path("weight_map");
        if (!weightMap.isObject() || weightMap.isEmpty()) {
            throw new BadModel(shown + ": has no \"weight_map\" object of tensor name to shard file name");
        }
        if (weightMap.size() > Limits.CHECKPOINT_TENSORS) {
            throw new BadModel(shown + ": lists " + weightMap.size() + " tensors, at most " + Limits.CHECKPOINT_TENSORS
                    + " are read");
        }
        Map<String, String> shardOf = LinkedHashMap.newLinkedHashMap(weightMap.size());
        for (Map.Entry<String, JsonNode> entry : weightMap.properties()) {
            shardOf.put(entry.getKey(), shardName(shown, entry.getKey(), entry.getValue()));
        }
        return new ShardIndex(Collections.unmodifiableMap(shardOf));
    }

    private static String shardName(String shown, String tensor, JsonNode value) {
        String where = shown + ": weight_map value of " + Quoted.name(tensor) + " ";
        if (!value.isString()) {
            throw new BadModel(where + "must be a file name, not " + Quoted.escape(value.toString()));
        }
        String name = value.stringValue();
        RelativeName.fault(name).ifPresent(fault -> {
            throw new BadModel(
                    where + Quoted.name(name) + " " + fault + "; a shard's path may not escape the model directory");
        });
        if (!name.endsWith(Safetensors.PLAIN_SUFFIX) && !name.endsWith(Safetensors.ZSTD_SUFFIX)) {
            throw new BadModel(where + Quoted.name(name) + " must end in .safetensors or .safetensors.zst");
        }
        return name;
    }

    /** Returns the shards' file names, without duplicates, sorted. */
    SortedSet<String> shards() {
        return new TreeSet<>(shardOf.values());
    }
}

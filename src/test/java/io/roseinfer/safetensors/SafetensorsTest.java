package io.roseinfer.safetensors;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.github.luben.zstd.Zstd;
import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.checkpoint.Checkpoint;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SafetensorsTest {
    private static final String SHARD_1 = "model-00001-of-00002.safetensors";
    private static final String SHARD_2 = "model-00002-of-00002.safetensors";

    @TempDir
    private Path directory;

    @Test
    void single_file_is_taken_before_index_and_index_before_zstd() throws IOException {
        write("model.safetensors.zst", Zstd.compress(RawSafetensors.floats(List.of("packed"), 1)));
        assertThat(names()).containsExactly("packed");
        write(SHARD_1, RawSafetensors.floats(List.of("sharded"), 1));
        index(Map.of("sharded", SHARD_1));
        assertThat(names()).containsExactly("sharded");
        write("model.safetensors", RawSafetensors.floats(List.of("single"), 1));
        assertThat(names()).containsExactly("single");
        assertThat(Safetensors.files(directory))
                .extracting(file -> file.getFileName().toString())
                .containsExactly("model.safetensors", "model.safetensors.index.json", "model.safetensors.zst");
    }

    @Test
    void shards_read_as_one_checkpoint() throws IOException {
        write(SHARD_1, RawSafetensors.floats(List.of("a", "b"), 3));
        write(SHARD_2, RawSafetensors.floats(List.of("c"), 3));
        index(Map.of("a", SHARD_1, "b", SHARD_1, "c", SHARD_2));
        try (Checkpoint source = Safetensors.open(directory);
                Arena arena = Arena.ofConfined()) {
            assertThat(source.names()).containsExactly("a", "b", "c");
            for (String name : source.names()) {
                assertThat(source.read(name, arena).get(2)).isEqualTo(RawSafetensors.valueOf(name, 2));
            }
            assertThat(source.info("d")).isEmpty();
        }
    }

    @Test
    void compressed_and_plain_shards_may_be_mixed() throws IOException {
        write("one.safetensors.zst", Zstd.compress(RawSafetensors.floats(List.of("a"), 3)));
        write(SHARD_2, RawSafetensors.floats(List.of("b"), 3));
        index(Map.of("a", "one.safetensors.zst", "b", SHARD_2));
        assertThat(names()).containsExactlyInAnyOrder("a", "b");
    }

    @Test
    void missing_shard_is_named() throws IOException {
        write(SHARD_1, RawSafetensors.floats(List.of("a"), 1));
        index(Map.of("a", SHARD_1, "b", SHARD_2));
        assertRefused("1 of 2 shards are missing: \"" + SHARD_2 + "\"");
    }

    @Test
    void tensor_in_two_shards_is_rejected() throws IOException {
        write(SHARD_1, RawSafetensors.floats(List.of("a"), 1));
        write(SHARD_2, RawSafetensors.floats(List.of("a", "b"), 1));
        index(Map.of("a", SHARD_1, "b", SHARD_2));
        assertRefused("tensor \"a\" is in two shards, " + directory.resolve(SHARD_1) + " and ");
    }

    @Test
    void tensor_missing_from_its_indexed_shard_is_rejected() throws IOException {
        write(SHARD_1, RawSafetensors.floats(List.of("a"), 1));
        write(SHARD_2, RawSafetensors.floats(List.of("b"), 1));
        index(Map.of("a", SHARD_1, "b", SHARD_1, "c", SHARD_2));
        assertRefused("2 listed tensors are not in the shard the index names");
    }

    @Test
    void broken_shard_is_named() throws IOException {
        write(SHARD_1, RawSafetensors.floats(List.of("a"), 1));
        write(SHARD_2, new byte[5]);
        index(Map.of("a", SHARD_1, "b", SHARD_2));
        assertRefused(SHARD_2 + ": too small");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "../../x.safetensors",
                "/etc/x.safetensors",
                "a/../../x.safetensors",
                "a/./x.safetensors",
                "a//x.safetensors",
                "a\\\\..\\\\x.safetensors",
                "C:x.safetensors",
                "x\\u0000.safetensors",
                ""
            })
    void shard_path_that_could_leave_the_directory_is_rejected(String shard) throws IOException {
        write(
                "model.safetensors.index.json",
                ("{\"weight_map\":{\"a\":\"" + shard + "\"}}").getBytes(StandardCharsets.UTF_8));
        assertRefused("escape the model directory");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "[]",
                "{}",
                "{\"weight_map\":[]}",
                "{\"weight_map\":{}}",
                "{\"weight_map\":{\"a\":1}}",
                "{\"weight_map\":{\"a\":\"x.bin\"}}",
                "{\"weight_map\":{\"a\":\"x.safetensors\",\"a\":\"y.safetensors\"}}",
                "{\"weight_map\":{\"a\":\"x.safetensors\"}} trailing"
            })
    void malformed_index_is_rejected(String json) throws IOException {
        write("model.safetensors.index.json", json.getBytes(StandardCharsets.UTF_8));
        assertRefused("model.safetensors.index.json: ");
    }

    @Test
    void snapshot_of_links_into_blobs_is_read() throws IOException {
        Path blob = Files.write(directory.resolve("blob"), RawSafetensors.floats(List.of("a"), 1));
        Path snapshot = Files.createDirectories(directory.resolve("snapshots/0"));
        Files.createSymbolicLink(snapshot.resolve("model.safetensors"), snapshot.relativize(blob));
        try (Checkpoint source = Safetensors.open(snapshot)) {
            assertThat(source.names()).containsExactly("a");
        }
    }

    @Test
    void dangling_link_to_weights_is_reported() throws IOException {
        Files.createSymbolicLink(directory.resolve("model.safetensors"), Path.of("gone"));
        assertRefused("model.safetensors: a link to a file that does not exist");
    }

    @Test
    void directory_without_weights_is_reported_with_expected_and_existing_files() throws IOException {
        write("pytorch_model.bin", new byte[3]);
        assertRefused("expected model.safetensors, model.safetensors.index.json, model.safetensors.zst; found"
                + " \"pytorch_model.bin\", which cannot be read; rename a safetensors file to one of these names,"
                + " or convert another format to it");
    }

    @Test
    void missing_directory_and_file_instead_of_directory_are_rejected() throws IOException {
        assertThatThrownBy(() -> Safetensors.open(directory.resolve("absent")))
                .isInstanceOf(BadModel.class)
                .hasMessageContaining("no such directory");
        Path file = Files.createFile(directory.resolve("file"));
        assertThatThrownBy(() -> Safetensors.open(file))
                .isInstanceOf(BadModel.class)
                .hasMessageContaining("is not a directory");
    }

    private List<String> names() {
        try (Checkpoint source = Safetensors.open(directory)) {
            return List.copyOf(source.names());
        }
    }

    private void assertRefused(String message) {
        assertThatThrownBy(() -> Safetensors.open(directory))
                .isInstanceOf(BadModel.class)
                .hasMessageContaining(message);
    }

    private void index(Map<String, String> weightMap) throws IOException {
        String entries = weightMap.entrySet().stream()
                .map(entry -> "\"" + entry.getKey() + "\":\"" + entry.getValue() + "\"")
                .collect(Collectors.joining(","));
        write(
                "model.safetensors.index.json",
                ("{\"metadata\":{},\"weight_map\":{" + entries + "}}").getBytes(StandardCharsets.UTF_8));
    }

    private void write(String name, byte[] bytes) throws IOException {
        Files.write(directory.resolve(name), bytes);
    }
}

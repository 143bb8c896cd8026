package io.roseinfer.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.RoseException.BadModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CacheFolderTest {
    private static final String COMMIT = "c".repeat(40);
    private static final Etag ETAG = new Etag("e".repeat(40));

    @TempDir
    Path cache;

    private CacheFolder folderWithABlob() throws IOException {
        CacheFolder folder = new CacheFolder(cache, new HubId("owner/name"));
        Files.createDirectories(folder.blob(ETAG).getParent());
        Files.writeString(folder.blob(ETAG), "weights");
        return folder;
    }

    private static void assertNothingBut(Path entry) throws IOException {
        try (Stream<Path> left = Files.list(entry.getParent())) {
            assertThat(left).containsExactly(entry);
        }
    }

    @Test
    void entry_that_cannot_be_renamed_leaves_no_draft() throws IOException {
        CacheFolder folder = folderWithABlob();
        Path entry = folder.snapshot(COMMIT).resolve("model.safetensors");
        Files.createDirectories(entry.resolve("a directory"));
        assertThatThrownBy(() -> folder.publish(COMMIT, "model.safetensors", ETAG))
                .isInstanceOf(BadModel.class)
                .hasMessageContaining("cannot be written");
        assertNothingBut(entry);
    }

    @Test
    void reference_that_cannot_be_renamed_leaves_no_draft() throws IOException {
        CacheFolder folder = folderWithABlob();
        Path ref = folder.path().resolve("refs/main");
        Files.createDirectories(ref.resolve("a directory"));
        assertThatThrownBy(() -> folder.writeCommit("main", COMMIT)).isInstanceOf(BadModel.class);
        assertNothingBut(ref);
    }
}

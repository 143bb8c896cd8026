package io.roseinfer.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.Limits;
import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.checkpoint.Checkpoint;
import io.roseinfer.safetensors.RawSafetensors;
import io.roseinfer.safetensors.Safetensors;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A blob whose hash differs from its name is detected when it cannot be read, and downloaded again. */
class DamagedCacheTest extends HubTestBase {
    private final List<String> warnings = new ArrayList<>();

    /** Kinds of damage. */
    enum Damage {
        CUT {
            @Override
            byte[] of(byte[] content) {
                return Arrays.copyOf(content, content.length / 2);
            }
        },
        APPENDED {
            @Override
            byte[] of(byte[] content) {
                return Arrays.copyOf(content, content.length + 7);
            }
        },
        OVERWRITTEN {
            @Override
            byte[] of(byte[] content) {
                byte[] damaged = content.clone();
                Arrays.fill(damaged, 0, 8, (byte) 0xff);
                return damaged;
            }
        };

        abstract byte[] of(byte[] content);
    }

    @ParameterizedTest
    @EnumSource
    void damaged_weights_are_downloaded_again_and_opened(Damage damage) throws IOException {
        Path blob = damage(download().resolve(WEIGHTS), damage);
        assertThat(open(settings())).containsExactly("a", "b");
        assertThat(blob).hasBinaryContent(hub.content(WEIGHTS));
        assertThat(hub.bodies(WEIGHTS)).hasSize(2);
        assertThat(warnings).singleElement().asString().contains(blob.toString());
    }

    @Test
    void large_damaged_weights_are_hashed_once_they_cannot_be_opened() throws IOException {
        hub.file(WEIGHTS, RawSafetensors.floats(List.of("a"), Limits.CONFIG_BYTES / Float.BYTES));
        damage(download().resolve(WEIGHTS), Damage.OVERWRITTEN);
        assertThat(open(settings())).containsExactly("a");
    }

    @Test
    void damaged_weights_are_reported_offline_with_a_remedy() throws IOException {
        Path blob = damage(download().resolve(WEIGHTS), Damage.CUT);
        HubSettings offline = settings().asOffline();
        assertThatThrownBy(() -> open(offline))
                .isInstanceOf(BadModel.class)
                .hasMessageContaining("its hash differs from its name: " + blob)
                .hasMessageContaining("enable downloads")
                .hasMessageContaining("delete it");
    }

    @Test
    void damaged_weights_are_named_if_the_hub_cannot_be_reached() throws IOException {
        Path blob = damage(download().resolve(WEIGHTS), Damage.CUT);
        hub.close();
        assertThatThrownBy(() -> open(settings()))
                .isInstanceOf(BadModel.class)
                .hasMessageContaining(blob.toString())
                .hasMessageContaining("could not be downloaded again")
                .extracting("exitCode")
                .isEqualTo(11);
    }

    @Test
    void undamaged_but_unreadable_model_is_not_downloaded_again() {
        hub.file(WEIGHTS, utf8("no weights at all"));
        download();
        int requests = hub.seen().size();
        assertThatThrownBy(() -> open(settings())).isInstanceOf(BadModel.class);
        assertThat(hub.bodies(WEIGHTS)).hasSize(1);
        assertThat(warnings).isEmpty();
        assertThat(hub.seen().subList(requests, hub.seen().size()))
                .noneMatch(request -> request.method().equals("GET"));
    }

    @Test
    void damaged_small_file_is_found_though_the_weights_are_sound() throws IOException {
        Path blob = damage(download().resolve("vocab.json"), Damage.CUT);
        String text = new ModelHub(settings(), listener(), wait -> {}).open(ID, UNCHECKED, directory -> {
            String read = read(directory.resolve("vocab.json"));
            if (!read.endsWith("}")) {
                throw new BadModel("cut");
            }
            return read;
        });
        assertThat(text).isEqualTo("{\"a\":0}");
        assertThat(blob).hasContent("{\"a\":0}");
        assertThat(hub.bodies(WEIGHTS)).hasSize(1);
    }

    @Test
    void damaged_index_of_shards_is_downloaded_again() throws IOException {
        hub.replace("hub", "HEAD", WEIGHTS, FakeHub.status(404, "X-Error-Code", "EntryNotFound"));
        hub.file("model.safetensors.index.json", utf8("{\"weight_map\":{\"a\":\"s-1.safetensors\"}}"));
        hub.file("s-1.safetensors", RawSafetensors.floats(List.of("a"), 10));
        damage(download().resolve("model.safetensors.index.json"), Damage.OVERWRITTEN);
        assertThat(open(settings())).containsExactly("a");
    }

    private static Path damage(Path entry, Damage damage) throws IOException {
        Path blob = entry.toRealPath();
        return Files.write(blob, damage.of(Files.readAllBytes(blob)));
    }

    private List<String> open(HubSettings settings) {
        return new ModelHub(settings, listener(), wait -> {}).open(ID, UNCHECKED, directory -> {
            try (Checkpoint source = Safetensors.open(directory)) {
                return List.copyOf(source.names());
            }
        });
    }

    private DownloadListener listener() {
        return new DownloadListener() {
            @Override
            public void progress(String file, long bytesSoFar, long totalBytes) {}

            @Override
            public void warning(String message) {
                warnings.add(message);
            }
        };
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}

package io.roseinfer.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpHandler;
import io.roseinfer.base.Limits;
import io.roseinfer.base.RoseException.BadModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The maximum written to the disk, regardless of the sizes that a server states. */
class DownloadLimitsTest extends HubTestBase {

    @ParameterizedTest
    @CsvSource({
        "config.json, 67108865, 67108864",
        "model.safetensors, 68719476737, 68719476736",
        "tokenizer.json, 999999999999999999, 67108864"
    })
    void file_above_the_size_limit_is_not_requested(String file, String stated, long limit) {
        hub.replace("hub", "HEAD", file, linked(stated));
        assertThatThrownBy(this::download)
                .isInstanceOf(BadModel.class)
                .hasMessageContaining("\"" + file + "\": the hub reports " + stated + " bytes, but at most " + limit);
        assertThat(hub.seen())
                .noneMatch(request ->
                        request.method().equals("GET") && request.path().endsWith("/" + file));
    }

    @Test
    void endless_file_of_unknown_size_is_aborted_and_not_kept() throws IOException {
        hub.replace("hub", "HEAD", "config.json", linked(""));
        hub.replace("hub", "GET", "config.json", exchange -> {
            exchange.sendResponseHeaders(200, 0); // chunked, so without a length
            byte[] piece = new byte[1 << 20];
            for (int i = 0; i <= Limits.CONFIG_BYTES / piece.length; i++) {
                exchange.getResponseBody().write(piece);
            }
        });
        assertThatThrownBy(this::download)
                .isInstanceOf(BadModel.class)
                .hasMessageContaining("the server sends more than 67108864 bytes, but at most 67108864 are allowed");
        try (Stream<Path> files = Files.walk(cache)) {
            assertThat(files.filter(Files::isRegularFile))
                    .allSatisfy(file -> assertThat(file).isEmptyFile());
        }
    }

    @Test
    void length_announced_with_the_file_is_checked_against_the_limit() {
        hub.replace("hub", "HEAD", "config.json", linked(""));
        hub.replace("hub", "GET", "config.json", exchange -> {
            exchange.sendResponseHeaders(200, 67108865);
            exchange.getResponseBody().flush();
        });
        assertThatThrownBy(this::download)
                .isInstanceOf(BadModel.class)
                .hasMessageContaining("the server sends 67108865 bytes, but at most 67108864 are allowed");
    }

    @Test
    void file_of_unknown_size_is_downloaded() {
        hub.replace("hub", "HEAD", "config.json", linked(""));
        assertThat(download().resolve("config.json")).hasBinaryContent(hub.content("config.json"));
    }

    /** A redirect to the store, as for a large file. */
    private HttpHandler linked(String bytes) {
        return exchange -> {
            String path = exchange.getRequestURI().getPath();
            String file = path.substring(path.lastIndexOf('/') + 1);
            exchange.getResponseHeaders().set("X-Repo-Commit", FakeHub.COMMIT);
            exchange.getResponseHeaders().set("X-Linked-Etag", '"' + FakeHub.sha256(hub.content(file)) + '"');
            if (!bytes.isEmpty()) {
                exchange.getResponseHeaders().set("X-Linked-Size", bytes);
            }
            exchange.getResponseHeaders().set("Location", hub.stored(file).toString());
            exchange.sendResponseHeaders(302, -1);
        };
    }
}

package io.roseinfer.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import io.roseinfer.base.RoseException.BadModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Others write into the same cache: nobody's file is cut, continued or published but our own. */
class SharedCacheTest extends HubTestBase {
    private Path blobs;
    private byte[] weights;
    private String etag;

    @BeforeEach
    void makeBlobs() throws IOException {
        blobs = Files.createDirectories(repository().resolve("blobs"));
        weights = hub.content(WEIGHTS);
        etag = FakeHub.sha256(weights);
    }

    @Test
    void file_that_another_tool_downloads_into_is_neither_continued_nor_touched() throws IOException {
        byte[] theirs = Arrays.copyOf(weights, 1000);
        Path file = Files.write(blobs.resolve(etag + ".incomplete"), theirs);
        assertThat(download().resolve(WEIGHTS)).hasBinaryContent(weights);
        assertThat(file).hasBinaryContent(theirs);
        assertThat(hub.bodies(WEIGHTS).getFirst().header("Range")).isEmpty();
    }

    @Test
    void file_that_is_started_over_is_not_the_one_that_somebody_may_hold_open() throws IOException {
        byte[] part = Arrays.copyOf(weights, 1000);
        Path partial = Files.write(blobs.resolve(etag + ".roseinfer.incomplete"), part);
        Path sameFile = Files.createLink(cache.resolve("same-file"), partial);
        hub.replace("store", "GET", WEIGHTS, this::serveWithoutRanges);
        assertThat(download().resolve(WEIGHTS)).hasBinaryContent(weights);
        assertThat(sameFile).hasBinaryContent(part);
    }

    private void serveWithoutRanges(HttpExchange exchange) throws IOException {
        exchange.sendResponseHeaders(200, weights.length);
        exchange.getResponseBody().write(weights);
    }

    @Test
    void file_that_is_too_long_is_replaced_and_not_shortened() throws IOException {
        byte[] tooLong = Arrays.copyOf(weights, weights.length + 1);
        Path partial = Files.write(blobs.resolve(etag + ".roseinfer.incomplete"), tooLong);
        Path sameFile = Files.createLink(cache.resolve("same-file"), partial);
        assertThat(download().resolve(WEIGHTS)).hasBinaryContent(weights);
        assertThat(sameFile).hasBinaryContent(tooLong);
    }

    @Test
    void without_locks_a_download_continues_nothing_and_leaves_nothing() throws IOException {
        byte[] part = Arrays.copyOf(weights, 1000);
        Path partial = Files.write(blobs.resolve(etag + ".roseinfer.incomplete"), part);
        assertThat(downloadWithoutLocks().resolve(WEIGHTS)).hasBinaryContent(weights);
        assertThat(partial).hasBinaryContent(part);
        assertThat(hub.bodies(WEIGHTS).getFirst().header("Range")).isEmpty();
        assertThat(incomplete()).containsExactly(partial);
    }

    @Test
    void without_locks_a_download_that_fails_leaves_nothing() throws IOException {
        hub.replace("store", "GET", WEIGHTS, FakeHub.status(403));
        assertThatThrownBy(this::downloadWithoutLocks).isInstanceOf(BadModel.class);
        assertThat(incomplete()).isEmpty();
    }

    @Test
    void without_locks_a_download_that_was_cut_goes_on_where_it_broke_off() {
        hub.replace("store", "GET", WEIGHTS, exchange -> {
            if (exchange.getRequestHeaders().containsKey("Range")) {
                FakeHub.serve(exchange, weights);
                return;
            }
            exchange.sendResponseHeaders(200, weights.length);
            exchange.getResponseBody().write(weights, 0, weights.length / 2);
        });
        assertThat(downloadWithoutLocks().resolve(WEIGHTS)).hasBinaryContent(weights);
    }

    @Test
    void unshared_files_of_killed_downloads_go_after_a_day_and_nothing_else_does() throws IOException {
        Path old = leftover(etag + "." + UUID.randomUUID() + ".roseinfer.incomplete", Duration.ofHours(25));
        List<Path> kept = List.of(
                leftover(etag + "." + UUID.randomUUID() + ".roseinfer.incomplete", Duration.ofHours(23)),
                leftover("0".repeat(40) + ".roseinfer.incomplete", Duration.ofDays(9)),
                leftover(etag + ".incomplete", Duration.ofDays(9)),
                leftover(etag + ".0123abcd.incomplete", Duration.ofDays(9)));
        download();
        assertThat(old).doesNotExist();
        assertThat(incomplete()).containsExactlyInAnyOrderElementsOf(kept);
    }

    private Path leftover(String name, Duration age) throws IOException {
        Path file = Files.write(blobs.resolve(name), new byte[1]);
        FileTime now = Files.getLastModifiedTime(file);
        return Files.setLastModifiedTime(file, FileTime.from(now.toInstant().minus(age)));
    }

    private Path downloadWithoutLocks() {
        try (HubClient client =
                new HubClient(settings(), DownloadListener.SILENT, wait -> {}, TIMEOUTS, new VolumeWithoutLocks())) {
            return download(client, ID);
        }
    }

    private List<Path> incomplete() throws IOException {
        try (Stream<Path> files = Files.list(blobs)) {
            return files.filter(file -> file.toString().endsWith(".incomplete")).toList();
        }
    }
}

package io.roseinfer.batch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.github.luben.zstd.Zstd;
import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.RoseException.OutputFailed;
import io.roseinfer.server.api.ApiError;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BatchOutputTest {
    private static final int LINES = 12;
    private static final List<RequestKey> KEYS =
            IntStream.range(0, LINES).mapToObj(RequestKey::ofLine).toList();

    @TempDir
    private Path folder;

    private static byte[] line(RequestKey key) {
        BatchLine.Bad bad = new BatchLine.Bad(key, 1, Optional.empty(), ApiError.badRequest("no"));
        return BatchModel.refusal(bad, bad.error());
    }

    /** A file of lines, with three per frame if it has frames. */
    private Path written(String name) {
        Path file = folder.resolve(name);
        try (BatchOutput output = BatchOutput.create(file, Batch.hasty())) {
            writeAll(output);
        }
        return file;
    }

    private static void writeAll(BatchOutput output) {
        for (int i = 0; i < LINES; i++) {
            output.write(line(KEYS.get(i)));
            if (i % 3 == 2) {
                output.rest();
            }
        }
    }

    private static long known(BatchOutput output) {
        return KEYS.stream().filter(output.keys()::isWritten).count();
    }

    @ParameterizedTest
    @ValueSource(strings = {"out.jsonl", "out.jsonl.zst"})
    void file_truncated_at_any_byte_keeps_and_knows_its_complete_lines_or_frames(String name) throws IOException {
        byte[] bytes = Files.readAllBytes(written(name));
        Path file = folder.resolve("cut-" + name);
        int lineBytes = line(KEYS.getFirst()).length;
        long before = 0;
        for (int cut = 0; cut <= bytes.length; cut++) {
            Files.write(file, Arrays.copyOf(bytes, cut));
            long known;
            try (BatchOutput output = BatchOutput.resume(file, Clock.system())) {
                known = known(output);
            }
            assertThat(Batch.read(file).lines().count())
                    .as("cut at byte %d", cut)
                    .isEqualTo(known);
            assertThat(known).isGreaterThanOrEqualTo(before);
            if (name.endsWith(".zst")) {
                assertThat(known % 3).as("cut at byte %d", cut).isZero();
            } else {
                assertThat(known).as("cut at byte %d", cut).isEqualTo(cut / lineBytes);
            }
            before = known;
        }
        assertThat(before).isEqualTo(LINES);
    }

    @ParameterizedTest
    @ValueSource(strings = {"out.jsonl", "out.jsonl.zst"})
    void resumed_file_continues_after_its_last_line(String name) throws IOException {
        Path file = written(name);
        String before = Batch.read(file);
        try (BatchOutput output = BatchOutput.resume(file, Clock.system())) {
            output.write(line(RequestKey.of("one more")));
        }
        assertThat(Batch.read(file))
                .isEqualTo(before + new String(line(RequestKey.of("one more")), StandardCharsets.UTF_8));
    }

    @ParameterizedTest
    @ValueSource(strings = {"out.jsonl", "out.jsonl.zst"})
    void empty_output_can_be_read_and_resumed(String name) throws IOException {
        Path file = folder.resolve(name);
        BatchOutput.create(file, Clock.system()).close();
        assertThat(Batch.read(file)).isEmpty();
        BatchOutput.resume(file, Clock.system()).close();
        assertThat(Batch.read(file)).isEmpty();
    }

    @Test
    void resuming_a_missing_file_creates_it() throws IOException {
        Path file = folder.resolve("out.jsonl");
        try (BatchOutput output = BatchOutput.resume(file, Clock.system())) {
            output.write(line(KEYS.getFirst()));
        }
        assertThat(Files.readAllBytes(file)).isEqualTo(line(KEYS.getFirst()));
    }

    @Test
    void existing_file_is_not_overwritten() throws IOException {
        Path file = folder.resolve("out.jsonl");
        Files.writeString(file, "precious");
        assertThatThrownBy(() -> BatchOutput.create(file, Clock.system()))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("exists; continue it with --resume");
        assertThat(Files.readString(file)).isEqualTo("precious");
    }

    @ParameterizedTest
    @ValueSource(strings = {"precious\n", "{\"id\":\"batch_req_xyz\"}\n", "{}\n{}\n"})
    void file_with_other_lines_is_rejected_and_unchanged(String text) throws IOException {
        Path file = folder.resolve("out.jsonl");
        Files.writeString(file, text + "and more");
        assertThatThrownBy(() -> BatchOutput.resume(file, Clock.system()))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("line 1 of")
                .hasMessageContaining("was not written by roseinfer batch");
        assertThat(Files.readString(file)).isEqualTo(text + "and more");
    }

    /** An unterminated line is checked as well: minified JSON has no other line, and a binary file may have none. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"precious\": \"data\"}",
                "precious",
                "\0\1\2",
                "{\"id\":\"batch_req_0123x",
                "{\"id\": \"batch_req_01"
            })
    void incomplete_line_of_another_format_is_rejected_and_the_file_is_unchanged(String text) throws IOException {
        for (boolean afterLine : new boolean[] {false, true}) {
            Path file = folder.resolve("out" + afterLine + ".jsonl");
            String whole = (afterLine ? new String(line(KEYS.getFirst()), StandardCharsets.UTF_8) : "") + text;
            Files.writeString(file, whole);
            assertThatThrownBy(() -> BatchOutput.resume(file, Clock.system()))
                    .isInstanceOf(BadInput.class)
                    .hasMessageContaining("line " + (afterLine ? 2 : 1) + " of")
                    .hasMessageContaining("was not written by roseinfer batch");
            assertThat(Files.readString(file)).isEqualTo(whole);
        }
    }

    @Test
    void incomplete_frame_of_another_format_is_rejected_and_the_file_is_unchanged() throws IOException {
        byte[] text = new byte[1 << 20];
        new Random(1).nextBytes(text);
        byte[] whole = Zstd.compress(text);
        Path file = folder.resolve("out.jsonl.zst");
        byte[] piece = Arrays.copyOf(whole, whole.length - 1);
        Files.write(file, piece);
        assertThatThrownBy(() -> BatchOutput.resume(file, Clock.system()))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("was not written by roseinfer batch");
        assertThat(Files.readAllBytes(file)).isEqualTo(piece);
    }

    @Test
    void compressed_file_that_ends_within_a_line_is_rejected() throws IOException {
        Path file = folder.resolve("out.jsonl.zst");
        Batch.write(file, new String(line(KEYS.getFirst()), StandardCharsets.UTF_8).strip());
        assertThatThrownBy(() -> BatchOutput.resume(file, Clock.system()))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("line 1 of");
    }

    @Test
    void damaged_frame_is_reported_with_its_position_and_the_file_is_unchanged() throws IOException {
        Path file = written("out.jsonl.zst");
        byte[] bytes = Files.readAllBytes(file);
        int second = (int) Zstd.findFrameCompressedSize(bytes);
        bytes[second + 40] ^= 1;
        Files.write(file, bytes);
        assertThatThrownBy(() -> BatchOutput.resume(file, Clock.system()))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("damaged after byte " + second);
        assertThat(Files.readAllBytes(file)).isEqualTo(bytes);
    }

    @Test
    void file_being_written_cannot_be_resumed() {
        Path file = folder.resolve("out.jsonl");
        try (BatchOutput output = BatchOutput.create(file, Clock.system())) {
            output.write(line(KEYS.getFirst()));
            assertThatThrownBy(() -> BatchOutput.resume(file, Clock.system()))
                    .isInstanceOf(BadInput.class)
                    .hasMessageContaining("is being written by another process");
        }
    }

    @Test
    void suffix_of_another_compression_is_rejected() {
        assertThatThrownBy(() -> BatchOutput.create(folder.resolve("out.jsonl.gz"), Clock.system()))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("only supported compression is .zst");
    }

    static boolean hasFullDevice() {
        return Files.isWritable(Path.of("/dev/full"));
    }

    @Test
    @EnabledIf("hasFullDevice")
    void full_disk_is_reported() {
        BatchOutput output = BatchOutput.create(Path.of("/dev/full"), Clock.system());
        output.write(line(KEYS.getFirst()));
        assertThatThrownBy(output::rest)
                .isInstanceOf(OutputFailed.class)
                .hasMessageContaining("--output /dev/full cannot be written: No space left on device");
    }

    /** A file on a disk that is full for one write, which is partial. */
    private static final class OnceFull implements WritableByteChannel {
        private final FileChannel file;
        private int bytesLeft;
        private boolean hasFailed;

        OnceFull(Path path, int bytesLeft) throws IOException {
            this.file = FileChannel.open(path, StandardOpenOption.CREATE_NEW, StandardOpenOption.APPEND);
            this.bytesLeft = bytesLeft;
        }

        @Override
        public int write(ByteBuffer bytes) throws IOException {
            if (hasFailed || bytes.remaining() <= bytesLeft) {
                bytesLeft -= bytes.remaining();
                return file.write(bytes);
            }
            if (bytesLeft == 0) {
                hasFailed = true;
                throw new IOException("No space left on device");
            }
            ByteBuffer part = bytes.slice(bytes.position(), bytesLeft);
            bytes.position(bytes.position() + bytesLeft);
            bytesLeft = 0;
            return file.write(part);
        }

        @Override
        public boolean isOpen() {
            return file.isOpen();
        }

        @Override
        public void close() throws IOException {
            file.close();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"out.jsonl", "out.jsonl.zst"})
    void failed_partial_write_ends_the_output(String name) throws IOException {
        int bytes = (int) Files.size(written("whole-" + name));
        for (int room = 0; room < bytes; room++) {
            Path file = folder.resolve(room + name);
            BatchOutput output = new BatchOutput(file, new OnceFull(file, room), new SeenKeys(), Batch.hasty());
            assertThatThrownBy(() -> writeAll(output))
                    .isInstanceOf(OutputFailed.class)
                    .hasMessageEndingWith("cannot be written: No space left on device");
            output.close();
            assertThat(Files.size(file)).as("room for %d bytes", room).isEqualTo(room);
            try (BatchOutput resumed = BatchOutput.resume(file, Clock.system())) {
                for (RequestKey key : KEYS) {
                    if (!resumed.keys().isWritten(key)) {
                        resumed.write(line(key));
                    }
                }
            }
            assertThat(Batch.read(file))
                    .as("room for %d bytes", room)
                    .isEqualTo(Batch.read(folder.resolve("whole-" + name)));
        }
    }

    static boolean hasSharedMemory() {
        return Files.isWritable(Path.of("/dev/shm"));
    }

    @Test
    @EnabledIf("hasSharedMemory")
    void shared_memory_file_can_be_resumed() throws IOException {
        Path shared = Files.createTempDirectory(Path.of("/dev/shm"), "roseinfer-batch");
        Path file = shared.resolve("out.jsonl");
        try {
            BatchOutput.create(file, Clock.system()).close();
            assertThatThrownBy(() -> BatchOutput.create(file, Clock.system()))
                    .isInstanceOf(BadInput.class)
                    .hasMessageContaining("exists; continue it with --resume");
        } finally {
            Files.deleteIfExists(file);
            Files.delete(shared);
        }
    }

    static boolean hasDescriptors() {
        return Files.isDirectory(Path.of("/dev/fd"));
    }

    /** Like standard output in {@code roseinfer batch -o - > file}. */
    @Test
    @EnabledIf("hasDescriptors")
    void file_that_a_shell_has_opened_is_written_to() throws IOException {
        Path file = folder.resolve("redirected");
        try (OutputStream opened = Files.newOutputStream(file);
                Stream<Path> descriptors = Files.list(Path.of("/dev/fd"))) {
            opened.write('\n');
            Path descriptor = descriptors
                    .filter(each -> Files.isRegularFile(each) && isSame(each, file))
                    .findFirst()
                    .orElseThrow();
            try (BatchOutput output = BatchOutput.create(descriptor, Clock.system())) {
                output.write(line(KEYS.getFirst()));
            }
        }
        assertThat(Files.readString(file)).isEqualTo("\n" + new String(line(KEYS.getFirst()), StandardCharsets.UTF_8));
    }

    private static boolean isSame(Path one, Path other) {
        try {
            return Files.isSameFile(one, other);
        } catch (IOException closedMeanwhile) {
            return false;
        }
    }

    @Test
    void lines_are_held_for_as_long_as_the_first_of_them_may_wait() throws IOException {
        AtomicLong seconds = new AtomicLong();
        Path file = folder.resolve("out.jsonl.zst");
        try (BatchOutput output = BatchOutput.create(file, () -> seconds.get() * 1_000_000_000)) {
            output.write(line(KEYS.getFirst()));
            seconds.set(4);
            output.write(line(KEYS.get(1)));
            output.rest();
            assertThat(file).isEmptyFile();
            seconds.set(5);
            output.rest();
            assertThat(Batch.read(file).lines()).hasSize(2);
        }
    }

    @Test
    void line_of_another_format_in_an_incomplete_frame_is_reported_with_its_number_in_the_file() throws IOException {
        byte[] text = new byte[1 << 20];
        new Random(1).nextBytes(text);
        byte[] frame = Zstd.compress(text);
        Path file = written("out.jsonl.zst");
        Files.write(file, Arrays.copyOf(frame, frame.length - 1), StandardOpenOption.APPEND);
        assertThatThrownBy(() -> BatchOutput.resume(file, Clock.system()))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("line " + (LINES + 1) + " of");
    }
}

package io.roseinfer.safetensors;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdOutputStream;
import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.checkpoint.Checkpoint;
import io.roseinfer.tensor.Tensor;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SafetensorsZstdTest {
    private static final List<String> NAMES = List.of("a", "b", "c");

    @TempDir
    private Path directory;

    @Test
    void compressed_file_reads_as_the_plain_one() throws IOException {
        int values = 400_000; // more than one decompression chunk per tensor
        byte[] plain = RawSafetensors.floats(NAMES, values);
        try (Checkpoint expected = SafetensorsFile.open(Files.write(directory.resolve("x.safetensors"), plain));
                Checkpoint actual = open(Zstd.compress(plain));
                Arena arena = Arena.ofConfined()) {
            assertThat(actual.names()).containsExactlyElementsOf(expected.names());
            for (String name : NAMES) {
                assertThat(actual.info(name)).isEqualTo(expected.info(name));
                Tensor wanted = expected.read(name, arena);
                assertThat(actual.read(name, arena).data().mismatch(wanted.data()))
                        .isEqualTo(-1);
            }
        }
    }

    @Test
    void stream_without_a_stated_size_is_read_and_left_open() throws IOException {
        ByteArrayOutputStream frame = new ByteArrayOutputStream();
        try (ZstdOutputStream out = new ZstdOutputStream(frame)) {
            out.write(RawSafetensors.floats(NAMES, 1000));
        }
        AtomicBoolean closed = new AtomicBoolean();
        ByteArrayInputStream in = new ByteArrayInputStream(frame.toByteArray()) {
            @Override
            public void close() {
                closed.set(true);
            }
        };
        try (Checkpoint source = Safetensors.openCompressed("builtin:test", in);
                Arena arena = Arena.ofConfined()) {
            assertThat(source.description()).isEqualTo("builtin:test");
            assertThat(source.read("c", arena).get(999)).isEqualTo(RawSafetensors.valueOf("c", 999));
            assertThat(closed).isFalse();
        }
    }

    @Test
    void memory_is_shared_by_source_and_readers_and_freed_by_the_last() {
        Arena owner = Arena.ofShared();
        SharedBytes bytes = new SharedBytes(owner, owner.allocate(8));
        Arena first = Arena.ofShared();
        Arena second = Arena.ofConfined();
        MemorySegment view = bytes.slice(0, 8, first);
        assertThat(bytes.slice(0, 8, second).address()).isEqualTo(view.address());
        bytes.close();
        first.close();
        assertThat(view.scope().isAlive()).isFalse();
        assertThat(owner.scope().isAlive()).isTrue();
        second.close();
        assertThat(owner.scope().isAlive()).isFalse();
    }

    @Test
    void tensor_outlives_its_source_and_the_source_closes_twice() throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            Checkpoint source = open(Zstd.compress(RawSafetensors.floats(NAMES, 10)));
            Tensor a = source.read("a", arena);
            source.close();
            source.close();
            assertThat(a.get(9)).isEqualTo(RawSafetensors.valueOf("a", 9));
        }
    }

    @Test
    void native_memory_is_freed_if_the_heap_runs_out_while_reading() {
        InputStream full = new InputStream() {
            @Override
            public int read() {
                throw new OutOfMemoryError("a full heap");
            }

            @Override
            public int read(byte[] target, int offset, int length) {
                return read();
            }
        };
        byte[] json =
                "{\"a\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,16]}}".getBytes(StandardCharsets.UTF_8);
        SafetensorsHeader header = SafetensorsHeader.parse("weights", json);
        Arena owner = Arena.ofShared();
        assertThatThrownBy(() -> new SafetensorsZstd("weights", full).data(header, owner))
                .isInstanceOf(OutOfMemoryError.class);
        assertThat(owner.scope().isAlive()).isFalse();
    }

    @Test
    void compressed_bytes_truncated_anywhere_are_rejected() {
        byte[] compressed = Zstd.compress(RawSafetensors.floats(NAMES, 50));
        for (int bytes = 0; bytes < compressed.length; bytes++) {
            byte[] cut = Arrays.copyOf(compressed, bytes);
            assertThatThrownBy(() -> open(cut)).as("%d bytes", bytes).isInstanceOf(BadModel.class);
        }
    }

    @Test
    void damaged_data_is_found_by_the_frame_checksum() throws IOException {
        ByteArrayOutputStream frame = new ByteArrayOutputStream();
        byte[] plain = RawSafetensors.floats(NAMES, 50);
        try (ZstdOutputStream out = new ZstdOutputStream(frame).setChecksum(true)) {
            out.write(plain);
        }
        byte[] bytes = frame.toByteArray();
        bytes[bytes.length - 1] ^= 1;
        assertThatThrownBy(() -> open(bytes))
                .isInstanceOf(BadModel.class)
                .hasMessageContaining("corrupt")
                .hasMessageContaining("download it again");
    }

    @Test
    void other_bytes_named_zst_are_rejected() {
        assertThatThrownBy(() -> open(RawSafetensors.floats(NAMES, 5)))
                .isInstanceOf(BadModel.class)
                .hasMessageContaining("not zstd data");
    }

    @Test
    void data_length_different_from_the_header_is_rejected() {
        byte[] plain = RawSafetensors.floats(NAMES, 5);
        assertThatThrownBy(() -> open(Zstd.compress(Arrays.copyOf(plain, plain.length - 1))))
                .isInstanceOf(BadModel.class)
                .hasMessageContaining("truncated");
        assertThatThrownBy(() -> open(Zstd.compress(Arrays.copyOf(plain, plain.length + 3))))
                .isInstanceOf(BadModel.class)
                .hasMessageContaining("3 trailing bytes");
    }

    @Test
    void implausibly_large_header_is_rejected_before_allocation() {
        String json = "{\"a\":{\"dtype\":\"F32\",\"shape\":[1099511627776],\"data_offsets\":[0,4398046511104]}}";
        byte[] bomb = Zstd.compress(RawSafetensors.file(json.getBytes(StandardCharsets.UTF_8), new byte[64]));
        assertThatThrownBy(() -> open(bomb)).isInstanceOf(BadModel.class).hasMessageContaining("thousand times");
    }

    /**
     * A frame of one raw block, written by hand, because compressing with such a window needs as much memory as the
     * window.
     */
    @ParameterizedTest
    @ValueSource(ints = {17, 27, 28, 30, 31})
    void frame_of_any_window_is_read(int windowLog) throws IOException {
        byte[] plain = RawSafetensors.floats(NAMES, 1000);
        int lastRawBlock = (plain.length << 3) | 1;
        byte[] frame = ByteBuffer.allocate(9 + plain.length)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(0xFD2FB528)
                .put((byte) 0) // neither size nor checksum
                .put((byte) ((windowLog - 10) << 3))
                .put((byte) lastRawBlock)
                .putShort((short) (lastRawBlock >> 8))
                .put(plain)
                .array();
        try (Checkpoint source = open(frame);
                Arena arena = Arena.ofConfined()) {
            assertThat(source.read("c", arena).get(999)).isEqualTo(RawSafetensors.valueOf("c", 999));
        }
    }

    private Checkpoint open(byte[] compressed) throws IOException {
        return SafetensorsZstd.open(Files.write(directory.resolve("model.safetensors.zst"), compressed));
    }
}

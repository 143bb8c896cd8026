package io.roseinfer.safetensors;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.Limits;
import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.checkpoint.Checkpoint;
import io.roseinfer.tensor.DType;
import io.roseinfer.tensor.Tensor;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.NoSuchElementException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SafetensorsFileTest {
    @TempDir
    private Path directory;

    @Test
    void tensors_are_listed_in_file_order_with_type_and_shape() throws IOException {
        String json = "{\"late\":{\"dtype\":\"F16\",\"shape\":[2,3],\"data_offsets\":[8,20]},"
                + "\"early\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}";
        try (Checkpoint source = open(RawSafetensors.file(json, 20))) {
            assertThat(source.names()).containsExactly("early", "late");
            assertThat(source.info("late")).hasValue(new Checkpoint.Info(DType.F16, new long[] {2, 3}));
            assertThat(source.info("absent")).isEmpty();
        }
    }

    @ParameterizedTest
    @CsvSource({"0", "1", "2", "3"})
    void f32_tensor_at_any_file_offset_has_the_values_of_an_aligned_copy(int padding) throws IOException {
        float[] expected = {1.5f, -0f, Float.MIN_VALUE, 3e38f};
        ByteBuffer data = ByteBuffer.allocate(16).order(ByteOrder.LITTLE_ENDIAN);
        data.asFloatBuffer().put(expected);
        String json = "{\"a\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,16]}}" + " ".repeat(padding);
        byte[] file = RawSafetensors.file(json.getBytes(StandardCharsets.UTF_8), data.array());
        try (Checkpoint source = open(file);
                Arena arena = Arena.ofConfined()) {
            float[] values = new float[4];
            source.read("a", arena).copyTo(0, values, 0, 4);
            assertThat(values).containsExactly(expected);
        }
    }

    @Test
    void every_tensor_of_a_file_is_read_at_its_offset() throws IOException {
        List<String> names = List.of("a", "b", "c");
        try (Checkpoint source = open(RawSafetensors.floats(names, 1500));
                Arena arena = Arena.ofConfined()) {
            for (String name : names) {
                Tensor tensor = source.read(name, arena);
                assertThat(tensor.elements()).isEqualTo(1500);
                assertThat(tensor.get(0)).isEqualTo(RawSafetensors.valueOf(name, 0));
                assertThat(tensor.get(1499)).isEqualTo(RawSafetensors.valueOf(name, 1499));
            }
        }
    }

    @Test
    void closing_an_arena_unmaps_only_its_tensor() throws IOException {
        try (Checkpoint source = open(RawSafetensors.floats(List.of("a", "b"), 4));
                Arena kept = Arena.ofConfined()) {
            Tensor b = source.read("b", kept);
            Arena brief = Arena.ofConfined();
            Tensor a = source.read("a", brief);
            brief.close();
            assertThat(a.data().scope().isAlive()).isFalse();
            assertThat(b.get(3)).isEqualTo(RawSafetensors.valueOf("b", 3));
        }
    }

    @Test
    void tensor_outlives_its_source_and_is_read_only() throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            Tensor a;
            try (Checkpoint source = open(RawSafetensors.floats(List.of("a"), 4))) {
                a = source.read("a", arena);
            }
            assertThat(a.get(2)).isEqualTo(RawSafetensors.valueOf("a", 2));
            assertThat(a.data().isReadOnly()).isTrue();
        }
    }

    @Test
    void tensor_of_a_non_weight_type_is_read_unchanged() throws IOException {
        String json = "{\"mask\":{\"dtype\":\"BOOL\",\"shape\":[4],\"data_offsets\":[0,4]},"
                + "\"w\":{\"dtype\":\"BF16\",\"shape\":[2],\"data_offsets\":[4,8]}}";
        try (Checkpoint source = open(RawSafetensors.file(json, 8));
                Arena arena = Arena.ofConfined()) {
            assertThat(source.info("mask")).hasValue(new Checkpoint.Info(DType.BOOL, new long[] {4}));
            assertThat(source.read("w", arena).dtype()).isEqualTo(DType.BF16);
            assertThat(source.read("mask", arena).data().byteSize()).isEqualTo(4);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"[0,7]", "[7,0]", "[4611686018427387904,0]", "[4611686018427387904,3,0]"})
    void zero_size_tensor_reads_as_no_elements(String shape) throws IOException {
        String json = "{\"z\":{\"dtype\":\"F32\",\"shape\":" + shape + ",\"data_offsets\":[0,0]}}";
        try (Checkpoint source = open(RawSafetensors.file(json, 0));
                Arena arena = Arena.ofConfined()) {
            assertThat(source.read("z", arena).elements()).isZero();
        }
    }

    @Test
    void unknown_tensor_is_no_such_element() throws IOException {
        try (Checkpoint source = open(RawSafetensors.floats(List.of("a"), 1));
                Arena arena = Arena.ofConfined()) {
            assertThatThrownBy(() -> source.read("b", arena)).isInstanceOf(NoSuchElementException.class);
        }
    }

    @Test
    void file_truncated_after_opening_is_rejected_before_mapping() throws IOException {
        Path file = write(RawSafetensors.floats(List.of("a", "b"), 4096));
        try (Checkpoint source = SafetensorsFile.open(file);
                Arena arena = Arena.ofConfined()) {
            try (RandomAccessFile cut = new RandomAccessFile(file.toFile(), "rw")) {
                cut.setLength(cut.length() / 2);
            }
            assertThatThrownBy(() -> source.read("b", arena))
                    .isInstanceOf(BadModel.class)
                    .hasMessageContaining("changed while it was being read");
        }
    }

    @Test
    void odd_tensor_name_is_escaped_in_a_message() {
        String json = "{\"\\u001b[31m\\u202e\\n\":{\"dtype\":\"F31\",\"shape\":[],\"data_offsets\":[0,4]}}";
        assertThatThrownBy(() -> open(RawSafetensors.file(json, 4)))
                .isInstanceOf(BadModel.class)
                .hasMessageContaining("tensor \"\\u001b[31m\\u202e\\u000a\"");
    }

    @Test
    void odd_name_that_the_json_parser_reports_is_escaped_too() {
        String info = ":{\"dtype\":\"I8\",\"shape\":[],\"data_offsets\":[0,1]}";
        assertThatThrownBy(() -> open(RawSafetensors.file("{\"\\n\"" + info + ",\"\\n\"" + info + "}", 4)))
                .isInstanceOf(BadModel.class)
                .hasMessageContaining("\\u000a")
                .hasMessageNotContaining("\n");
    }

    @Test
    void lone_surrogate_in_metadata_or_an_ignored_field_is_rejected() {
        for (String json : List.of(
                "{\"__metadata__\":{\"k\":\"\\ud800\"}}",
                "{\"a\":{\"dtype\":\"I8\",\"shape\":[0],\"data_offsets\":[0,0],\"note\":[\"\\udc00\"]}}")) {
            assertThatThrownBy(() -> open(RawSafetensors.file(json, 0)))
                    .as(json)
                    .isInstanceOf(BadModel.class)
                    .hasMessageContaining("unpaired surrogate");
        }
    }

    @Test
    void header_in_another_encoding_than_utf_8_is_rejected() {
        byte[] json = "{}".getBytes(StandardCharsets.UTF_16LE);
        assertThatThrownBy(() -> open(RawSafetensors.file(json, new byte[0])))
                .isInstanceOf(BadModel.class)
                .hasMessageContaining("NUL");
    }

    @Test
    void header_of_too_many_tensors_is_rejected() {
        StringBuilder json = new StringBuilder("{");
        for (int i = 0; i <= Limits.CHECKPOINT_TENSORS; i++) {
            json.append(i == 0 ? "" : ",")
                    .append("\"")
                    .append(i)
                    .append("\":{\"dtype\":\"I8\",\"shape\":[0],\"data_offsets\":[0,0]}");
        }
        assertThatThrownBy(() -> open(RawSafetensors.file(json + "}", 0)))
                .isInstanceOf(BadModel.class)
                .hasMessageContaining("too many tensors, at most 200000");
    }

    @Test
    void directory_instead_of_a_file_is_rejected() {
        assertThatThrownBy(() -> SafetensorsFile.open(directory))
                .isInstanceOf(BadModel.class)
                .hasMessageContaining("is a directory, not a file");
    }

    private Checkpoint open(byte[] bytes) throws IOException {
        return SafetensorsFile.open(write(bytes));
    }

    private Path write(byte[] bytes) throws IOException {
        return Files.write(directory.resolve("x.safetensors"), bytes);
    }

    @Test
    void endless_number_is_shown_in_part() {
        String json = "{\"z\":{\"dtype\":\"F32\",\"shape\":[" + "1".repeat(5000) + "],\"data_offsets\":[0,0]}}";
        assertThatThrownBy(() -> open(RawSafetensors.file(json, 0)))
                .isInstanceOf(BadModel.class)
                .hasMessageContaining("overflow")
                .satisfies(refusal -> assertThat(refusal.getMessage()).hasSizeLessThan(500));
    }
}

package io.roseinfer.safetensors;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.github.luben.zstd.Zstd;
import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.checkpoint.Checkpoint;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ForeignFormatTest {
    @TempDir
    private Path directory;

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            version https://git-lfs.github.com/spec/v1\\noid sha256:ab\\nsize 548105171 | git lfs pull
            <!doctype html><html><body>Log in</body></html> | an HTML page
            \\n  <HTML lang=en> | an HTML page
            <?xml version='1.0'?><Error><Code>AccessDenied</Code></Error> | an XML document
            {"error":"Repository not found"} | a JSON document
            GGUF-and-then-some | a GGUF file
            PK\u0003\u0004archive/data.pkl | a zip archive
            """)
    void text_named_safetensors_is_recognized(String text, String expected) {
        byte[] bytes = text.replace("\\n", "\n").getBytes(StandardCharsets.ISO_8859_1);
        assertRefusedAs(bytes, expected);
    }

    @Test
    void gzip_and_zstd_bytes_are_recognized() throws IOException {
        byte[] good = RawSafetensors.floats(List.of("a"), 100);
        ByteArrayOutputStream zipped = new ByteArrayOutputStream();
        try (OutputStream gzip = new GZIPOutputStream(zipped)) {
            gzip.write(good);
        }
        assertRefusedAs(zipped.toByteArray(), "gunzip");
        assertRefusedAs(Zstd.compress(good), "zstd -d");
    }

    @Test
    void sound_file_whose_length_bytes_look_like_gzip_loads() throws IOException {
        int headerBytes = 0x8b1f;
        String json = "{}" + " ".repeat(headerBytes - 2);
        try (Checkpoint source = SafetensorsFile.open(write(RawSafetensors.file(json, 0)))) {
            assertThat(source.names()).isEmpty();
        }
    }

    private void assertRefusedAs(byte[] bytes, String expected) {
        assertThatThrownBy(() -> SafetensorsFile.open(write(bytes)))
                .isInstanceOf(BadModel.class)
                .hasMessageContaining("x.safetensors: is ")
                .hasMessageContaining(expected);
    }

    private Path write(byte[] bytes) throws IOException {
        return Files.write(directory.resolve("x.safetensors"), bytes);
    }
}

package io.roseinfer.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.github.luben.zstd.ZstdInputStream;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.StrictJson;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

class ResultFileTest {
    private static final JsonNode DOCUMENT =
            StrictJson.mapper().createObjectNode().put("schema", 1);

    @TempDir
    Path folder;

    @Test
    void write_json_isOneLineOfText() throws IOException {
        Path file = folder.resolve("run.json");
        ResultFile.at("--json", file).write(DOCUMENT);
        assertThat(file).hasContent("{\"schema\":1}\n");
    }

    @Test
    void write_zst_decompressesToTheSameText() throws IOException {
        Path file = folder.resolve("run.json.zst");
        ResultFile.at("--json", file).write(DOCUMENT);
        try (InputStream in = new ZstdInputStream(Files.newInputStream(file))) {
            assertThat(new String(in.readAllBytes(), StandardCharsets.UTF_8)).isEqualTo("{\"schema\":1}\n");
        }
    }

    @Test
    void at_missingDirectory_isRefusedBeforeTheRun() {
        assertThatThrownBy(() -> ResultFile.at("--json", folder.resolve("none/run.json")))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("--json")
                .hasMessageContaining("create it first");
    }

    @Test
    void at_directory_isRefusedBeforeTheRun() {
        assertThatThrownBy(() -> ResultFile.at("--json", folder))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("is a directory");
    }
}

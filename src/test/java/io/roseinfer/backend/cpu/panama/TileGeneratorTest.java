package io.roseinfer.backend.cpu.panama;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;

class TileGeneratorTest {
    private static final Path FOLDER = Path.of("src", "main", "java", "io", "roseinfer", "backend", "cpu", "panama");

    @Test
    void the_register_tiles_in_the_sources_are_those_the_generator_writes() throws IOException {
        for (Map.Entry<String, String> file : TileGenerator.files().entrySet()) {
            assertThat(Files.readString(FOLDER.resolve(file.getKey())))
                    .as("%s; change TileTemplates, then run tools/tiles", file.getKey())
                    .isEqualTo(file.getValue());
        }
    }
}

package io.roseinfer.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.base.StrictJson;
import io.roseinfer.golden.Golden;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;

/**
 * Directories with contradictory tokenizer files, and the ids that transformers gives for each. The table is generated
 * by {@code tools/golden/tokenizer_files.py}, which explains the cases.
 */
class TransformersParityTest {
    @TempDir
    private Path directory;

    static Stream<Arguments> cases() throws IOException {
        try (InputStream in = TransformersParityTest.class.getResourceAsStream("/tokenizer/transformers.json")) {
            JsonNode table = StrictJson.parse(in.readAllBytes());
            String text = table.get("text").stringValue();
            return table.get("cases").valueStream().map(made -> Arguments.of(made, text));
        }
    }

    private static TrainedVocabulary vocabulary() {
        List<String> tokens = new ArrayList<>();
        IntStream.range(0, 256).forEach(value -> tokens.add(String.valueOf(ByteAlphabet.symbol(value))));
        tokens.add("oĠ");
        return new TrainedVocabulary(tokens, List.of(List.of("o", "Ġ")));
    }

    private void write(JsonNode made) throws IOException {
        for (var file : made.get("files").properties()) {
            Files.writeString(directory.resolve(file.getKey()), file.getValue().toString());
        }
        JsonNode tokenizer = made.get("tokenizer");
        if (tokenizer.isNull()) {
            Files.writeString(
                    directory.resolve("vocab.json"),
                    TrainedVocabulary.json(vocabulary().ids()));
            Files.writeString(directory.resolve("merges.txt"), vocabulary().mergesTxt());
        } else {
            TreeMap<String, Object> root = vocabulary().tokenizerJson();
            tokenizer.properties().forEach(field -> root.put(field.getKey(), field.getValue()));
            Files.writeString(directory.resolve("tokenizer.json"), TrainedVocabulary.json(root));
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("cases")
    void ids_equal_transformers(JsonNode made, String text) throws IOException {
        write(made);
        Tokenizer tokenizer = Tokenizers.fromDirectory(directory).orElseThrow();
        assertThat(tokenizer.encode(text)).isEqualTo(Golden.ints(made.get("ids")));
        if (!made.get("end_of_text").isNull()) {
            assertThat(tokenizer.endOfText())
                    .isEqualTo(OptionalInt.of(made.get("end_of_text").intValue()));
        }
    }
}

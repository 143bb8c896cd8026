package io.roseinfer.server.api;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.files.ModelFiles;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class StopConditionReaderTest {
    private static final ModelSpec SPEC = spec();
    private final StopConditionReader reader = new StopConditionReader(SPEC, Optional.empty());

    private static ModelSpec spec() {
        try (ModelFiles files = ModelFiles.openBuiltin("tiny")) {
            return files.spec();
        }
    }

    @Test
    void last_token_of_the_vocabulary_is_accepted() {
        reader.requireInVocabulary("prompt", 0, SPEC.vocabularySize() - 1);
    }

    @Test
    void token_id_equal_to_the_size_of_the_vocabulary_is_rejected() {
        int size = SPEC.vocabularySize();
        assertThatThrownBy(() -> reader.requireInVocabulary("prompt", 0, size))
                .isInstanceOf(ApiError.class)
                .hasMessageContaining("prompt has token id " + size + "; ids of this model are 0 to " + (size - 1));
    }
}

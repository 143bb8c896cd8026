package io.roseinfer.tokenizer;

import ai.djl.huggingface.tokenizers.Encoding;
import ai.djl.huggingface.tokenizers.HuggingFaceTokenizer;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;

/**
 * Hugging Face's tokenizer as the reference. Its native library is extracted from its jar to {@code target}, without
 * network. If it cannot run, tests are skipped with the reason, or fail if ROSEINFER_REQUIRE_ORACLE is 1.
 */
final class HuggingFace implements AutoCloseable {
    private final HuggingFaceTokenizer tokenizer;

    private HuggingFace(HuggingFaceTokenizer tokenizer) {
        this.tokenizer = tokenizer;
    }

    /** A tokenizer that adds no special tokens around a text. */
    static HuggingFace load(String tokenizerJson) {
        return load(tokenizerJson, false);
    }

    static HuggingFace load(String tokenizerJson, boolean specialTokensAround) {
        System.setProperty("ai.djl.offline", "true");
        System.setProperty(
                "DJL_CACHE_DIR", Path.of("target", "djl-cache").toAbsolutePath().toString());
        var options = Map.of(
                "addSpecialTokens", String.valueOf(specialTokensAround), "truncation", "false", "padding", "false");
        var json = new ByteArrayInputStream(tokenizerJson.getBytes(StandardCharsets.UTF_8));
        try {
            return new HuggingFace(HuggingFaceTokenizer.newInstance(json, options));
        } catch (IOException | LinkageError | IllegalStateException e) {
            String reason = "Hugging Face's native tokenizer does not run on this machine: " + e;
            if ("1".equals(System.getenv("ROSEINFER_REQUIRE_ORACLE"))) {
                throw new AssertionError(reason, e);
            }
            return Assumptions.abort(reason);
        }
    }

    int[] encode(String text) {
        return Arrays.stream(tokenizer.encode(text).getIds())
                .mapToInt(Math::toIntExact)
                .toArray();
    }

    /** The number of the word that each byte-level token belongs to. */
    long[] words(String text) {
        Encoding encoding = tokenizer.encode(text);
        return encoding.getWordIds();
    }

    String decode(int[] ids) {
        return decode(ids, false);
    }

    String decode(int[] ids, boolean skipSpecialTokens) {
        return tokenizer.decode(Arrays.stream(ids).asLongStream().toArray(), skipSpecialTokens);
    }

    @Override
    public void close() {
        tokenizer.close();
    }
}

package io.roseinfer.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.Limits;
import io.roseinfer.base.RoseException.BadInput;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The built-in GPT-2 vocabulary. */
@Tag("parity")
class Gpt2TokenizerTest {
    private static final Tokenizer GPT2 = Tokenizers.gpt2();

    /** Widely known ids of OpenAI's {@code encoder.py}. */
    @Test
    void well_known_texts_have_their_well_known_ids() {
        assertThat(GPT2.encode("Hello, world!")).containsExactly(15496, 11, 995, 0);
        assertThat(GPT2.encode("Hello, my dog is cute")).containsExactly(15496, 11, 616, 3290, 318, 13779);
    }

    @Test
    void vocabulary_is_gpt2s() {
        assertThat(GPT2.vocabularySize()).isEqualTo(50257);
        assertThat(GPT2.endOfText()).hasValue(50256);
        assertThat(GPT2.vocabulary().isSpecial(50256)).isTrue();
        assertThat(GPT2.addedTokens()).extracting(AddedToken::content).containsExactly("<|endoftext|>");
        assertThat(GPT2.warnings()).isEmpty();
    }

    @Test
    void bytes_of_every_id_equal_jtokkits() {
        for (int id = 0; id < 50256; id++) {
            assertThat(GPT2.bytes(id)).as("id %d", id).isEqualTo(Gpt2Json.JTOKKIT.decodeBytes(Gpt2Json.list(id)));
        }
    }

    @Test
    void ordinary_ids_equal_jtokkits() {
        Texts texts = new Texts(31, "<|endoftext|>");
        for (int i = 0; i < 12_000; i++) {
            String text = texts.next();
            assertThat(GPT2.encodeOrdinary(text))
                    .as("seed 31 text %d: %s", i, text)
                    .isEqualTo(Gpt2Json.JTOKKIT.encodeOrdinary(text).toArray());
        }
    }

    @Test
    void random_texts_are_decoded_from_their_ids() {
        Texts texts = new Texts(32, "<|endoftext|>", "\0", "\r\n");
        for (int i = 0; i < 12_000; i++) {
            String text = texts.next();
            assertThat(GPT2.decode(GPT2.encode(text))).as("seed 32 text %d", i).isEqualTo(text);
            assertThat(GPT2.decode(GPT2.encodeOrdinary(text)))
                    .as("seed 32 text %d", i)
                    .isEqualTo(text);
        }
    }

    @Test
    void special_token_in_text_is_its_id_and_in_ordinary_text_is_text() {
        assertThat(GPT2.encode("a<|endoftext|>b")).containsExactly(64, 50256, 65);
        assertThat(GPT2.encodeOrdinary("a<|endoftext|>b")).doesNotContain(50256).hasSizeGreaterThan(4);
    }

    @Test
    void empty_text_has_no_ids() {
        assertThat(GPT2.encode("")).isEmpty();
        assertThat(GPT2.decode(new int[0])).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"'\0', 188", "' ', 220", "'\n', 198", "'\r\n', 201 198", "'   ', 220 220 220", "'e\u0301', 68 136 223"})
    void odd_texts_have_exact_ids(String text, String ids) {
        assertThat(IntStream.of(GPT2.encode(text)).mapToObj(Integer::toString)).containsExactly(ids.split(" "));
    }

    @ParameterizedTest
    @ValueSource(strings = {"\ud800", "a\udc00b", "\udc00\ud800", "ok \ud83d"})
    void unpaired_surrogate_is_rejected_with_its_position(String text) {
        assertThatThrownBy(() -> GPT2.encode(text))
                .isInstanceOf(BadInput.class)
                .hasMessageMatching(".*unpaired surrogate U\\+D[8C]?[03][0D] at character \\d.*");
        assertThatThrownBy(() -> GPT2.encodeOrdinary(text)).isInstanceOf(BadInput.class);
    }

    @Test
    void text_beyond_the_limit_is_bad_input() {
        String text = "a".repeat(Limits.PROMPT_CHARS + 1);
        assertThatThrownBy(() -> GPT2.encode(text))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("at most 16777216");
    }

    @ParameterizedTest
    @ValueSource(strings = {"a", " ", "1", "\n", "'", "é", "漢", "👍", "<|endoftext|>", "<", "ab c"})
    void megabyte_of_one_character_is_encoded_and_decoded(String unit) {
        String text = unit.repeat((1 << 20) / unit.length());
        assertThat(GPT2.decode(GPT2.encode(text)).equals(text))
                .as("1 MB of %s", unit)
                .isTrue();
    }

    @Test
    void ids_without_a_token_decode_to_an_empty_string() {
        assertThat(GPT2.decode(new int[] {64, 50257, -1, Integer.MAX_VALUE, Integer.MIN_VALUE, 65}))
                .isEqualTo("ab");
    }

    @Test
    void model_with_fewer_or_more_ids_than_the_tokenizer_is_a_warning() {
        assertThat(GPT2.misfit(50257)).isEmpty();
        assertThat(GPT2.misfit(50304))
                .hasValueSatisfying(line ->
                        assertThat(line).contains("largest token id is 50256", "vocab_size is 50304", "no text"));
        assertThat(GPT2.misfit(50256))
                .hasValueSatisfying(line ->
                        assertThat(line).contains("largest token id is 50256", "vocab_size is 50256", "rejected"));
    }

    @Test
    void threads_sharing_a_tokenizer_get_the_same_ids() throws InterruptedException, ExecutionException {
        Texts texts = new Texts(33);
        List<String> shared =
                IntStream.range(0, 500).mapToObj(i -> texts.next()).toList();
        List<int[]> alone = shared.stream().map(GPT2::encode).toList();
        try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
            List<Future<List<int[]>>> together = IntStream.range(0, 4)
                    .mapToObj(i -> threads.submit(
                            () -> shared.stream().map(GPT2::encode).toList()))
                    .toList();
            for (Future<List<int[]>> ids : together) {
                assertThat(ids.get()).usingRecursiveComparison().isEqualTo(alone);
            }
        }
    }
}

package io.roseinfer.tokenizer;

import static io.roseinfer.tokenizer.TrainedVocabulary.added;
import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.base.Utf16;
import java.util.Random;
import org.junit.jupiter.api.Test;

class DetokenizerTest {
    private static final Tokenizer GPT2 = Tokenizers.gpt2();
    private static final int FREE = SampleTokenizer.FREE;

    @Test
    void pieces_of_random_ids_add_up_to_decode_without_partial_characters() {
        for (int seed = 0; seed < 3_000; seed++) {
            Random random = new Random(seed);
            int[] ids = random.ints(random.nextInt(40), 0, 512)
                    .map(id -> id < 256 ? id : id * 99)
                    .toArray();
            Detokenizer detokenizer = GPT2.detokenizer(false);
            StringBuilder text = new StringBuilder();
            for (int id : ids) {
                String piece = detokenizer.push(id);
                assertThat(Utf16.unpairedSurrogate(piece)).as("seed %d", seed).isNegative();
                text.append(piece);
            }
            text.append(detokenizer.flush());
            assertThat(text).as("seed %d", seed).hasToString(GPT2.decode(ids));
        }
    }

    @Test
    void pieces_of_text_are_the_text_with_no_replacement_on_the_way() {
        Texts texts = new Texts(61, "👩‍👩‍👧‍👦", "漢字");
        for (int i = 0; i < 3_000; i++) {
            String text = texts.next();
            Detokenizer detokenizer = GPT2.detokenizer(false);
            StringBuilder sofar = new StringBuilder();
            for (int id : GPT2.encode(text)) {
                detokenizer.push(id, sofar);
                assertThat(text).as("seed 61 text %d", i).startsWith(sofar);
            }
            assertThat(detokenizer.flush()).as("seed 61 text %d", i).isEmpty();
            assertThat(sofar).as("seed 61 text %d", i).hasToString(text);
        }
    }

    @Test
    void character_split_over_tokens_is_held_back_until_complete() {
        int[] ids = GPT2.encode("🜁");
        assertThat(ids).hasSizeGreaterThan(1);
        Detokenizer detokenizer = GPT2.detokenizer(false);
        for (int i = 0; i < ids.length - 1; i++) {
            assertThat(detokenizer.push(ids[i])).isEmpty();
        }
        assertThat(detokenizer.push(ids[ids.length - 1])).isEqualTo("🜁");
    }

    @Test
    void flush_emits_one_replacement_for_an_incomplete_character_and_starts_a_new_text() {
        Detokenizer detokenizer = GPT2.detokenizer(false);
        assertThat(detokenizer.push(GPT2.encode("🜁")[0])).isEmpty();
        assertThat(detokenizer.flush()).isEqualTo("\ufffd");
        assertThat(detokenizer.flush()).isEmpty();
        assertThat(detokenizer.push(64)).isEqualTo("a");
    }

    @Test
    void ids_without_a_token_decode_to_an_empty_string_and_are_counted() {
        Detokenizer detokenizer = GPT2.detokenizer(true);
        for (int id : new int[] {50257, -1, Integer.MIN_VALUE, Integer.MAX_VALUE, 64}) {
            assertThat(detokenizer.push(id)).isEqualTo(id == 64 ? "a" : "");
        }
        assertThat(detokenizer.unknownIds()).isEqualTo(4);
    }

    @Test
    void unknown_id_within_a_character_does_not_break_it() {
        int[] ids = GPT2.encode("🜁");
        Detokenizer detokenizer = GPT2.detokenizer(false);
        StringBuilder text = new StringBuilder();
        for (int id : ids) {
            detokenizer.push(99_999, text);
            detokenizer.push(id, text);
        }
        assertThat(text).hasToString("🜁");
    }

    @Test
    void special_tokens_are_text_or_skipped_and_other_added_tokens_are_kept() {
        Tokenizer tokenizer = SampleTokenizer.with(added(FREE, "<s>", "special"), added(FREE + 1, "żź"));
        int[] ids = tokenizer.encode("a<s>żź");
        assertThat(tokenizer.decode(ids)).isEqualTo("a<s>żź");
        Detokenizer skipping = tokenizer.detokenizer(true);
        assertThat(skipping.push(ids[0]) + skipping.push(ids[1]) + skipping.push(ids[2]))
                .isEqualTo("ażź");
        assertThat(skipping.unknownIds()).isZero();
    }
}

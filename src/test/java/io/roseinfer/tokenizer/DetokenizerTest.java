package io.roseinfer.tokenizer;

import static io.roseinfer.tokenizer.TrainedVocabulary.added;
import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.base.Utf16;
import java.util.BitSet;
import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;
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

    /** A space, a letter and their byte-fallback tokens; one space is removed from a text's beginning. */
    private static Detokenizer dropping() {
        SortedMap<Integer, byte[]> tokens = new TreeMap<>();
        for (int id = 0; id < 4; id++) {
            tokens.put(id, new byte[] {(byte) (id % 2 == 0 ? ' ' : 'a')});
        }
        BitSet fallback = new BitSet();
        fallback.set(2, 4);
        Vocabulary.Kinds kinds = new Vocabulary.Kinds(new BitSet(), fallback, new BitSet());
        return new Detokenizer(Vocabulary.of(tokens, kinds, new TokenDecoder.TextStart(' ', 1, false)), true);
    }

    @Test
    void flush_drops_the_beginning_of_a_text_that_was_held_back() {
        Detokenizer detokenizer = dropping();
        assertThat(detokenizer.push(2)).isEmpty();
        assertThat(detokenizer.push(3)).isEmpty();
        assertThat(detokenizer.flush()).isEqualTo("a");
    }

    @Test
    void as_many_characters_are_dropped_after_a_flush_as_before() {
        Detokenizer detokenizer = dropping();
        for (int text = 0; text < 3; text++) {
            assertThat(detokenizer.push(0)).as("text %d", text).isEmpty();
            assertThat(detokenizer.push(0)).as("text %d", text).isEqualTo(" ");
            assertThat(detokenizer.push(1)).as("text %d", text).isEqualTo("a");
            assertThat(detokenizer.flush()).isEmpty();
        }
    }

    @Test
    void unfinished_text_is_what_flush_returns_later() {
        Detokenizer detokenizer = dropping();
        detokenizer.push(2);
        assertThat(detokenizer.unfinished()).isEmpty();
        detokenizer.push(2);
        detokenizer.push(3);
        for (int call = 0; call < 2; call++) {
            assertThat(detokenizer.unfinished()).as("call %d", call).isEqualTo(" a");
        }
        assertThat(detokenizer.flush()).isEqualTo(" a");
        assertThat(detokenizer.unfinished()).isEmpty();
    }

    @Test
    void unfinished_text_after_a_complete_beginning_is_not_dropped() {
        Detokenizer detokenizer = dropping();
        assertThat(detokenizer.push(1)).isEqualTo("a");
        detokenizer.push(2);
        assertThat(detokenizer.unfinished()).isEqualTo(" ");
        assertThat(detokenizer.flush()).isEqualTo(" ");
    }
}

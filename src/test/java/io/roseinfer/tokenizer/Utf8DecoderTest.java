package io.roseinfer.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class Utf8DecoderTest {

    private static String decode(byte... bytes) {
        Utf8Decoder decoder = new Utf8Decoder();
        StringBuilder text = new StringBuilder();
        for (byte value : bytes) {
            decoder.accept(value & 0xff, text);
        }
        decoder.finish(text);
        return text.toString();
    }

    @Test
    void every_code_point_decodes_to_itself() {
        for (int c = 0; c <= Character.MAX_CODE_POINT; c++) {
            if (c < 0xd800 || c > 0xdfff) {
                String text = Character.toString(c);
                assertThat(decode(text.getBytes(StandardCharsets.UTF_8)).equals(text))
                        .as("U+%04X", c)
                        .isTrue();
            }
        }
    }

    /** Tables 3-8 to 3-11 of Unicode 16, section 3.9; "-" stands for U+FFFD. */
    @ParameterizedTest
    @CsvSource({
        "C0 AF E0 80 BF F0 81 82 41, --------A",
        "ED A0 80 ED BF BF ED AF 41, --------A",
        "F4 91 92 93 FF 41 80 BF 42, -----A--B",
        "E1 80 E2 F0 91 92 F1 BF 41, ----A",
        "61 F1 80 80 E1 80 C2 62 80 63 80 BF 64, a---b-c--d",
        "F0 9F 98, -",
        "F5 80 FE 41, ---A"
    })
    void ill_formed_bytes_become_one_replacement_per_maximal_subpart(String hex, String expected) {
        byte[] bytes = HexFormat.ofDelimiter(" ").parseHex(hex);
        assertThat(decode(bytes)).isEqualTo(expected.replace('-', '\ufffd'));
    }

    @Test
    void character_is_emitted_once_complete() {
        Utf8Decoder decoder = new Utf8Decoder();
        StringBuilder text = new StringBuilder();
        byte[] emoji = "👍".getBytes(StandardCharsets.UTF_8);
        for (int i = 0; i < 3; i++) {
            decoder.accept(emoji[i] & 0xff, text);
            assertThat(text).isEmpty();
        }
        decoder.accept(emoji[3] & 0xff, text);
        assertThat(text).hasToString("👍");
    }

    @Test
    void text_after_a_reset_has_neither_the_incomplete_character_nor_the_ill_formed_bytes_before_it() {
        Utf8Decoder decoder = new Utf8Decoder();
        StringBuilder text = new StringBuilder();
        decoder.accept(0xff, text);
        decoder.accept(0xf0, text);
        assertThat(decoder.sawIllFormed()).isTrue();
        decoder.reset();
        assertThat(decoder.sawIllFormed()).isFalse();
        assertThat(decoder.unfinished()).isEmpty();
    }
}

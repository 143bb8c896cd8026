package io.roseinfer.batch;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LineReaderTest {
    private static LineReader reader(String text, int most) {
        return new LineReader(new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)), most);
    }

    private static String line(LineReader reader) {
        return new String(reader.line(), StandardCharsets.UTF_8);
    }

    /** A stream that returns an arbitrary number of bytes at a time. */
    private static InputStream slow(byte[] bytes, Random random) {
        return new ByteArrayInputStream(bytes) {
            @Override
            public synchronized int read(byte[] into, int offset, int length) {
                return super.read(into, offset, Math.min(length, 1 + random.nextInt(7)));
            }
        };
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void lines_do_not_depend_on_how_the_bytes_arrive(long seed) throws IOException {
        Random random = new Random(seed);
        List<String> expected = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            expected.add("x".repeat(random.nextInt(12)));
        }
        expected.add("the last");
        String text = String.join("\n", expected) + (seed % 2 == 0 ? "\n" : "");
        LineReader reader = new LineReader(slow(text.getBytes(StandardCharsets.UTF_8), random), 100);
        List<String> seen = new ArrayList<>();
        while (reader.next()) {
            seen.add(line(reader));
            assertThat(reader.number()).isEqualTo(seen.size());
            assertThat(reader.isTerminated()).isEqualTo(seen.size() < expected.size() || seed % 2 == 0);
        }
        assertThat(seen).as("seed %d", seed).isEqualTo(expected);
        assertThat(reader.end()).isEqualTo(text.length());
    }

    @Test
    void too_long_line_is_truncated_and_the_next_line_is_complete() throws IOException {
        LineReader reader = reader("a".repeat(200_000) + "\nnext\n12345\n123456", 5);
        assertThat(reader.next()).isTrue();
        assertThat(reader.isTooLong()).isTrue();
        assertThat(line(reader)).isEqualTo("aaaaa");
        assertThat(reader.end()).isEqualTo(200_001);
        assertThat(reader.next()).isTrue();
        assertThat(reader.isTooLong()).isFalse();
        assertThat(line(reader)).isEqualTo("next");
        assertThat(reader.next()).isTrue();
        assertThat(reader.isTooLong()).isFalse();
        assertThat(reader.next()).isTrue();
        assertThat(reader.isTooLong()).isTrue();
        assertThat(reader.next()).isFalse();
    }

    @Test
    void empty_file_has_no_line_and_a_newline_has_one() throws IOException {
        assertThat(reader("", 5).next()).isFalse();
        LineReader reader = reader("\n", 5);
        assertThat(reader.next()).isTrue();
        assertThat(reader.line()).isEmpty();
        assertThat(reader.next()).isFalse();
    }
}

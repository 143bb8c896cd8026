package io.roseinfer.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.roseinfer.base.StrictJson;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ByteSinkTest {
    private static String text(ByteSink sink) {
        ByteBuf copy = Unpooled.buffer();
        sink.copyTo(copy);
        return copy.toString(StandardCharsets.UTF_8);
    }

    @Test
    void text_is_escaped_like_the_json_library() {
        long seed = 20_261_123;
        Random random = new Random(seed);
        ByteSink sink = new ByteSink();
        for (int round = 0; round < 2000; round++) {
            int[] points = random.ints(random.nextInt(20), 0, 4)
                    .map(kind -> switch (kind) {
                        case 0 -> random.nextInt(0x20);
                        case 1 -> "\"\\/<é€\u2028\u007f".charAt(random.nextInt(8));
                        case 2 -> 0x1f600 + random.nextInt(64);
                        default -> random.nextInt(0x20, 0x7f);
                    })
                    .toArray();
            String text = new String(points, 0, points.length);
            sink.clear();
            sink.putJson(text);
            String expected = StrictJson.mapper().writeValueAsString(text);
            assertThat("\"" + text(sink) + "\"")
                    .as("seed %d, round %d", seed, round)
                    .isEqualTo(expected);
        }
    }

    @Test
    void sink_grows_as_needed() {
        ByteSink sink = new ByteSink();
        StringBuilder all = new StringBuilder();
        for (int i = 0; i < 100; i++) {
            String piece = "\u0001".repeat(i * 37);
            sink.putJson(piece);
            sink.put("|".getBytes(StandardCharsets.US_ASCII));
            all.append("\\u0001".repeat(i * 37)).append('|');
        }
        assertThat(sink.size()).isEqualTo(all.length());
        assertThat(text(sink)).isEqualTo(all.toString());
    }

    @Test
    void numbers_are_decimal() {
        ByteSink sink = new ByteSink();
        StringBuilder all = new StringBuilder();
        for (int number : new int[] {0, 9, 10, 99, 100, 151_936, Integer.MAX_VALUE}) {
            sink.putNumber(number);
            all.append(number);
        }
        assertThat(text(sink)).isEqualTo(all.toString());
    }
}

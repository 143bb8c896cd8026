package io.roseinfer.bench.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.base.StrictJson;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ServerClockTest {
    private static final String STAMPS = """
            {"boot_id":"%s","body_ns":103,"parsed_ns":105,"tokenized_ns":106,"choices":[{"index":0,"admitted_ns":110,
             "engine":1,"cached_tokens":4,"steps":[7,8],"sampled_ns":[130,141],"read_ns":[132,142],"written_ns":[135,143]}]}
            """;

    private static Optional<ServerStamps> read(ServerClock clock, String boot) {
        return clock.stamps(StrictJson.parse(STAMPS.formatted(boot).getBytes(StandardCharsets.UTF_8)));
    }

    @Test
    void timestamps_of_one_boot_are_used_unchanged() {
        assertThat(read(new ServerClock("here", 1000, 5), "here"))
                .hasValue(new ServerStamps(
                        103,
                        105,
                        106,
                        110,
                        new long[] {130, 141},
                        new long[] {132, 142},
                        new long[] {135, 143},
                        new ServerStamps.Served(1, 4)));
    }

    @Test
    void timestamps_of_another_machine_are_shifted_by_the_clock_offset() {
        ServerStamps stamps = read(new ServerClock("here", 100, 5), "there").orElseThrow();
        assertThat(stamps.receivedNanos()).isEqualTo(3);
        assertThat(stamps.writtenNanos()).containsExactly(35L, 43L);
    }

    @Test
    void timestamps_of_an_unknown_clock_are_omitted() {
        assertThat(read(new ServerClock("here", 0, -1), "there")).isEmpty();
        assertThat(read(new ServerClock("", 0, -1), "")).isEmpty();
    }

    @Test
    void timestamp_events_are_kept_and_are_not_tokens() {
        Call call = Recorded.call(5, 2);
        CallResult result = new Recorded()
                .raw(39, Recorded.HEAD)
                .ids(40, 1)
                .ids(50, 1)
                .usage(51, 5, 2)
                .events(
                        51,
                        "data: {\"choices\":[],\"stamps\":"
                                + STAMPS.formatted("x").replace("\n", "") + "}\n\n")
                .done(51)
                .read(call, Integer.MAX_VALUE);
        assertThat(result.isComplete()).isTrue();
        assertThat(result.tokens()).isEqualTo(2);
        assertThat(call.rawStamps.orElseThrow().path("boot_id").asString("")).isEqualTo("x");
    }
}

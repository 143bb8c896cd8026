package io.roseinfer.bench.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.bench.http.CallResult.Counted;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Responses with known arrival times, so every metric is exact. */
class ResponseReaderTest {
    /** Eight tokens: the first after 40 ms, the others 10 ms apart. */
    private static Recorded eightTokens() {
        Recorded response = new Recorded().raw(39, Recorded.HEAD);
        IntStream.range(0, 8).forEach(token -> response.ids(40 + 10 * token, 1));
        return response.usage(111, 5, 8).done(112);
    }

    @Test
    void stream_of_single_tokens_has_the_scripted_latencies() {
        CallResult call = eightTokens().read();
        assertThat(call.error()).isEmpty();
        assertThat(call.tokens()).isEqualTo(8);
        assertThat(call.ttftNanos()).hasValue(40e6);
        assertThat(call.ttftFromDueNanos()).hasValue(43e6);
        assertThat(call.tokenTimes().tpotNanos()).hasValue(10e6);
        assertThat(call.tokenTimes().itlNanos()).hasSize(7).containsOnly(10e6);
        assertThat(call.latencyNanos()).isEqualTo(110e6);
        assertThat(call.latencyFromDueNanos()).isEqualTo(113e6);
        assertThat(call.lagNanos()).isEqualTo(2_000_000);
        assertThat(call.heldNanos()).isEqualTo(1_000_000);
        assertThat(call.times().endNanos()).isEqualTo(Recorded.SENT + 112 * Recorded.MILLI);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 7, 64})
    void bytes_split_anywhere_are_parsed_the_same(int maxBytes) {
        assertThat(eightTokens().read(Recorded.call(5, 8), maxBytes))
                .isEqualTo(eightTokens().read());
    }

    /** The server generates a token every 10 ms, sends the first immediately and then four per event. */
    @Test
    void grouped_tokens_keep_every_metric() {
        Recorded four = new Recorded().raw(39, Recorded.HEAD).ids(40, 1);
        Recorded one = new Recorded().raw(39, Recorded.HEAD).ids(40, 1);
        for (int event = 1; event <= 4; event++) {
            four.ids(40 + 40 * event, 4);
        }
        for (int token = 1; token <= 16; token++) {
            one.ids(40 + 10 * token, 1);
        }
        CallResult byFour = four.usage(201, 5, 17).done(201).read(Recorded.call(5, 17), Integer.MAX_VALUE);
        CallResult byOne = one.usage(201, 5, 17).done(201).read(Recorded.call(5, 17), Integer.MAX_VALUE);
        assertThat(byFour.tokens()).isEqualTo(byOne.tokens()).isEqualTo(17);
        assertThat(byFour.ttftNanos()).isEqualTo(byOne.ttftNanos());
        assertThat(byFour.tokenTimes().tpotNanos()).isEqualTo(byOne.tokenTimes().tpotNanos());
        assertThat(byFour.tokenTimes().itlNanos()).isEqualTo(byOne.tokenTimes().itlNanos());
    }

    @Test
    void events_of_one_read_share_a_timestamp() {
        CallResult call = new Recorded()
                .raw(1, Recorded.HEAD)
                .events(5, "data: {\"choices\":[{\"text\":\"a\",\"token_ids\":[1]}]}\n\n".repeat(8))
                .usage(6, 5, 8)
                .done(6)
                .read();
        assertThat(call.tokens()).isEqualTo(8);
        assertThat(call.tokenTimes().itlNanos()).hasSize(7).containsOnly(0);
    }

    @Test
    void running_usage_counts_tokens_without_ids() {
        Recorded response = new Recorded().raw(1, Recorded.HEAD);
        int[] soFar = {1, 4, 4, 8};
        for (int i = 0; i < soFar.length; i++) {
            response.events(
                    10 * (i + 1),
                    "data: {\"choices\":[{\"text\":\"x\"}],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":"
                            + soFar[i] + ",\"total_tokens\":" + (5 + soFar[i]) + "}}\n\n");
        }
        CallResult call = response.usage(41, 5, 8).done(41).read();
        assertThat(call.arrivals().counted()).isEqualTo(Counted.RUNNING_USAGE);
        assertThat(call.arrivals().tokens()).containsExactly(1, 3, 4);
        assertThat(Arrays.stream(call.tokenTimes().itlNanos()).sum()).isEqualTo(30e6);
        assertThat(call.tokenTimes().itlNanos()).hasSize(7);
    }

    @Test
    void equal_event_and_token_counts_mean_one_token_per_event() {
        Recorded response = new Recorded().raw(1, Recorded.HEAD);
        IntStream.range(0, 8).forEach(token -> response.text(10 + token, token == 3 ? "" : "t"));
        CallResult call = response.events(17, "data: {\"choices\":[{\"text\":\"\",\"finish_reason\":\"length\"}]}\n\n")
                .usage(18, 5, 8)
                .done(18)
                .read();
        assertThat(call.arrivals().counted()).isEqualTo(Counted.TOTAL);
        assertThat(call.tokenTimes().itlNanos()).hasSize(7).containsOnly(1e6);
    }

    @Test
    void events_of_unknown_size_have_a_total_but_no_itl() {
        CallResult call = new Recorded()
                .raw(1, Recorded.HEAD)
                .text(10, "four tokens here ")
                .text(80, "and four there")
                .usage(81, 5, 8)
                .done(81)
                .read();
        assertThat(call.arrivals().counted()).isEqualTo(Counted.NOT);
        assertThat(call.tokens()).isEqualTo(8);
        assertThat(call.ttftNanos()).hasValue(10e6);
        assertThat(call.tokenTimes().tpotNanos()).hasValue(10e6);
        assertThat(call.tokenTimes().itlNanos()).isEmpty();
    }

    @Test
    void chat_role_event_is_not_a_token() {
        CallResult call = new Recorded()
                .raw(1, Recorded.HEAD)
                .events(
                        5,
                        "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"},\"token_ids\":[]}]}\n\n")
                .events(9, "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"},\"token_ids\":[7]}]}\n\n")
                .usage(10, 5, 1)
                .done(10)
                .read();
        assertThat(call.ttftNanos()).hasValue(9e6);
        assertThat(call.tokens()).isEqualTo(1);
    }

    private static String delta(String content) {
        return "data: {\"choices\":[{\"index\":0,\"delta\":{" + content + "},\"finish_reason\":null}]}\n\n";
    }

    /** A chat response without token ids: the role first, empty events between tokens, usage after the last token. */
    private static CallResult chat(int tokens) {
        Recorded response =
                new Recorded().raw(5, Recorded.HEAD).events(5, delta("\"role\":\"assistant\",\"content\":\"\""));
        for (int token = 0; token < 8; token++) {
            response.events(40 + 10 * token, delta("\"content\":\"t\"")).events(45 + 10 * token, delta(""));
        }
        return response.events(118, "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"length\"}]}\n\n")
                .usage(119, 5, tokens)
                .done(119)
                .read(Recorded.call(5, tokens), Integer.MAX_VALUE);
    }

    @Test
    void only_events_with_text_are_tokens_if_usage_matches_their_count() {
        CallResult call = chat(8);
        assertThat(call.arrivals().counted()).isEqualTo(Counted.TOTAL);
        assertThat(call.ttftNanos()).hasValue(40e6);
        assertThat(call.tokenTimes().tpotNanos()).hasValue(10e6);
        assertThat(call.tokenTimes().itlNanos()).hasSize(7).containsOnly(10e6);
        assertThat(call.latencyNanos()).isEqualTo(118e6);
        assertThat(UsageCheck.contradiction(call, true)).isEmpty();
    }

    /** The text of a token arrives with the next one, so every empty event except the role is a token. */
    @Test
    void empty_event_is_a_token_if_usage_counts_it() {
        CallResult call = chat(16);
        assertThat(call.arrivals().counted()).isEqualTo(Counted.TOTAL);
        assertThat(call.ttftNanos()).hasValue(40e6);
        assertThat(call.tokenTimes().itlNanos()).hasSize(15).containsOnly(5e6);
    }

    @Test
    void first_text_is_the_first_token_if_counts_are_unknown() {
        CallResult call = chat(33);
        assertThat(call.arrivals().counted()).isEqualTo(Counted.NOT);
        assertThat(call.ttftNanos()).hasValue(40e6);
        assertThat(call.tokens()).isEqualTo(33);
        assertThat(call.tokenTimes().itlNanos()).isEmpty();
    }

    @Test
    void chunks_with_extensions_and_a_trailer_are_read() {
        String event = "data: {\"choices\":[{\"text\":\"a\",\"token_ids\":[1]}]}\n\n";
        CallResult call = new Recorded()
                .raw(1, "HTTP/1.1 100 Continue\r\n\r\n" + Recorded.HEAD)
                .raw(5, "00" + Integer.toHexString(event.length()) + ";part=\"1\"; last\r\n" + event + "\r\n")
                .usage(6, 5, 1)
                .events(7, "data: [DONE]\n\n")
                .raw(8, "0;end\r\nDigest: x\r\n\r\n")
                .read();
        assertThat(call.error()).isEmpty();
        assertThat(call.ttftNanos()).hasValue(5e6);
        assertThat(call.times().endNanos()).isEqualTo(Recorded.SENT + 8 * Recorded.MILLI);
    }

    @Test
    void comments_and_all_line_ends_are_skipped() {
        CallResult call = new Recorded()
                .raw(1, Recorded.HEAD)
                .events(2, ": keep-alive\n\n")
                .events(9, "event: x\r\ndata:{\"choices\":[{\"text\":\"a\",\r\ndata: \"token_ids\":[1]}]}\r\n\r\n")
                .usage(10, 5, 1)
                .done(10)
                .read();
        assertThat(call.error()).isEmpty();
        assertThat(call.ttftNanos()).hasValue(9e6);
    }

    @Test
    void body_with_a_content_length_is_read() {
        String body = "data: {\"choices\":[{\"text\":\"a\",\"token_ids\":[1]}]}\n\ndata: [DONE]\n\n";
        CallResult call = new Recorded()
                .raw(
                        3,
                        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: " + body.length()
                                + "\r\n\r\n")
                .raw(4, body)
                .read();
        assertThat(call.error()).isEmpty();
        assertThat(call.tokens()).isEqualTo(1);
    }

    @Test
    void body_ended_by_connection_close_is_complete_with_done() {
        CallResult call = new Recorded()
                .raw(3, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
                .raw(4, "data: {\"choices\":[{\"text\":\"a\",\"token_ids\":[1]}]}\n\ndata: [DONE]\n\n")
                .cut()
                .read();
        assertThat(call.error()).isEmpty();
    }

    @Test
    void closed_connection_fails_the_request() {
        CallResult call = new Recorded().raw(1, Recorded.HEAD).ids(5, 1).cut().read();
        assertThat(call.isComplete()).isFalse();
        assertThat(call.error()).hasValue("the connection was closed during the response");
    }

    @Test
    void connection_closed_before_the_response_is_reported() {
        assertThat(new Recorded().raw(1, "").cut().read().error())
                .hasValue("the connection was closed before a response");
    }

    @Test
    void stream_without_its_end_mark_fails_the_request() {
        CallResult call = new Recorded()
                .raw(1, Recorded.HEAD)
                .ids(5, 8)
                .usage(6, 5, 8)
                .raw(7, "0\r\n\r\n")
                .read();
        assertThat(call.error()).hasValue("the stream ended without [DONE] or a finish_reason");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"error\":{\"message\":\"out of blocks\",\"code\":500}}",
                "{\"error\":\"out of blocks\"}",
                "{\"object\":\"error\",\"message\":\"out of blocks\",\"type\":\"x\",\"code\":500}"
            })
    void error_event_fails_the_request(String error) {
        CallResult call = new Recorded()
                .raw(1, Recorded.HEAD)
                .ids(5, 1)
                .events(6, "data: " + error + "\n\n")
                .done(7)
                .read();
        assertThat(call.error()).hasValue("the server says \"out of blocks\"");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "HTTP/1.1 429 Too Many Requests | status 429: \"busy\"",
                "HTTP/1.1 200 OK | the response is not an event stream",
                "HTTP/1.1 500 Oops | status 500: \"busy\""
            })
    void response_without_a_stream_fails_the_request(String status, String error) {
        CallResult call = new Recorded()
                .raw(1, status + "\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\nbusy")
                .read();
        assertThat(call.error()).hasValue(error);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SSH-2.0-x\r\n",
                "HTTP/1.1 2x0 OK\r\n",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n"
            })
    void response_that_is_not_http_fails_the_request(String bytes) {
        assertThat(new Recorded().raw(1, bytes).read().error())
                .hasValueSatisfying(why -> assertThat(why).startsWith("the response is not HTTP: "));
    }

    private static final String FINISH = "data: {\"choices\":[{\"text\":\"\",\"finish_reason\":\"length\"}]}\n\n";

    @ParameterizedTest
    @ValueSource(strings = {"", "data: {\"choices\":[null]}\n\n", "data: {\"choices\":[]}\n\n"})
    void stream_without_any_choice_fails(String events) {
        Recorded response = new Recorded().raw(1, Recorded.HEAD);
        CallResult call = (events.isEmpty() ? response : response.events(2, events))
                .usage(3, 5, 0)
                .done(3)
                .read();
        assertThat(call.error()).contains("the stream had no choice and so no token");
    }

    @Test
    void choice_after_a_null_choice_is_read() {
        CallResult call = new Recorded()
                .raw(1, Recorded.HEAD)
                .events(
                        2,
                        "data: {\"choices\":[null,{\"text\":\"a\",\"token_ids\":[1]}],\"usage\":{\"prompt_tokens\":5,"
                                + "\"completion_tokens\":1,\"total_tokens\":6}}\n\n")
                .done(3)
                .read();
        assertThat(call.error()).isEmpty();
        assertThat(call.usage()).isEqualTo(new CallResult.Usage(5, 1, 6));
        assertThat(call.tokens()).isEqualTo(1);
    }

    @Test
    void stream_without_done_is_complete_if_it_has_a_finish_reason() {
        Call call = Recorded.call(5, 8);
        CallResult result = new Recorded()
                .raw(1, Recorded.HEAD)
                .ids(2, 8)
                .events(3, FINISH)
                .usage(3, 5, 8)
                .raw(4, "0\r\n\r\n")
                .read(call, Integer.MAX_VALUE);
        assertThat(result.error()).isEmpty();
        assertThat(Oddities.of(List.of(call), 0, 0).withoutDone()).isEqualTo(1);
        assertThat(new Recorded()
                        .raw(1, Recorded.HEAD)
                        .ids(2, 3)
                        .raw(4, "0\r\n\r\n")
                        .read()
                        .error())
                .contains("the stream ended without [DONE] or a finish_reason");
    }

    @Test
    void compressed_stream_names_its_encoding() {
        String head = Recorded.HEAD.replace("\r\n\r\n", "\r\nContent-Encoding: gzip\r\n\r\n");
        assertThat(new Recorded()
                        .raw(1, head)
                        .raw(2, "2\r\n\037\213\r\n0\r\n\r\n")
                        .read()
                        .error())
                .get()
                .asString()
                .contains("Content-Encoding \"gzip\"");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "\"prompt_tokens\":5.0,\"completion_tokens\":8.0,\"total_tokens\":13.0 | 5,8,13,-1",
                "\"completion_tokens\":8 | -1,8,-1,-1",
                "\"prompt_tokens\":5,\"completion_tokens\":8,\"prompt_tokens_details\":{\"audio\":[1],\"cached_tokens\":4} | 5,8,-1,4",
                "\"prompt_tokens\":[5],\"completion_tokens\":8,\"prompt_tokens_details\":null | -1,8,-1,-1",
                "\"prompt_tokens\":5,\"completion_tokens\":8.5 | -1,-1,-1,-1"
            })
    void usage_fields_that_are_not_integers_are_ignored(String usage, String counts) {
        CallResult call = new Recorded()
                .raw(1, Recorded.HEAD)
                .ids(2, 8)
                .events(3, "data: {\"choices\":[],\"usage\":{" + usage + "}}\n\n")
                .done(3)
                .read();
        int[] wanted =
                Arrays.stream(counts.split(",")).mapToInt(Integer::parseInt).toArray();
        assertThat(call.usage()).isEqualTo(new CallResult.Usage(wanted[0], wanted[1], wanted[2], wanted[3]));
        assertThat(UsageCheck.contradiction(call, true)).isEmpty();
    }
}

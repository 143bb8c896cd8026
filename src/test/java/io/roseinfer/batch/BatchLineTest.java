package io.roseinfer.batch;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.base.StrictJson;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

class BatchLineTest {
    private static final long NUMBER = 17;

    private static BatchLine parse(String line) {
        return BatchLine.parse(line.getBytes(StandardCharsets.UTF_8), NUMBER);
    }

    @Test
    void request_has_its_route_its_body_and_the_key_of_its_custom_id() {
        BatchLine line = parse("""
                {"custom_id": "a", "method": "POST", "url": "/v1/chat/completions", "body": {"n": 2}, "other": 1}""");
        assertThat(line).isInstanceOfSatisfying(BatchLine.Request.class, request -> {
            assertThat(request.key()).isEqualTo(RequestKey.of("a"));
            assertThat(request.customId()).contains("a");
            assertThat(request.route()).isEqualTo(BatchLine.Route.CHAT);
            assertThat(request.body().integer("n")).hasValue(2);
        });
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{\"custom_id\": \"a\"                                                 | the line is not JSON",
                "{\"custom_id\": \"a\", \"custom_id\": \"b\"}                          | the line is invalid at line 17, column 31: Duplicate",
                "[1]                                                                   | the line is a list; it must be a JSON object",
                "{}                                                                    | custom_id is missing",
                "{\"custom_id\": \"\"}                                                 | custom_id is missing",
                "{\"custom_id\": null}                                                 | custom_id is missing",
                "{\"custom_id\": 3}                                                    | custom_id is 3; it must be a string",
                "{\"custom_id\": \"\\ud800\"}                                          | custom_id has an unpaired surrogate"
            })
    void line_without_a_custom_id_has_the_key_of_its_number(String text, String message) {
        assertThat(parse(text)).isInstanceOfSatisfying(BatchLine.Bad.class, bad -> {
            assertThat(bad.key()).isEqualTo(RequestKey.ofLine(NUMBER));
            assertThat(bad.customId()).isEmpty();
            assertThat(bad.error()).hasMessageContaining(message);
            assertThat(bad.error().status()).isEqualTo(400);
        });
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "``                                                     | method is \"\" | method",
                "\"method\": \"GET\"                                    | method is \"GET\"; it must be POST | method",
                "\"method\": \"POST\"                                   | url is \"\" | url",
                "\"method\": \"POST\", \"url\": \"/v1/embeddings\"      | url is \"/v1/embeddings\" | url",
                "\"method\": \"POST\", \"url\": \"/v1/completions\"     | body is missing | body",
                "\"method\": \"POST\", \"url\": \"/v1/completions\", \"body\": 1 | body is 1; it must be an object | body"
            })
    void invalid_line_keeps_its_custom_id(String rest, String message, String field) {
        BatchLine line = parse("{\"custom_id\": \"a\"" + (rest.isEmpty() ? "" : ", " + rest) + "}");
        assertThat(line).isInstanceOfSatisfying(BatchLine.Bad.class, bad -> {
            assertThat(bad.key()).isEqualTo(RequestKey.of("a"));
            assertThat(bad.customId()).contains("a");
            assertThat(bad.error()).hasMessageContaining(message);
            assertThat(bad.error().object().get("error").get("param").stringValue())
                    .isEqualTo(field);
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"{]", "{}", "{\"custom_id\": \"a\"}"})
    void error_of_an_invalid_line_has_its_number(String text) {
        BatchLine.Bad bad = (BatchLine.Bad) parse(text);
        assertThat(StrictJson.parse(BatchModel.refusal(bad, bad.error()))
                        .get("error")
                        .get("line")
                        .longValue())
                .isEqualTo(NUMBER);
    }

    @Test
    void invalid_line_gets_an_error_object_and_no_response() {
        BatchLine.Bad bad = (BatchLine.Bad) parse("{\"custom_id\": \"a\", \"method\": \"GET\"}");
        String text = new String(BatchModel.refusal(bad, bad.error()), StandardCharsets.UTF_8);
        assertThat(text).endsWith("}\n").startsWith(BatchModel.LINE_PREFIX + bad.key() + "\"");
        JsonNode line = StrictJson.parse(text.getBytes(StandardCharsets.UTF_8));
        assertThat(line.propertyNames()).containsExactly("id", "custom_id", "response", "error");
        assertThat(line.get("response").isNull()).isTrue();
        assertThat(line.get("error").propertyNames()).containsExactly("message", "type", "param", "code", "line");
        assertThat(line.get("error").get("message").stringValue())
                .isEqualTo(bad.error().message());
    }

    @Test
    void key_is_read_back_from_its_text() {
        RequestKey key = RequestKey.of("ü");
        assertThat(RequestKey.parse(key.toString())).contains(key);
        assertThat(RequestKey.parse(key.toString().substring(1))).isEqualTo(Optional.empty());
        assertThat(RequestKey.parse("x".repeat(RequestKey.TEXT_CHARS))).isEqualTo(Optional.empty());
        assertThat(RequestKey.parse("f".repeat(RequestKey.TEXT_CHARS))).isEqualTo(Optional.empty());
    }

    @Test
    void keys_and_seeds_of_many_lines_and_seeds_are_all_different() {
        Set<RequestKey> keys = new HashSet<>();
        Set<Long> seeds = new HashSet<>();
        for (int i = 0; i < 10_000; i++) {
            keys.add(RequestKey.of(Integer.toString(i)));
            keys.add(RequestKey.ofLine(i));
            seeds.add(RequestKey.of(Integer.toString(i)).seed(0));
            seeds.add(RequestKey.of(Integer.toString(i)).seed(1));
        }
        assertThat(keys).hasSize(20_000);
        assertThat(seeds).hasSize(20_000);
    }

    /** They are stable across versions: a newer version may resume a batch. */
    @Test
    void keys_and_seeds_have_not_changed_since_the_first_version() {
        assertThat(RequestKey.of("request-1")).hasToString("c47675f54d82ddfbfae2d9211c901138");
        assertThat(RequestKey.of("request-1").seed(7)).isEqualTo(-8110035254025118920L);
    }
}

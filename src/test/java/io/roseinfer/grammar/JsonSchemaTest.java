package io.roseinfer.grammar;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.Limits;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.StrictJson;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

class JsonSchemaTest {
    private static void assertTexts(String schema, String in, String out) {
        Grammar grammar = Grammar.jsonSchema(schema);
        for (String text : split(in)) {
            assertThat(GrammarOracle.accepts(grammar, text))
                    .as("%s is valid for %s", text, schema)
                    .isTrue();
        }
        for (String text : split(out)) {
            assertThat(GrammarOracle.accepts(grammar, text))
                    .as("%s is not valid for %s", text, schema)
                    .isFalse();
        }
    }

    private static String[] split(String texts) {
        return texts == null ? new String[0] : texts.split(" ");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '`',
            value = {
                "true; null 1 -0.5e+7 \"a\" [] {} [1,{\"a\":[]}]; nul 01 +1 .5 1. \"a [1,] {\"a\"} {a:1}",
                "{\"type\":\"null\"}; null; 0 false",
                "{\"type\":\"boolean\"}; true false; null 1",
                "{\"type\":\"integer\"}; 0 -1 10; 1.0 1e2 -0 01 \"1\"",
                "{\"type\":\"number\"}; 0 -1 1.50 1e2 1E-2; null \"1\"",
                "{\"type\":\"string\"}; \"\" \"aé😀\" \"\\n"
                        + "\" \"\\u00e9\" \"\\uD83D\\uDE00\"; 1 \"\\ud800\" \"\\x\" \"a\"b\"",
                "{\"type\":[\"string\",\"null\"]}; \"a\" null; 1",
                "{\"enum\":[1,\"a\",null,[1],{\"a\":2}]}; 1 \"a\" null [1] {\"a\":2}; 2 \"b\" [] {\"a\":1} 1.0",
                "{\"const\":{\"a\":[1.50,\"x\"]}}; {\"a\":[1.5,\"x\"]}; {\"a\":[1.5]} {\"a\":[1.51,\"x\"]}",
                "{\"type\":\"string\",\"enum\":[\"a\",1]}; \"a\"; 1"
            })
    void types_and_constants(String schema, String in, String out) {
        assertTexts(schema, in, out);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '`',
            value = {
                "{\"type\":\"integer\",\"minimum\":-3,\"maximum\":12}; -3 0 12; -4 13 1.5",
                "{\"type\":\"integer\",\"exclusiveMinimum\":9,\"exclusiveMaximum\":100}; 10 99; 9 100",
                "{\"type\":\"number\",\"minimum\":0.25}; 0.25 0.3 1 10; 0.2 -1 1e9",
                "{\"type\":\"number\",\"maximum\":-0.5}; -0.5 -12; -0.4 0",
                "{\"type\":\"integer\",\"multipleOf\":7}; 0 7 -14 707; 1 8",
                "{\"type\":\"number\",\"multipleOf\":0.01}; 0.01 1.5 -2; 0.001 1.555",
                "{\"$schema\":\"http://json-schema.org/draft-04/schema#\",\"type\":\"integer\",\"minimum\":1,"
                        + "\"exclusiveMinimum\":true}; 2; 1",
                "{\"type\":\"integer\",\"multipleOf\":997}; 0 997 9970; 998 99",
                "{\"type\":\"string\",\"minLength\":2,\"maxLength\":3}; \"ab\" \"é😀a\" \"\\n\\u0041\"; \"a\" \"abcd\"",
                "{\"type\":\"string\",\"pattern\":\"^a\"}; \"a\" \"ab\" \"a\\n\"; \"b\" \"\\u0061\"",
                "{\"type\":\"string\",\"pattern\":\"b\",\"maxLength\":2}; \"b\" \"ab\"; \"abc\" \"a\"",
                "{\"type\":\"string\",\"pattern\":\"^[^a]$\"}; \"b\" \"\\n\" \"\\\"\" \"\\\\\"; \"a\" \"\"",
                "{\"pattern\":\"^a$\"}; \"a\" 1 null; \"b\""
            })
    void numbers_and_strings(String schema, String in, String out) {
        assertTexts(schema, in, out);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '`',
            value = {
                "date; 2024-02-29 2023-12-31 2000-02-29; 2023-02-29 1900-02-29 2023-04-31 2023-1-1",
                "time; 23:59:59Z 01:02:03.5+01:30 23:59:60Z; 24:00:00Z 01:02:03 12:00:60Z",
                "date-time; 2024-02-29T01:02:03Z; 2024-02-30T01:02:03Z 2024-02-29",
                "duration; P1D PT1H2M P1Y2M3DT4S P3W; P PT P1DT P1Y3D P1H",
                "email; a@b a.b+c@d.example \"x\"@[127.0.0.1]; a a@ .a@b a@-b",
                "hostname; a a-b.example a-b--c; -a a- a..b xn--a a.x---a",
                "ipv4; 0.0.0.0 255.1.20.3; 256.0.0.0 1.2.3 01.2.3.4",
                "ipv6; :: ::1 1::8 1:2:3:4:5:6:7:8 ::ffff:1.2.3.4; : 1:2 1::2::3 12345::",
                "uuid; 01234567-89ab-CDEF-0123-456789abcdef; 0123456789abcdef0123456789abcdef",
                "uri; a: http://u@h:80/p/q?r#s urn:a:b http://[::1]/; /p a%zz: ://h http://[::1",
                "uri-reference; /p ?q #f // a/b:c; a%zz \\",
                "iri; http://ƒøø.ßår/; /p",
                "json-pointer; /a/b~0~1 /; a /~2 ~",
                "relative-json-pointer; 0 1/a 2#; -1 01 /a",
                "uri-template; http://a/{b}{?c,d*} a; {a http://a/{b:0}",
                "byte; YQ== YWI= YWJj; YQ= Y?=="
            })
    void formats(String format, String in, String out) {
        Grammar grammar = Grammar.jsonSchema("{\"type\":\"string\",\"format\":\"" + format + "\"}");
        for (String text : split(in)) {
            assertThat(GrammarOracle.accepts(grammar, JsonText.quoted(text)))
                    .as(text)
                    .isTrue();
        }
        for (String text : split(out)) {
            assertThat(GrammarOracle.accepts(grammar, JsonText.quoted(text)))
                    .as(text)
                    .isFalse();
        }
    }

    @Test
    void unsupported_format_is_rejected_with_the_supported_ones() {
        assertThatThrownBy(() -> Grammar.jsonSchema("{\"format\": \"color\"}"))
                .isInstanceOf(BadInput.class)
                .hasMessageStartingWith("format \"color\" at the root is not supported; use one of binary, byte, date,")
                .hasMessageEndingWith(", uuid, int8 to int64 and uint8 to uint64");
    }

    @Test
    void formats_of_integers_are_ranges() {
        assertTexts("{\"type\":\"integer\",\"format\":\"int32\"}", "2147483647 -2147483648", "2147483648 -2147483649");
        assertTexts("{\"type\":\"integer\",\"format\":\"uint8\"}", "0 255", "-1 256");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '`',
            value = {
                "{\"type\":\"array\",\"items\":{\"type\":\"integer\"}}; [] [1] [1,2,3]; [\"a\"] [1,] 1",
                "{\"type\":\"array\",\"minItems\":1,\"maxItems\":2}; [1] [1,\"a\"]; [] [1,2,3]",
                "{\"type\":\"array\",\"prefixItems\":[{\"const\":1},{\"const\":2}],\"items\":{\"const\":3}};"
                        + " [] [1] [1,2] [1,2,3,3]; [2] [1,3] [1,2,4]",
                "{\"type\":\"array\",\"prefixItems\":[{\"const\":1}],\"items\":false,\"minItems\":1}; [1]; [] [1,1]",
                "{\"type\":\"array\",\"items\":[{\"const\":1}],\"additionalItems\":{\"const\":2}}; [1,2]; [2] [1,1]",
                "{\"type\":\"array\",\"items\":{\"enum\":[1,2,3]},\"contains\":{\"const\":2}}; [2] [1,2,3]; [] [1,3]",
                "{\"type\":\"array\",\"items\":{\"enum\":[1,2]},\"contains\":{\"const\":2},\"minContains\":2,"
                        + "\"maxContains\":3}; [2,2] [2,1,2,2]; [2,1] [2,2,2,2]",
                "{\"type\":\"array\",\"items\":{\"enum\":[1,2,3]},\"uniqueItems\":true,\"minItems\":1};"
                        + " [1] [3,1] [2,1,3]; [] [1,1] [1,2,1]",
                "{\"type\":\"array\",\"items\":false}; []; [1]",
                "{\"type\":\"array\",\"prefixItems\":[true],\"unevaluatedItems\":{\"const\":1}}; [] [2,1]; [1,2]"
            })
    void arrays(String schema, String in, String out) {
        assertTexts(schema, in, out);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '`',
            value = {
                "{\"type\":\"object\",\"properties\":{\"a\":{\"const\":1},\"b\":{\"const\":2}},"
                        + "\"additionalProperties\":false};"
                        + " {} {\"a\":1} {\"b\":2} {\"a\":1,\"b\":2}; {\"b\":2,\"a\":1} {\"a\":2} {\"c\":1} {\"a\":1,}",
                "{\"type\":\"object\",\"properties\":{\"a\":{},\"b\":{},\"c\":{}},\"required\":[\"b\"],"
                        + "\"additionalProperties\":false}; {\"b\":2} {\"a\":1,\"b\":2} {\"b\":2,\"c\":1}"
                        + " {\"a\":1,\"b\":2,\"c\":1}; {} {\"a\":1,\"c\":2}",
                "{\"properties\":{\"a\":{\"const\":1}},\"additionalProperties\":{\"const\":2}};"
                        + " {} {\"a\":1} {\"x\":2} {\"a\":1,\"x\":2,\"y\":2} 5; {\"a\":2} {\"x\":1} {\"\\u0061\":2}",
                "{\"type\":\"object\",\"required\":[\"a\"]}; {\"a\":1} {\"a\":1,\"b\":2}; {} {\"b\":1}",
                "{\"type\":\"object\",\"patternProperties\":{\"^a\":{\"const\":1},\"b$\":{\"type\":\"integer\"}},"
                        + "\"additionalProperties\":false};"
                        + " {} {\"a\":1} {\"b\":2} {\"ab\":1}; {\"ab\":2} {\"c\":1} {\"a\":2}",
                "{\"type\":\"object\",\"properties\":{\"ab\":{\"minimum\":5}},\"patternProperties\":{\"^a\":"
                        + "{\"maximum\":7}}}; {\"ab\":6} {\"ac\":1} {\"x\":9}; {\"ab\":8} {\"ab\":4} {\"ac\":9}",
                "{\"type\":\"object\",\"propertyNames\":{\"maxLength\":1}}; {} {\"a\":1}; {\"ab\":1}",
                "{\"type\":\"object\",\"propertyNames\":{\"enum\":[\"a\",\"b\"]},\"minProperties\":2};"
                        + " {\"a\":1,\"b\":2}; {} {\"a\":1} {\"a\":1,\"c\":1}",
                "{\"type\":\"object\",\"minProperties\":1}; {\"a\":1} {\"a\":1,\"b\":2}; {}",
                "{\"type\":\"object\",\"maxProperties\":1}; {} {\"a\":1}; {\"a\":1,\"b\":2}",
                "{\"type\":\"object\",\"properties\":{\"a\":{},\"b\":{},\"c\":{}},\"minProperties\":2,"
                        + "\"additionalProperties\":false}; {\"a\":1,\"c\":1} {\"a\":1,\"b\":1,\"c\":1}; {} {\"b\":1}",
                "{\"type\":\"object\",\"properties\":{\"a\":{},\"b\":{}},\"maxProperties\":2};"
                        + " {} {\"a\":1,\"b\":1} {\"b\":1,\"x\":1} {\"x\":1,\"y\":1}; {\"a\":1,\"b\":1,\"x\":1}",
                "{\"type\":\"object\",\"properties\":{\"a\":{},\"b\":{}},\"dependentRequired\":{\"a\":[\"b\"]},"
                        + "\"additionalProperties\":false}; {} {\"b\":1} {\"a\":1,\"b\":1}; {\"a\":1}",
                "{\"type\":\"object\",\"properties\":{\"a\":{},\"b\":{}},\"dependentSchemas\":{\"a\":{\"properties\":"
                        + "{\"b\":{\"const\":1}}}}}; {\"b\":2} {\"a\":1,\"b\":1}; {\"a\":1,\"b\":2}",
                "{\"type\":\"object\",\"properties\":{\"a\":{}},\"unevaluatedProperties\":false}; {\"a\":1}; {\"b\":1}"
            })
    void objects(String schema, String in, String out) {
        assertTexts(schema, in, out);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '`',
            value = {
                "{\"anyOf\":[{\"type\":\"integer\"},{\"type\":\"string\",\"maxLength\":1}]}; 1 \"a\"; null \"ab\"",
                "{\"allOf\":[{\"minimum\":3},{\"maximum\":5}],\"type\":\"integer\"}; 3 5; 2 6",
                "{\"allOf\":[{\"properties\":{\"a\":{\"minimum\":3}}},{\"properties\":{\"b\":{},\"a\":{\"maximum\":5}},"
                        + "\"required\":[\"b\",\"a\"]}],\"type\":\"object\"};"
                        + " {\"a\":4,\"b\":1}; {\"b\":1,\"a\":4} {\"a\":6,\"b\":1} {\"a\":4}",
                "{\"oneOf\":[{\"type\":\"integer\"},{\"minimum\":2}]}; 1 2.5 \"a\"; 3 1.5",
                "{\"oneOf\":[{\"properties\":{\"k\":{\"const\":\"x\"}},\"required\":[\"k\"]},{\"properties\":{\"k\":"
                        + "{\"const\":\"y\"},\"v\":{\"const\":1}},\"required\":[\"k\"]}],\"type\":\"object\"};"
                        + " {\"k\":\"x\"} {\"k\":\"y\",\"v\":1} {\"k\":\"x\",\"v\":2}; {} {\"k\":\"z\"}"
                        + " {\"k\":\"y\",\"v\":2}",
                "{\"not\":{\"type\":[\"string\",\"object\"]}}; 1 [] null; \"a\" {}",
                "{\"type\":\"string\",\"not\":{\"enum\":[\"a\",\"b\"]}}; \"c\" \"ab\" \"\"; \"a\" \"b\"",
                "{\"type\":\"object\",\"not\":{\"required\":[\"a\"]}}; {} {\"b\":1}; {\"a\":1}",
                "{\"type\":\"array\",\"not\":{\"items\":{\"const\":1}}}; [2] [1,2]; [] [1,1]",
                "{\"type\":\"object\",\"not\":{\"additionalProperties\":{\"const\":1}}};"
                        + " {\"a\":2} {\"a\":1,\"b\":2}; {} {\"a\":1}",
                "{\"if\":{\"properties\":{\"a\":{\"const\":1}},\"required\":[\"a\"]},\"then\":{\"required\":[\"b\"]},"
                        + "\"else\":{\"required\":[\"c\"]},\"type\":\"object\"};"
                        + " {\"a\":1,\"b\":1} {\"a\":2,\"c\":1} {\"c\":1}; {\"a\":1,\"c\":1} {\"a\":2,\"b\":1} {}",
                "{\"$ref\":\"#/$defs/n\",\"$defs\":{\"n\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/n\"}}}};"
                        + " [] [[],[[]]]; [1] 1",
                "{\"$ref\":\"#n\",\"$defs\":{\"x\":{\"$anchor\":\"n\",\"const\":1}}}; 1; 2",
                "{\"$ref\":\"http://e/b\",\"$defs\":{\"x\":{\"$id\":\"http://e/b\",\"const\":1}}}; 1; 2",
                "{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"definitions\":{\"a\":{\"const\":1}},"
                        + "\"properties\":{\"p\":{\"$ref\":\"#/definitions/a\",\"maximum\":0}}}; {\"p\":1}; {\"p\":0}"
            })
    void combinations_and_references(String schema, String in, String out) {
        assertTexts(schema, in, out);
    }

    @Test
    void constants_of_any_of_are_an_enum() {
        List<String> values = IntStream.range(0, 2_000).mapToObj(i -> "\"v" + i + "\"").toList();
        String constants = values.stream().map(value -> "{\"const\":" + value + "}").collect(Collectors.joining(","));
        assertThat(Grammar.jsonSchema("{\"anyOf\":[" + constants + "]}"))
                .isEqualTo(Grammar.jsonSchema("{\"enum\":[" + String.join(",", values) + "]}"));
    }

    @Test
    void work_of_combined_patterns_is_counted() {
        String patterns = IntStream.range(0, 2_000)
                .mapToObj(i -> "{\"type\":\"string\",\"pattern\":\"a" + i + "\"}")
                .collect(Collectors.joining(","));
        assertThatThrownBy(() -> Grammar.jsonSchema("{\"allOf\":[" + patterns + "]}"))
                .isInstanceOf(BadInput.class)
                .hasMessageStartingWith("reading the grammar takes more than 300000 steps");
    }

    /** The keyword is next to a malformed one, which is reported if schemas are read. */
    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '~',
            value = {
                "2000; {`properties`:{`bad`:{`type`:1},LIST}}; `a%d`:{}",
                "2000; {`allOf`:[{`type`:1},LIST]}; {`minimum`:%d}",
                "2000; {`anyOf`:[{`type`:1},LIST]}; {`const`:`%d`}",
                "2000; {`prefixItems`:[{`type`:1},LIST]}; {}",
                "2000; {`items`:[{`type`:1},LIST]}; {}",
                "2000; {`type`:1,`required`:[`x`,LIST]}; `a%d`",
                "100; {`oneOf`:[{`type`:1},LIST]}; {`const`:`%d`}",
                "50; {`patternProperties`:{`bad`:{`type`:1},LIST}}; `^a%d$`:{}",
                "20000; {`type`:1,`enum`:[`x`,LIST]}; `a%d`",
                "1000; {`type`:1,`enum`:[`x`,1,LIST]}; %d.5",
                "1000; {`type`:1,`enum`:[`x`,1,LIST]}; [%d]",
                "2000; {`type`:1,LIST}; `a%d`:1",
                "10000; {`type`:1,`$defs`:{LIST}}; `a%d`:{}"
            })
    void large_keyword_is_rejected_before_schemas_are_read(int max, String schema, String element) {
        String most = sized(schema, element, max - 1);
        assertThatThrownBy(() -> Grammar.jsonSchema(most))
                .isInstanceOf(BadInput.class)
                .hasMessageNotContaining("at most");
        String more = sized(schema, element, max);
        assertThatThrownBy(() -> Grammar.jsonSchema(more))
                .isInstanceOf(BadInput.class)
                .hasMessageMatching("the number of .* is %d; it must be at most %d; split the schema"
                        .formatted(max + 1, max));
    }

    @Test
    void schemas_of_keywords_with_one_schema_count_as_well() {
        String schema = "{`type`:1,`$defs`:{LIST}}";
        String most = sized(schema, "`a%d`:{`not`:{}}", 4_999);
        assertThatThrownBy(() -> Grammar.jsonSchema(most)).hasMessageNotContaining("at most");
        String more = sized(schema, "`a%d`:{`not`:{}}", 5_000);
        assertThatThrownBy(() -> Grammar.jsonSchema(more))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("schemas of the document is 10001; it must be at most 10000");
    }

    /** The keyword is next to a malformed one, which is reported if schemas are read. */
    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '~',
            value = {
                "{`type`:1,`const`:`TEXT`}; 2",
                "{`type`:1,`enum`:[`TEXT`]}; 4",
                "{`type`:1,`required`:[`TEXT`]}; 4",
                "{`type`:1,`dependentRequired`:{`a`:[`TEXT`]}}; 10",
                "{`type`:1,`const`:`TEXT`,`properties`:{`ab`:{}}}; 4",
                "{`type`:1,`not`:{`const`:`TEXT`}}; 2"
            })
    void long_names_and_constants_are_rejected_before_schemas_are_read(String schema, int more) {
        String quoted = schema.replace('`', '"');
        String longest = quoted.replace("TEXT", "x".repeat(400_000 - more));
        assertThatThrownBy(() -> Grammar.jsonSchema(longest))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("type at the root is 1");
        String longer = quoted.replace("TEXT", "x".repeat(400_001 - more));
        assertThatThrownBy(() -> Grammar.jsonSchema(longer))
                .isInstanceOf(BadInput.class)
                .hasMessage("the number of characters of the schema's names and constants is 400001; it must be at most"
                        + " 400000; shorten them, or split the schema");
    }

    @Test
    void mutual_references_of_any_of_are_counted_as_work() {
        String definitions = IntStream.range(0, 98)
                .mapToObj(i -> "`d%1$d`:{`type`:`object`,`properties`:{`p%1$d`:{`anyOf`:[%2$s]}},`required`:[`p%1$d`]}"
                        .formatted(
                                i,
                                IntStream.range(0, 98)
                                        .mapToObj("{`$ref`:`#/$defs/d%d`}"::formatted)
                                        .collect(Collectors.joining(","))))
                .collect(Collectors.joining(","));
        assertCountedAsWork("{`$ref`:`#/$defs/d0`,`$defs`:{" + definitions + "}}");
    }

    @Test
    void work_beyond_the_limit_is_not_taken_for_undecided() {
        String definitions = IntStream.range(0, 40)
                .mapToObj(i -> "`d%1$d`:{`type`:`object`,`properties`:{`p%1$d`:{`oneOf`:[%2$s]}},`required`:[`p%1$d`]}"
                        .formatted(
                                i,
                                IntStream.range(0, 40)
                                        .mapToObj("{`$ref`:`#/$defs/d%d`}"::formatted)
                                        .collect(Collectors.joining(","))))
                .collect(Collectors.joining(","));
        assertCountedAsWork("{`$ref`:`#/$defs/d0`,`$defs`:{" + definitions + "}}");
    }

    @Test
    void language_of_several_properties_is_decided_once() {
        String language = "{`type`:`string`,`allOf`:[{`pattern`:`a.{8}b`},{`pattern`:`^[ab]*$`}]}";
        String properties = sized("{`properties`:{LIST}}", "`p%1$d`:{`anyOf`:[" + language + ",{`const`:%1$d}]}", 100);
        assertThat(Grammar.jsonSchema(properties).rules()).isNotEmpty();
    }

    @Test
    void unions_of_the_same_alternatives_are_counted_as_work() {
        String alternatives = sized("{`anyOf`:[LIST]}", "{`required`:[`a%d`]}", 900);
        String references = sized("[LIST]", "{`$ref`:`#/$defs/a`,`title`:`%d`}", 900);
        assertCountedAsWork("{`anyOf`:" + references + ",`$defs`:{`a`:" + alternatives + "}}");
    }

    @Test
    void conditions_of_one_property_are_counted_as_work() {
        String properties = sized("{`properties`:{LIST}}", "`p%d`:{`title`:`a`}", 12);
        assertCountedAsWork("{`allOf`:[" + String.join(",", Collections.nCopies(420, properties)) + "]}");
    }

    private static void assertCountedAsWork(String schema) {
        assertThatThrownBy(() -> Grammar.jsonSchema(schema.replace('`', '"')))
                .isInstanceOf(BadInput.class)
                .hasMessageStartingWith("reading the grammar takes more than 300000 steps");
    }

    private static String sized(String schema, String element, int count) {
        String list = IntStream.range(0, count).mapToObj(element::formatted).collect(Collectors.joining(","));
        return schema.replace("LIST", list).replace('`', '"');
    }

    @Test
    void work_of_patterns_is_counted() {
        String patterns = IntStream.range(0, 9)
                .mapToObj(i -> IntStream.range(0, 1_000)
                        .mapToObj("{\"type\":\"string\",\"pattern\":\"^a%d[bc]{0,9}(d|e|f)*$\"}"::formatted)
                        .collect(Collectors.joining(",", "{\"anyOf\":[", "]}")))
                .collect(Collectors.joining(","));
        assertThatThrownBy(() -> Grammar.jsonSchema("{\"anyOf\":[" + patterns + "]}"))
                .isInstanceOf(BadInput.class)
                .hasMessageStartingWith("reading the grammar takes more than 300000 steps");
    }

    @Test
    void references_to_one_schema_share_its_rules() {
        assertThat(valuesOfReferences(40)).isEqualTo(valuesOfReferences(1));
    }

    /** Returns the rules of values in an object whose properties refer to the same definition. */
    private static List<String> valuesOfReferences(int count) {
        String properties = IntStream.range(0, count)
                .mapToObj(i -> "\"p" + i + "\":{\"$ref\":\"#/$defs/d\"}")
                .collect(Collectors.joining(","));
        String schema = "{\"$defs\":{\"d\":{\"type\":\"array\"}},\"properties\":{" + properties + "}}";
        return Grammar.jsonSchema(schema).rules().keySet().stream()
                .filter(rule -> rule.matches("value\\d+"))
                .toList();
    }

    @Test
    void mutual_references_are_within_the_limits() {
        String definitions = IntStream.range(0, 40)
                .mapToObj(i -> IntStream.range(0, 40)
                        .mapToObj("{\"type\":\"object\",\"properties\":{\"p%1$d\":{\"$ref\":\"#/$defs/d%1$d\"}}}"::formatted)
                        .collect(Collectors.joining(",", "\"d" + i + "\":{\"anyOf\":[", "]}")))
                .collect(Collectors.joining(","));
        Grammar grammar = Grammar.jsonSchema("{\"$defs\":{" + definitions + "},\"$ref\":\"#/$defs/d0\"}");
        assertThat(GrammarOracle.accepts(grammar, "{\"p3\":{\"p7\":{}}}")).isTrue();
    }

    @Test
    void recursive_property_without_an_end_is_left_out() {
        assertTexts("""
            {"type": "object", "properties": {"a": {"$ref": "#/$defs/endless"}}, "additionalProperties": false,
             "$defs": {"endless": {"type": "object", "properties": {"a": {"$ref": "#/$defs/endless"}},
                                   "required": ["a"]}}}
            """, "{}", "{\"a\":{}}");
    }

    @Test
    void annotations_and_unknown_keywords_restrict_nothing() {
        assertTexts("""
            {"title": "t", "description": "d", "default": 1, "examples": [1], "$comment": "c", "readOnly": true,
             "deprecated": true, "contentEncoding": "base64", "x-own": 1, "const": "a"}
            """, "\"a\"", "1");
    }

    @Test
    void white_space_is_allowed_between_tokens_up_to_a_limit() {
        Grammar grammar =
                Grammar.jsonSchema("{\"properties\":{\"a\":{\"items\":{\"const\":1}}},\"type\":\"object\"}", 2);
        assertThat(GrammarOracle.accepts(grammar, "{ \n\"a\" : [ 1\t, 1 ]\r\n}"))
                .isTrue();
        assertThat(GrammarOracle.accepts(grammar, "{ }")).isTrue();
        assertThat(GrammarOracle.accepts(grammar, "{   \"a\":[]}")).isFalse();
        assertThat(GrammarOracle.accepts(grammar, "{   }")).isFalse();
        assertThat(GrammarOracle.accepts(grammar, " {}")).isFalse();
        assertThat(GrammarOracle.accepts(grammar, "{} ")).isFalse();
    }

    @Test
    void white_space_is_by_default_a_space_or_one_or_two_indented_lines() {
        Grammar grammar = Grammar.jsonSchema("{\"const\":[1,2]}");
        String wide = " ".repeat(20);
        for (String space : new String[] {"", " ", "\n", "\n\n", "\n  ", "\n\t\t", "\n" + wide, "\n\n" + wide}) {
            assertThat(GrammarOracle.accepts(grammar, "[1," + space + "2]"))
                    .as("'%s'", space)
                    .isTrue();
        }
        for (String space : new String[] {"  ", "\t", " \n", "\r\n", "\n\n\n", "\n \n", "\n " + wide}) {
            assertThat(GrammarOracle.accepts(grammar, "[1," + space + "2]"))
                    .as("'%s'", space)
                    .isFalse();
        }
    }

    @Test
    void any_object_is_json() {
        Grammar grammar = Grammar.jsonObject();
        assertThat(GrammarOracle.accepts(grammar, "{\"a\": [1, {\"b\": null}], \"c\": -1.5e3}"))
                .isTrue();
        assertThat(GrammarOracle.accepts(grammar, "[]")).isFalse();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '`',
            value = {
                "{\"contains\":true,\"unevaluatedItems\":false}; unevaluatedItems next to contains",
                "{\"allOf\":[true],\"unevaluatedProperties\":false}; unevaluatedProperties next to allOf",
                "{\"properties\":{\"a\":{\"format\":\"color\"}}}; format \"color\" at /properties/a is not supported",
                "{\"type\":\"array\",\"uniqueItems\":true}; uniqueItems at the root is supported only for elements of an"
                        + " enumeration",
                "{\"properties\":{\"a\":{\"type\":\"array\",\"uniqueItems\":true}}}; uniqueItems at /properties/a is",
                "{\"not\":{\"type\":\"array\",\"items\":{\"enum\":[1,2]},\"uniqueItems\":true}}; the schema at /not: uniqueItems",
                "{\"properties\":{\"a\":{\"pattern\":\"(\"}}}; the schema at /properties/a: pattern \"(\" is malformed",
                "{\"patternProperties\":{\"a\\\\b\":{}}}; the schema at the root: pattern \"a\\\\b\"",
                "{\"required\":[\"a\"],\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"array\",\"minItems\":1,"
                        + "\"items\":{\"minimum\":2,\"maximum\":1,\"type\":\"number\"}}}}; contradict each other at /properties/a/items",
                "{\"type\":\"object\",\"required\":[\"a\"],\"properties\":{\"a\":{\"$ref\":\"#\"}}}; contradict each other at",
                "{\"type\":\"object\",\"minProperties\":2}; minProperties 2 at the root is not supported for undeclared properties",
                "{\"$ref\":\"http://e/other\"}; $ref \"http://e/other\" at the root names another document",
                "{\"$ref\":\"#/$defs/a\"}; $ref \"#/$defs/a\" at the root names a schema that does not exist",
                "{\"$ref\":\"#\"}; refers to itself",
                "{\"$schema\":\"http://json-schema.org/draft-03/schema#\"}; supported are draft 4 to 2020-12",
                "{\"pattern\":\"(?<=a)\"}; lookbehind",
                "{\"disallow\":\"string\"}; disallow at the root is not supported",
                "{\"type\":\"strin\"}; type at the root is",
                "{\"minLength\":-1}; minLength at the root is -1; it must be a count",
                "{\"required\":true}; required at the root is true; it must be an array of names",
                "{\"properties\":{\"a\":1}}; the schema at /properties/a is 1",
                "{\"anyOf\":[]}; anyOf at the root is []",
                "false; the schema is valid for no value",
                "{\"type\":\"integer\",\"minimum\":2,\"maximum\":1}; the schema is valid for no value",
                "{\"type\":\"string\",\"pattern\":\"^a\",\"enum\":[\"b\"]}; the schema is valid for no value",
                "[1]; it must be an object, true or false",
                "{; the JSON schema is not JSON",
                "{\"enum\":[\"\\ud800\"]}; without unpaired surrogates",
                "{\"multipleOf\":0}; multipleOf at the root is 0; it must be a positive number"
            })
    void what_is_not_enforced_is_named(String schema, String message) {
        // A CSV column is split at ';', so the message may be cut there.
        assertThatThrownBy(() -> Grammar.jsonSchema(schema))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining(message.strip());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " \n"})
    void schema_without_a_value_is_empty(String schema) {
        assertThatThrownBy(() -> Grammar.jsonSchema(schema))
                .isInstanceOf(BadInput.class)
                .hasMessage("the JSON schema is empty; allow any value with {}");
    }

    @Test
    void unknown_keywords_are_found_where_they_stand() {
        assertThat(Grammar.unknownKeywords(Grammar.parseSchema("""
                {"propertes": {}, "x-own": 1, "required": ["own"], "properties": {"nullable": {"type": "string", "nullable": true}},
                 "items": [{"a": 1}], "enum": [{"b": 1}], "anyOf": [true, {"c": 1}], "$defs": {"d": {"e": {}}},
                 "default": {"f": 1}, "const": {"g": 1}}""")))
                .containsExactlyInAnyOrder(
                        "/propertes", "/x-own", "/properties/nullable/nullable", "/items/0/a", "/anyOf/1/c", "/$defs/d/e");
    }

    @Test
    void schemas_may_be_nested_as_deep_as_json() {
        int levels = Limits.JSON_DEPTH - 1;
        String deep = "{\"items\":".repeat(levels) + "{\"items\":true}" + "}".repeat(levels);
        assertThat(Grammar.jsonSchema(deep)).isNotNull();
        assertThatThrownBy(() -> Grammar.jsonSchema("{\"items\":" + deep + "}"))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining(String.valueOf(Limits.JSON_DEPTH));
    }

    @ParameterizedTest
    @ValueSource(strings = {"[^\\s\\S]", "a(?!a)(?=a)"})
    void regular_expression_without_a_text_is_rejected(String regex) {
        assertThatThrownBy(() -> Grammar.regex(regex))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("the grammar allows no text");
    }

    @ParameterizedTest
    @ValueSource(strings = {"root ::= \"a\" root", "start: \"a\" start"})
    void grammar_without_a_text_is_rejected(String text) {
        assertThatThrownBy(() -> Grammar.ebnf(text))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("the grammar allows no text");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '`',
            value = {
                "{\"anyOf\":[{\"required\":[\"b\"]},{\"required\":[\"c\"]}],\"properties\":{\"a\":{},\"b\":{}},"
                        + "\"required\":[\"a\"]}; {\"a\":1,\"b\":1} {\"a\":1,\"b\":1,\"c\":1}; {\"b\":1,\"a\":1}",
                "{\"dependencies\":{\"b\":[\"a\"]},\"properties\":{\"a\":{},\"b\":{},\"c\":{}},\"required\":[\"c\"]};"
                        + " {\"a\":1,\"b\":1,\"c\":1} {\"c\":1}; {\"b\":1,\"a\":1,\"c\":1}",
                "{\"if\":{\"properties\":{\"b\":{\"const\":1}}},\"then\":{\"properties\":{\"c\":{\"const\":2}}},"
                        + "\"properties\":{\"a\":{},\"b\":{}},\"required\":[\"a\",\"b\"]};"
                        + " {\"a\":1,\"b\":0} {\"c\":2,\"a\":1,\"b\":1}; {\"b\":0,\"a\":1}",
                "{\"propertyNames\":{\"enum\":[\"b\",\"a\"]},\"properties\":{\"a\":{},\"b\":{}}};"
                        + " {\"a\":1,\"b\":1}; {\"b\":1,\"a\":1}",
                "{\"not\":{\"required\":[\"b\"],\"properties\":{\"b\":{\"const\":1}}},\"properties\":{\"a\":{},\"b\":{}}};"
                        + " {\"a\":1,\"b\":2} {\"a\":1}; {\"b\":2,\"a\":1} {\"a\":1,\"b\":1}",
                "{\"allOf\":[{\"properties\":{\"b\":{}}}],\"properties\":{\"a\":{},\"b\":{}},\"required\":[\"a\",\"b\"]};"
                        + " {\"b\":1,\"a\":1}; {\"a\":1,\"b\":1}"
            })
    void order_is_fixed_by_properties_alone(String schema, String in, String out) {
        assertTexts(schema, in, out);
    }

    /** Returns alternatives that each require 21 properties. */
    private static String alternatives(String prefix, int count) {
        String shared = IntStream.range(0, 20).mapToObj(i -> "\"" + prefix + i + "\"").collect(Collectors.joining(","));
        return IntStream.range(0, count)
                .mapToObj(i -> "{\"required\":[" + shared + ",\"" + prefix + "only" + i + "\"]}")
                .collect(Collectors.joining(",", "{\"anyOf\":[", "]}"));
    }

    @Test
    void alternatives_of_objects_are_counted_as_work() {
        String properties = IntStream.range(0, 8)
                .mapToObj(i -> "\"p%d\":{\"allOf\":[%s,%s,{\"type\":\"integer\"}]}"
                        .formatted(i, alternatives("a" + i, 30), alternatives("b" + i, 30)))
                .collect(Collectors.joining(",", "{\"properties\":{", "}}"));
        assertThatThrownBy(() -> Grammar.jsonSchema(properties))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("reading the grammar takes more than 300000 steps");
    }

    @Test
    void decisions_within_each_other_are_limited() {
        StringBuilder definitions = new StringBuilder("\"end\":{}");
        for (String chain : new String[] {"a", "b"}) {
            for (int i = 0; i < 2000; i++) {
                definitions
                        .append(",\"%s%d\":{\"properties\":{\"n\":".formatted(chain, i))
                        .append("{\"$ref\":\"#/$defs/%s\"}},".formatted(i == 1999 ? "end" : chain + (i + 1)))
                        .append("\"type\":\"object\",\"required\":[\"n\"],\"allOf\":[" + alternatives(chain, 5) + "]}");
            }
        }
        String schema =
                "{\"$defs\":{" + definitions + "},\"oneOf\":[{\"$ref\":\"#/$defs/a0\"},{\"$ref\":\"#/$defs/b0\"}]}";
        assertThatThrownBy(() -> Grammar.jsonSchema(schema)).isInstanceOf(BadInput.class);
    }

    @Test
    void parsed_schema_has_the_grammar_of_its_text() {
        String schema = """
                {"$defs":{"n":{"type":"number","multipleOf":0.1,"minimum":-1.5,"maximum":2e3}},
                 "properties":{"a":{"$ref":"#/$defs/n"},"b":{"enum":[0.25,-0.0,1e2,"x\\n",null,true,[12345678901234567890]]}}}""";
        JsonNode parsed = StrictJson.parse(schema.getBytes(UTF_8));
        assertThat(Grammar.jsonSchema(parsed)).isEqualTo(Grammar.jsonSchema(schema));
        assertThat(Grammar.jsonSchema(parsed, 3)).isEqualTo(Grammar.jsonSchema(schema, 3));
    }

    @Test
    void parsed_schema_of_any_length_below_the_limit_is_read() {
        String text = "x".repeat((1 << 20) - 14);
        JsonNode longest = StrictJson.parse(("{\"title\":[\"" + text + "\"]}").getBytes(UTF_8));
        assertThat(Grammar.jsonSchema(longest)).isEqualTo(Grammar.jsonSchema("{\"title\":[]}"));
        JsonNode longer = StrictJson.parse(("{\"title\":[\"" + text + "x\"]}").getBytes(UTF_8));
        assertThatThrownBy(() -> Grammar.jsonSchema(longer))
                .isInstanceOf(BadInput.class)
                .hasMessage("the length of a JSON schema is 1048577; it must be at most 1048576");
    }

    @Test
    void constant_beyond_the_range_of_parsed_numbers_is_rejected() {
        JsonNode parsed = StrictJson.parse("{\"const\":1e999}".getBytes(UTF_8));
        assertThatThrownBy(() -> Grammar.jsonSchema(parsed))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("it must be a finite number");
    }

    @Test
    void limits_are_named() {
        String deep = "{\"items\":".repeat(150) + "true" + "}".repeat(150);
        assertThatThrownBy(() -> Grammar.jsonSchema(deep)).isInstanceOf(BadInput.class);
        assertThatThrownBy(() -> Grammar.jsonSchema("{}" + " ".repeat(1 << 20)))
                .isInstanceOf(BadInput.class)
                .hasMessage("the length of a JSON schema is 1048578; it must be at most 1048576");
        StringBuilder wide = new StringBuilder("{\"allOf\":[true");
        for (int i = 0; i < 12; i++) {
            wide.append(",{\"anyOf\":[{\"required\":[\"a")
                    .append(i)
                    .append("\"]},{\"required\":[\"b")
                    .append(i)
                    .append("\"]}]}");
        }
        assertThatThrownBy(() -> Grammar.jsonSchema(wide.append("]}").toString()))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("the number of alternatives of one value is 1001");
    }
}

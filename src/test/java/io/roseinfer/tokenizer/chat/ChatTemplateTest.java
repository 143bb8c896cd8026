package io.roseinfer.tokenizer.chat;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.base.StrictJson;
import java.time.LocalDateTime;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

@Tag("parity")
final class ChatTemplateTest {
    private static final JsonNode GOLDENS = ChatGoldens.read("conversations.json");
    private static final LocalDateTime NOW =
            LocalDateTime.parse(GOLDENS.get("now").stringValue());

    @TestFactory
    Stream<DynamicTest> conversations_are_written_as_jinja_writes_them() {
        return GOLDENS.get("rendered").properties().stream()
                .flatMap(entry -> compared(
                        entry.getKey(), ChatGoldens.text("templates/" + entry.getKey() + ".jinja"), entry.getValue()));
    }

    static Stream<DynamicTest> compared(String name, String source, JsonNode rendered) {
        ChatTemplate template = ChatTemplate.parse(source, name, tokens());
        return rendered.properties().stream()
                .map(golden -> DynamicTest.dynamicTest(
                        name + ": " + golden.getKey(),
                        () -> ChatGoldens.assertAgrees(
                                golden.getValue(), () -> template.render(conversation(golden.getKey())))));
    }

    private static Map<String, String> tokens() {
        Map<String, String> tokens = new HashMap<>();
        GOLDENS.get("tokens")
                .properties()
                .forEach(entry -> tokens.put(entry.getKey(), entry.getValue().stringValue()));
        return tokens;
    }

    private static Conversation conversation(String name) {
        JsonNode golden = GOLDENS.get("conversations").get(name);
        Map<String, JsonNode> more = new HashMap<>();
        golden.properties().forEach(entry -> more.put(entry.getKey(), entry.getValue()));
        boolean addGenerationPrompt =
                Objects.requireNonNull(more.remove("add_generation_prompt")).booleanValue();
        JsonNode messages = Objects.requireNonNull(more.remove("messages"));
        Optional<JsonNode> tools = Optional.ofNullable(more.remove("tools"));
        return new Conversation(messages, tools, addGenerationPrompt, more, NOW);
    }

    private static String render(String source) {
        JsonNode messages = StrictJson.mapper().createArrayNode();
        return ChatTemplate.parse(source, "test", Map.of()).render(Conversation.of(messages, NOW));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '§',
            value = {
                "{% include 'x' %} § \"include\"",
                "{% import 'x' as y %} § \"import\"",
                "{% call f() %}{% endcall %} § \"call\"",
                "{% autoescape true %}{% endautoescape %} § \"autoescape\"",
                "{% for x in y recursive %}{% endfor %} § recursive",
                "{{ x|urlize }} § \"urlize\"",
                "{{ x|map('xmlattr') }} § \"xmlattr\"",
                "{{ x is weird }} § \"weird\"",
                "{{ x|selectattr('a', 'weird') }} § \"weird\"",
                "{{ x.__class__() }} § \"__class__\"",
                "{{ x.encode() }} § \"encode\"",
                "{{ cycler('a') }} § \"cycler\"",
                "{{ f(*x) }} § \"*\"",
                "{% break %} § outside",
                "{{ x § \"}}\"",
                "{{ x ] }} § \"]\"",
                "{# x § \"#}\"",
                "{% if x %} § endif",
                "{% endif %} § \"endif\"",
                "{{ 99999999999999999999 }} § 64 bits",
                "{{ \"\\N{DASH}\" }} § named characters"
            })
    void unsupported_construct_is_rejected_at_load(String source, String named) {
        BadModel refused = assertThrows(
                BadModel.class, () -> ChatTemplate.parse("a\n\n" + source, "chat_template.jinja", Map.of()));
        assertTrue(refused.getMessage().contains(named), refused.getMessage());
        assertTrue(refused.getMessage().startsWith("chat_template.jinja, line 3: "), refused.getMessage());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
                "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
                "{{ 'x' * 999999999999 }}",
                "{{ [0] * 999999999999 }}",
                "{% set ns = namespace(x='0123456789') %}{% for i in range(99) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
                "{% set ns = namespace(x=[1]) %}{% for i in range(99) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x }}",
                "{% set ns = namespace(x=[1]) %}{% for i in range(99) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x|tojson }}",
                "{% for i in range(99999) %}{{ 'x' * 1000 }}{% endfor %}",
                "{{ ('x' * 100000).replace('', 'y' * 100000) }}",
                "{{ 9 ** 99 }}",
                "{{ ('a' * 1000000).split('a')|map('upper')|join('x' * 1000) }}"
            })
    void excessive_rendering_is_rejected(String source) {
        assertThrows(BadInput.class, () -> render(source));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{% for i in range(9999) %}{{ i }}{% endfor %}",
                "{{ ('x' * 9999).replace('', 'yy') }}",
                "{{ ('x ' * 9999).split() }}"
            })
    void interrupt_ends_rendering_and_remains_set(String source) {
        Thread.currentThread().interrupt();
        assertThrows(CancellationException.class, () -> render(source));
        assertTrue(Thread.interrupted());
    }

    /** The output of Jinja2 3.1.6. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '§',
            ignoreLeadingAndTrailingWhitespace = false,
            emptyValue = "",
            value = {
                "{% for x in [] %}{% else %}{% set a = 1 %}{% endfor %}{{ a is defined }}§False",
                "{% for x in [1, 2] %}{% break %}{% else %}E{% endfor %}§E",
                "{% for x in [1, 2] %}{% continue %}{% else %}E{% endfor %}§E",
                "{% for x in [1, 2] %}{% if x == 2 %}{% break %}{% endif %}{{ x }}{% else %}E{% endfor %}§1",
                "{% for x in [1, 2] %}{% if x == 1 %}{% continue %}{% endif %}{{ x }}{% else %}E{% endfor %}§2",
                "{% macro f(a) %}{{ a }}{{ varargs }}{{ kwargs }}{% endmacro %}{{ f(1) }}§1(){}",
                "{{ '12_3'|int }} {{ '1__2'|int }} {{ '_1'|int }} {{ ' 7 '|int }}§123 0 0 7",
                "{{ '0x1f'|int(base=16) }} {{ '0b11'|int(0, 2) }} {{ '-0o17'|int(base=8) }} {{ 'zz'|int(base=36) }}§31 3 -15 1295",
                "{{ '0x1f'|int }} {{ '1e3'|int }} {{ '42.9'|int }} {{ 'inf'|int(5) }}§0 1000 42 5",
                "{{ 'inf'|float }} {{ '-Infinity'|float }} {{ 'nan'|float }} {{ '1d'|float }} {{ '0x1p3'|float }}§inf -inf nan 0.0 0.0",
                "{{ '1_0.5e1'|float }} {{ '.5'|float }} {{ '5.'|float }} {{ '.'|float(2) }} {{ '+3'|float }}§105.0 0.5 5.0 2 3.0",
                "{{ '18446744073709551616'|int }} {{ 1e20|int }}§18446744073709551616 100000000000000000000",
                "{{ 'ßa'|capitalize }} {{ 'ﬁx'|capitalize }} {{ 'ǆx'|capitalize }} {{ 'ßa'.title() }}§Ssa Fix ǅx Ssa",
                "{{ 'a𝕏bab'.find('b', 3) }} {{ 'abab'.rfind('b', 0, -1) }} {{ 'abab'.find('b', 9) }} {{ 'ab'.find('', 2) }}§4 1 -1 2",
                "{{ '𝕏bab'.index('b') }} {{ 'abab'.rindex('a', none, 2) }} {{ 'abc'.find('c', -1) }}§1 0 2",
                "{{ 'abc'.startswith('b', 1) }} {{ 'abc'.endswith(('x', 'b'), 0, -1) }} {{ ''.startswith('', 1) }}§True True False",
                "{{ namespace(a=1, b='x') }}§<Namespace {'a': 1, 'b': 'x'}>",
                "{{ none|int(3) }} {{ none|float(4) }}§3 4",
                "{{ 'a  b c '.split() }} {{ ' a b c'.split(none, 1) }}§['a', 'b', 'c'] ['a', 'b c']",
                "{{ 'a  b c '.rsplit() }} {{ ' a b c '.rsplit(none, 1) }} {{ '  '.split() }}§['a', 'b', 'c'] [' a b', 'c'] []",
                "{{ 'żółw'[1:3] }} {{ '𝕏yz'[::-1] }} {{ '𝕏yz'[0] }} {{ 'abc'[-1] }} {{ 'abc'[5] is defined }}§ół zy𝕏 𝕏 c False"
            })
    void text_equals_jinja_s(String source, String expected) {
        assertEquals(expected, render(source));
    }

    @ParameterizedTest
    @ValueSource(strings = {"{{ nothing|int }}", "{{ nothing|float }}", "{{ nothing|int(1) }}", "{{ 'a'.index('b') }}"})
    void errors_of_jinja_are_errors(String source) {
        assertThrows(BadInput.class, () -> render(source));
    }

    @Test
    void excessive_nesting_is_rejected_at_load() {
        String source = "{{ " + "(".repeat(100_000) + "1" + ")".repeat(100_000) + " }}";
        assertThrows(BadModel.class, () -> render(source));
    }

    @Test
    void failure_names_its_line() {
        BadInput failure = assertThrows(BadInput.class, () -> render("a\n{{ 'b' }}\n{{ nothing.x }}"));
        assertTrue(failure.getMessage().contains("line 3"), failure.getMessage());
    }

    @Test
    void template_cannot_access_the_program() {
        assertEquals(
                "",
                render("{{ messages.class }}{{ messages.getClass }}{{ (''.__class__) }}{{ messages['__class__'] }}"));
    }

    @Test
    void use_of_tools_is_detected() {
        assertTrue(ChatTemplate.parse("{% if tools %}x{% endif %}", "test", Map.of())
                .usesTools());
        assertFalse(ChatTemplate.parse("{{ messages[0].tools_used }}", "test", Map.of())
                .usesTools());
    }

    @ParameterizedTest
    @CsvSource({
        "%d %b %Y, 05 Mar 2026",
        "%A %a %B %m %y, Thursday Thu March 03 26",
        "%H:%M:%S %p, 14:07:09 PM",
        "%j %I %%, 064 02 %",
        "%-d/%-m %e, 5/3  5",
        "%F %T, 2026-03-05 14:07:09"
    })
    void times_are_formatted_like_c(String format, String expected) {
        assertEquals(expected, Strftime.format(NOW, format));
    }
}

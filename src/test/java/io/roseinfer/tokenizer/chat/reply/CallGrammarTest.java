package io.roseinfer.tokenizer.chat.reply;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.grammar.CompiledGrammar;
import io.roseinfer.grammar.Grammar;
import io.roseinfer.grammar.GrammarCursor;
import io.roseinfer.grammar.GrammarLimits;
import io.roseinfer.grammar.TokenTrie;
import io.roseinfer.grammar.TokenVocabulary;
import io.roseinfer.tokenizer.chat.reply.CallGrammar.Function;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CallGrammarTest {
    private static final int SPECIAL = 256;
    private static final String ARGUMENTS =
            "{\"type\":\"object\",\"properties\":{\"x\":{\"type\":\"integer\"}},\"required\":[\"x\"],\"additionalProperties\":false}";

    private static final List<Function> FUNCTIONS = List.of(
            new Function("f", Grammar.jsonSchema(ARGUMENTS)),
            new Function("g\"", Grammar.jsonSchema("{\"enum\":[{}]}")));

    private static ReplyFormat format(String calls, ReasoningFormat reasoning) {
        return ReplyFormat.of(new ReplyFormats(ToolCallFormat.valueOf(calls), reasoning));
    }

    /** Returns whether a grammar allows a text; the marker is one token if it is special. */
    private static boolean allows(Grammar grammar, String special, String text) {
        byte[][] bytes = new byte[SPECIAL + 1][];
        for (int i = 0; i < SPECIAL; i++) {
            bytes[i] = new byte[] {(byte) i};
        }
        bytes[SPECIAL] = special.getBytes(StandardCharsets.UTF_8);
        Map<String, Integer> ids = special.isEmpty() ? Map.of() : Map.of(special, SPECIAL);
        TokenTrie trie = TokenTrie.of(TokenVocabulary.of(bytes, ids));
        GrammarCursor cursor =
                CompiledGrammar.compile(grammar, trie, GrammarLimits.DEFAULT).newCursor();
        for (int at = 0; at < text.length(); ) {
            if (!special.isEmpty() && text.startsWith(special, at)) {
                if (!cursor.advance(SPECIAL)) {
                    return false;
                }
                at += special.length();
            } else if (!cursor.advance(text.charAt(at++))) {
                return false;
            }
        }
        return cursor.isAccepting();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '§',
            quoteCharacter = '´',
            value = {
                "HERMES § <tool_call>⏎{\"name\": \"f\", \"arguments\": {\"x\":1}}⏎</tool_call> § true",
                "HERMES § <tool_call>⏎{\"name\": \"g\\\"\", \"arguments\": {}}⏎</tool_call>⏎<tool_call>⏎{\"name\": \"f\", \"arguments\": {\"x\":1}}⏎</tool_call> § true",
                "HERMES § <tool_call>⏎{\"name\": \"f\", \"arguments\": {\"x\":\"1\"}}⏎</tool_call> § false",
                "HERMES § <tool_call>⏎{\"name\": \"h\", \"arguments\": {\"x\":1}}⏎</tool_call> § false",
                "HERMES § Hm. § false",
                "LLAMA3_JSON § {\"name\": \"f\", \"parameters\": {\"x\":1}} § true",
                "LLAMA3_JSON § {\"name\": \"f\", \"parameters\": {\"x\":1}}; {\"name\": \"g\\\"\", \"parameters\": {}} § true",
                "LLAMA3_JSON § {\"name\": \"f\", \"parameters\": {\"x\":1}}; § false",
                "MISTRAL § [TOOL_CALLS][{\"name\": \"f\", \"arguments\": {\"x\":1}}] § true",
                "MISTRAL § [TOOL_CALLS][{\"name\": \"f\", \"arguments\": {\"x\":1}}, {\"name\": \"g\\\"\", \"arguments\": {}}] § true",
                "MISTRAL § [TOOL_CALLS][] § false",
                "MISTRAL_ARGS § [TOOL_CALLS]f[ARGS]{\"x\":1} § true",
                "MISTRAL_ARGS § [TOOL_CALLS]f[ARGS]{\"x\":1}[TOOL_CALLS]f[ARGS]{\"x\":2} § true",
                "MISTRAL_ARGS § [TOOL_CALLS]f[ARGS]{\"x\":\"1\"} § false",
                "MISTRAL_ARGS § [TOOL_CALLS]h[ARGS]{\"x\":1} § false"
            })
    void required_calls_are_valid_calls(String calls, String text, boolean allowed) {
        ReplyFormat format = format(calls, ReasoningFormat.NONE);
        String raw = text.replace('⏎', '\n');
        String trigger = format.calls().trigger();
        assertThat(allows(new CallGrammar(format, Set.of()).calls(FUNCTIONS), "", raw))
                .isEqualTo(allowed);
        assertThat(allows(new CallGrammar(format, Set.of(trigger)).calls(FUNCTIONS), trigger, raw))
                .isEqualTo(allowed);
        if (allowed) {
            assertThat(ReplyParserTest.whole(format, raw).calls()).isNotEmpty();
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '§',
            quoteCharacter = '´',
            value = {
                "HERMES § A < b. § true",
                "HERMES § Hm.⏎<tool_call>⏎{\"name\": \"f\", \"arguments\": {\"x\":1}}⏎</tool_call> § true",
                "HERMES § Hm.⏎<tool_call>⏎{\"name\": \"f\", \"arguments\": {}}⏎</tool_call> § false",
                "LLAMA3_JSON § A {set}. § true",
                "LLAMA3_JSON § {\"name\": \"f\", \"parameters\": {\"x\":1}} § true",
                "LLAMA3_JSON § {\"name\": \"f\", \"parameters\": {\"y\":1}} § false",
                "MISTRAL § Hm. [1] § true",
                "MISTRAL § Hm. [TOOL_CALLS][{\"name\": \"f\", \"arguments\": {\"x\":1}}] § true",
                "MISTRAL § Hm. [TOOL_CALLS][{\"name\": \"f\", \"arguments\": {\"x\":null}}] § false",
                "MISTRAL_ARGS § Hm. [ARGS] § true",
                "MISTRAL_ARGS § Hm. [TOOL_CALLS]f[ARGS]{\"x\":1} § true",
                "MISTRAL_ARGS § Hm. [TOOL_CALLS]f[ARGS]{\"x\":null} § false"
            })
    void optional_calls_are_valid_calls(String calls, String text, boolean allowed) {
        ReplyFormat format = format(calls, ReasoningFormat.NONE);
        String raw = text.replace('⏎', '\n');
        String trigger = format.calls().trigger();
        assertThat(allows(new CallGrammar(format, Set.of()).optionalCalls(FUNCTIONS), "", raw))
                .isEqualTo(allowed);
        assertThat(allows(new CallGrammar(format, Set.of(trigger)).optionalCalls(FUNCTIONS), trigger, raw))
                .isEqualTo(allowed);
    }

    @Test
    void only_one_call_is_allowed_if_calls_are_not_parallel() {
        ReplyFormat format = format("LLAMA3_JSON", ReasoningFormat.NONE).withOneCall(true);
        Grammar grammar = new CallGrammar(format, Set.of()).calls(FUNCTIONS);
        String call = "{\"name\": \"f\", \"parameters\": {\"x\":1}}";
        assertThat(allows(grammar, "", call)).isTrue();
        assertThat(allows(grammar, "", call + "; " + call)).isFalse();
    }

    @Test
    void grammar_begins_after_the_reasoning() {
        Grammar answer = Grammar.choice(List.of("yes", "no"));
        for (Set<String> special : List.of(Set.<String>of(), Set.of("</think>"))) {
            String marker = special.isEmpty() ? "" : "</think>";
            ReplyFormat format = format("NONE", ReasoningFormat.QWEN3);
            Grammar grammar = new CallGrammar(format, special).afterReasoning(answer);
            assertThat(allows(grammar, marker, "<think>\nyes or no?\n</think>\n\nyes"))
                    .isTrue();
            assertThat(allows(grammar, marker, "no")).isTrue();
            assertThat(allows(grammar, marker, "<think>Hm.</think>maybe")).isFalse();
            assertThat(allows(grammar, marker, "<think>Hm.")).isFalse();
            Grammar begun = new CallGrammar(format.after("<think>\n"), special).afterReasoning(answer);
            assertThat(allows(begun, marker, "Hm.</think>\n\nno")).isTrue();
            assertThat(allows(begun, marker, "no")).isFalse();
        }
    }

    @Test
    void reply_is_a_call_or_a_text_of_another_grammar() {
        ReplyFormat format = format("HERMES", ReasoningFormat.NONE);
        Grammar grammar =
                new CallGrammar(format, Set.of()).callsOr(Grammar.jsonSchema("{\"type\":\"integer\"}"), FUNCTIONS);
        assertThat(allows(grammar, "", "17")).isTrue();
        assertThat(allows(grammar, "", "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"x\":1}}\n</tool_call>"))
                .isTrue();
        assertThat(allows(grammar, "", "seventeen")).isFalse();
    }
}

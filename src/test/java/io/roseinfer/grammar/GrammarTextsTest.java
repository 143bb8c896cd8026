package io.roseinfer.grammar;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.RoseException.BadInput;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class GrammarTextsTest {
    private static void assertTexts(Grammar grammar, List<String> in, List<String> out) {
        in.forEach(text ->
                assertThat(GrammarOracle.accepts(grammar, text)).as(text).isTrue());
        out.forEach(text ->
                assertThat(GrammarOracle.accepts(grammar, text)).as(text).isFalse());
    }

    @Test
    void gbnf_has_rules_literals_classes_groups_and_repetitions() {
        Grammar grammar = Grammar.gbnf("""
            # arithmetic
            root  ::= (expr "=" ws term "\\n")+
            expr  ::= term ([-+*/] term)*
            term  ::= ident | num |
                      "(" ws expr ")" ws
            ident ::= [a-z] [a-z0-9_]* ws
            num   ::= [0-9]{1,3} ws
            ws    ::= [ \\t\\n]*
            """);
        assertTexts(
                grammar, List.of("x=1\n", "x +12 *(y) = z\n", "a=b\nc=d\n"), List.of("", "x=1", "x=1234\n", "+=1\n"));
    }

    @Test
    void gbnf_has_recursion_escapes_and_any_character() {
        Grammar grammar = Grammar.gbnf("root ::= \"\\x41\" list \"\\u00e9\"\nlist ::= . | list \",\" . | [^,]{2}\n");
        assertTexts(grammar, List.of("A😀é", "Aa,b,cé", "Axyé"), List.of("Aé", "Aabcé"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "a ::= \"b\"",
                "root ::= missing",
                "root ::= \"a",
                "root ::= [z-a]",
                "root ::= \"a\")",
                "root ::= (\"a\"",
                "root = \"a\"",
                "root ::= \"a\"{3,2}",
                "root ::= <[7]>",
                "root ::= !<a>",
                "root ::= \"a\"\nroot ::= \"b\""
            })
    void malformed_gbnf_is_rejected(String text) {
        assertThatThrownBy(() -> Grammar.gbnf(text))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("grammar");
    }

    @Test
    void special_tokens_are_reached_by_name() {
        assertThat(Grammar.gbnf("root ::= \"a\" <|eot|>").rules().get("root"))
                .isEqualTo(Expression.sequence(Expression.literal("a"), new Expression.TokenReference("<|eot|>")));
        assertThat(Grammar.lark("start: <think> \"a\"").toString()).contains("TokenReference[token=<think>]");
    }

    @Test
    void lark_has_rules_terminals_and_ignored_text() {
        Grammar grammar = Grammar.lark("""
            // sums
            ?start: sum
            sum: product
               | sum "+" product -> add
            product: NUMBER | "(" sum ")" | CNAME~1..2
            %import common.CNAME
            %import common (NUMBER, WS)
            %ignore WS
            """);
        assertTexts(grammar, List.of("1", " 1 + (2.5+x) ", "x y"), List.of("", "1 +", "x y z", "1 2"));
    }

    @Test
    void lark_terminals_have_ranges_flags_intersection_and_complement() {
        Grammar grammar = Grammar.lark("""
            start: A | B | C
            A: "a".."c" "x"i /[0-9]{2}/
            B: /b+/ & ~/(bb)*/
            C: [/y/i] "!"
            """);
        assertTexts(
                grammar, List.of("ax12", "cX12", "b", "bbb", "!", "Y!"), List.of("dx12", "ax1", "bb", "bbbb", "yy!"));
    }

    @Test
    void lark_embeds_json_schemas() {
        Grammar grammar = Grammar.lark("""
            start: "call " f | f "."
            f: %json {"type": "object", "properties": {"a}": {"type": "integer"}}, "required": ["a}"],
                      "additionalProperties": false}
            """);
        assertTexts(grammar, List.of("call {\"a}\":1}", "{ \"a}\": 1 }."), List.of("call 1", "{}."));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "a: \"b\"",
                "start: missing",
                "start: A\nA: b\nb: \"c\"",
                "start: A\nA: A \"c\"",
                "start[lazy]: /a/",
                "start.2: /a/",
                "start{x}: x",
                "start: @other",
                "start: %regex {}",
                "start: /a/x",
                "start: ~/a/",
                "start: \"b\"..\"a\"",
                "%declare A\nstart: A",
                "%import python.NAME\nstart: NAME",
                "%llguidance {\"no_forcing\": true}\nstart: \"a\""
            })
    void unsupported_lark_is_rejected(String text) {
        assertThatThrownBy(() -> Grammar.lark(text))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("grammar");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"%NAME", "%import common.NAME\nstart: NAME", "start: /a/NAME", "start: a\na: \"b\"\na: \"NAME\""})
    void long_names_in_lark_are_cut_in_messages(String text) {
        assertThatThrownBy(() -> Grammar.lark(text.replace("NAME", "x".repeat(5000))))
                .isInstanceOf(BadInput.class)
                .message()
                .hasSizeLessThan(500);
    }

    @Test
    void choices_and_regular_expressions_are_whole_texts() {
        assertTexts(
                Grammar.choice(List.of("yes", "no", "yes please", "")),
                List.of("yes", "no", "yes please", ""),
                List.of("y", "yes "));
        assertTexts(Grammar.regex("[a-c]{2}|x"), List.of("ab", "x"), List.of("xab", "a"));
        assertThatThrownBy(() -> Grammar.choice(List.of())).isInstanceOf(BadInput.class);
        assertThatThrownBy(() -> Grammar.choice(List.of("\ud800"))).isInstanceOf(BadInput.class);
    }

    /** A limit on groups side by side would reject plain grammars. */
    @Test
    void nesting_does_not_count_groups_side_by_side() {
        String groups = "(\"a\")".repeat(GrammarSize.NESTING + 100);
        List<String> in = List.of("a".repeat(GrammarSize.NESTING + 100));
        assertTexts(Grammar.gbnf("root ::= " + groups), in, List.of("a"));
        assertTexts(Grammar.lark("start: " + groups), in, List.of("a"));
    }

    @Test
    void deepest_nesting_is_accepted_and_a_deeper_one_rejected() {
        String deepest = nested(GrammarSize.NESTING - 1);
        String deeper = nested(GrammarSize.NESTING);
        assertTexts(Grammar.gbnf("root ::= " + deepest), List.of("a"), List.of(""));
        assertTexts(Grammar.lark("start: " + deepest), List.of("a"), List.of(""));
        String message = "the nesting of a grammar is 201; it must be at most 200";
        assertThatThrownBy(() -> Grammar.gbnf("root ::= " + deeper)).hasMessage(message);
        assertThatThrownBy(() -> Grammar.lark("start: " + deeper)).hasMessage(message);
    }

    @ParameterizedTest
    @ValueSource(strings = {"root ::= LIST", "start: LIST"})
    void long_strings_are_rejected_before_they_are_compiled(String start) {
        String most = start.replace("LIST", ("\"" + "x".repeat(1_000) + "\" ").repeat(400));
        assertThat(Grammar.ebnf(most).rules()).isNotEmpty();
        assertThatThrownBy(() -> Grammar.ebnf(most + "\"x\""))
                .isInstanceOf(BadInput.class)
                .hasMessage("the number of characters of the grammar's strings is 400001; it must be at most 400000;"
                        + " shorten them, or split the grammar");
    }

    @Test
    void schemas_within_lark_count_as_work() {
        String schemas = "%json {\"type\": \"null\"} ".repeat(600);
        assertThatThrownBy(() -> Grammar.lark("start: " + schemas))
                .isInstanceOf(BadInput.class)
                .hasMessageStartingWith("reading the grammar takes more than 300000 steps");
    }

    private static String nested(int groups) {
        return "(".repeat(groups) + "\"a\"" + ")".repeat(groups);
    }
}

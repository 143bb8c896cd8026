package io.roseinfer.tokenizer.chat.reply;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.tokenizer.chat.reply.Reply.Call;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.json.JsonMapper;

class ReplyParserTest {
    private static final long SEED = 20_261_126;
    private static final JsonMapper JSON = JsonMapper.builder().build();
    private static final List<String> ARGUMENTS = List.of(
            "{}",
            "{\"x\": 1}",
            "{\"x\": \"a\\\"]}</tool_call>\", \"y\": [true, null, -2.5]}",
            "{\"z\": {\"é\": [{}]}}");
    /** The same as {@link #ARGUMENTS}. */
    private static final List<String> PYTHON =
            List.of("", "x=1", "x='a\"]}</tool_call>', y=[True, None, -2.5]", "z={'é': [{}]}");

    private static final int ROUNDS = Integer.getInteger("roseinfer.replies", 3000);

    private static ReplyFormat format(ToolCallFormat calls, ReasoningFormat reasoning) {
        return ReplyFormat.of(new ReplyFormats(calls, reasoning));
    }

    private static ReplyFormat format(String calls) {
        return format(ToolCallFormat.valueOf(calls), ReasoningFormat.NONE);
    }

    static Reply whole(ReplyFormat format, String text) {
        return streamed(format, List.of(text));
    }

    /** Parses a text in pieces. */
    private static Reply streamed(ReplyFormat format, List<String> pieces) {
        ReplyParser parser = new ReplyParser(format);
        List<ReplyDelta> deltas = new ArrayList<>();
        for (String piece : pieces) {
            parser.accept(piece);
            deltas.addAll(parser.take());
        }
        parser.end();
        deltas.addAll(parser.take());
        return Reply.of(deltas);
    }

    /** Requires the same reply with a cut at every place, and with all cuts. */
    static Reply atEveryCut(ReplyFormat format, String text) {
        Reply whole = whole(format, text);
        for (int cut = 1; cut < text.length(); cut++) {
            assertThat(streamed(format, List.of(text.substring(0, cut), text.substring(cut))))
                    .as("cut %d of %s", cut, text)
                    .isEqualTo(whole);
        }
        assertThat(streamed(format, text.chars().mapToObj(Character::toString).toList()))
                .as(text)
                .isEqualTo(whole);
        return whole;
    }

    private static List<Call> calls(String... namesAndArguments) {
        List<Call> calls = new ArrayList<>();
        for (int i = 0; i < namesAndArguments.length; i += 2) {
            calls.add(new Call(namesAndArguments[i], namesAndArguments[i + 1]));
        }
        return calls;
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '§',
            quoteCharacter = '´',
            value = {
                "HERMES § <tool_call>⏎{\"name\": \"f\", \"arguments\": {\"x\": [1, {\"y\": \"é\"}]}}⏎</tool_call> §  § f{\"x\": [1, {\"y\": \"é\"}]}",
                "HERMES § Let me look.⏎<tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call> § Let me look. § f{}",
                "HERMES § <tool_call>{\"arguments\": {\"x\": 1}, \"name\": \"f\"}</tool_call> §  § f{\"x\": 1}",
                "HERMES § <tool_call>{\"name\": \"f\", \"arguments\": {\"x\": \"</tool_call>\"}}</tool_call> §  § f{\"x\": \"</tool_call>\"}",
                "HERMES § <tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>⏎<tool_call>{\"name\": \"g\", \"arguments\": {}}</tool_call>⏎ §  § f{}g{}",
                "HERMES § <tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>⏎Done. § ⏎Done. § f{}",
                "HERMES § <tool_call>{\"name\": \"f\", \"arguments\": {}} §  § f{}",
                "HERMES § 1 < 2 and <tool> is <tool_cal § 1 < 2 and <tool> is <tool_cal §",
                "LLAMA3_JSON § {\"name\": \"f\", \"parameters\": {\"x\": \"a\\\"b\"}} §  § f{\"x\": \"a\\\"b\"}",
                "LLAMA3_JSON § {\"name\": \"f\", \"arguments\": {}}; {\"name\": \"g\", \"parameters\": {\"x\": 1.5e3}} §  § f{}g{\"x\": 1.5e3}",
                "LLAMA3_JSON § <|python_tag|>{\"type\": \"function\", \"name\": \"f\", \"parameters\": {}} §  § f{}",
                "LLAMA3_JSON § A set is {1, 2}. § A set is {1, 2}. §",
                "LLAMA3_JSON § {\"name\": \"f\", \"parameters\": {}} is a call. §  is a call. § f{}",
                "MISTRAL § [TOOL_CALLS] [{\"name\": \"f\", \"arguments\": {\"x\": null}, \"id\": \"abcdefghi\"}] §  § f{\"x\": null}",
                "MISTRAL § Sure. [TOOL_CALLS][{\"name\": \"f\", \"arguments\": {}}, {\"name\": \"g\", \"arguments\": {}}] § Sure. § f{}g{}",
                "MISTRAL § [TOOL_CALLS][{\"name\": \"f\", \"arguments\": {}} §  § f{}",
                "MISTRAL § [TOOLS] are [1] § [TOOLS] are [1] §",
                "MISTRAL_ARGS § [TOOL_CALLS]f[ARGS]{\"x\": [\"]\"]} §  § f{\"x\": [\"]\"]}",
                "MISTRAL_ARGS § Sure. [TOOL_CALLS]f.a-b[CALL_ID]abcdefghi[ARGS]{}[TOOL_CALLS]g[ARGS] {\"y\": 1} § Sure. § f.a-b{}g{\"y\": 1}",
                "MISTRAL_ARGS § [ARGS]{} is not a call § [ARGS]{} is not a call §",
                "PYTHONIC § [f(x=1, y='it\\'s', z=[True, None, -2.5], w={'k': (1, 2)}), g()] §  § f{\"x\": 1, \"y\": \"it's\", \"z\": [true, null, -2.5], \"w\": {\"k\": [1, 2]}}g{}",
                "PYTHONIC § [f(x=\"a)]\")] §  § f{\"x\": \"a)]\"}",
                "PYTHONIC § One [f(x=1)] § One [f(x=1)] §"
            })
    void calls_and_content_are_separated(String calls, String text, String content, String expected) {
        Reply reply = atEveryCut(format(calls), text.replace('⏎', '\n'));
        String written = content == null ? "" : content.replace('⏎', '\n');
        assertThat(reply.content()).isEqualTo(text.startsWith("{") && !written.isEmpty() ? " " + written : written);
        StringBuilder made = new StringBuilder();
        reply.calls().forEach(call -> made.append(call.name()).append(call.arguments()));
        assertThat(made).hasToString(expected == null ? "" : expected);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '§',
            quoteCharacter = '´',
            value = {
                "HERMES § <tool_call>f(1)</tool_call>",
                "HERMES § <tool_call>{\"name\": \"f\"}</tool_call>",
                "HERMES § <tool_call>{\"arguments\": {}}</tool_call>",
                "HERMES § <tool_call>{\"name\": 5, \"arguments\": {}}</tool_call>",
                "HERMES § <tool_call>{\"name\": \"\", \"arguments\": {}}</tool_call>",
                "HERMES § <tool_call>{\"name\": \"f\", \"arguments\": \"x\"}</tool_call>",
                "HERMES § <tool_call>{\"name\": \"f\", \"arguments\": ",
                "HERMES § Hm.⏎<tool_call>",
                "LLAMA3_JSON § {\"answer\": 5}",
                "LLAMA3_JSON § <|python_tag|>search.call(query=\"x\")",
                "MISTRAL § [TOOL_CALLS]f{\"x\": 1}",
                "MISTRAL § [TOOL_CALLS]",
                "MISTRAL § [TOOL_CALLS][]",
                "MISTRAL_ARGS § [TOOL_CALLS]f{\"x\": 1}",
                "MISTRAL_ARGS § [TOOL_CALLS][ARGS]{}",
                "MISTRAL_ARGS § [TOOL_CALLS]f[ARGS][1]",
                "MISTRAL_ARGS § [TOOL_CALLS]f[CALL_ID",
                "PYTHONIC § [1] is a reference",
                "PYTHONIC § [f(1)]",
                "PYTHONIC § [f(x=y)]",
                "PYTHONIC § [f(x='\\x4']"
            })
    void malformed_call_without_arguments_is_content(String calls, String text) {
        String raw = text.replace('⏎', '\n');
        assertThat(atEveryCut(format(calls), raw)).isEqualTo(new Reply("", raw, List.of()));
    }

    /** Arguments that were delivered stay, and what follows them is content. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '§',
            quoteCharacter = '´',
            value = {
                "{x: 1}}</tool_call> § { § x: 1}}</tool_call>",
                "{\"x\": 01}}</tool_call> § {\"x\": 01 § }}</tool_call>",
                "{\"x\": True}}</tool_call> § {\"x\":  § True}}</tool_call>",
                "{\"x\": tr?}}</tool_call> § {\"x\": tr § ?}}</tool_call>",
                "{\"x\": \"\\q\"}}</tool_call> § {\"x\": \"\\ § q\"}}</tool_call>",
                "{\"x\": 1,}}</tool_call> § {\"x\": 1, § }}</tool_call>",
                "{\"x\": 1]}</tool_call> § {\"x\": 1 § ]}</tool_call>",
                "{}}}</tool_call> § {} § }</tool_call>",
                "{}}</tool_call><tool_call>{]</tool_call> § {} § <tool_call>{]</tool_call>"
            })
    void text_after_the_arguments_of_a_malformed_call_is_content(String text, String arguments, String content) {
        Reply reply = atEveryCut(format("HERMES"), "<tool_call>{\"name\": \"f\", \"arguments\": " + text);
        assertThat(reply.content()).isEqualTo(content);
        assertThat(reply.calls()).hasSize(1);
        assertThat(reply.calls().getFirst().arguments().strip()).isEqualTo(arguments);
    }

    /**
     * Replies that end early, as by a maximum of tokens: no complete call is lost, the last one is a start, and a call
     * without arguments is not content after complete ones.
     */
    @ParameterizedTest
    @EnumSource(value = ToolCallFormat.class, names = "NONE", mode = EnumSource.Mode.EXCLUDE)
    void reply_that_ends_at_any_character_has_all_calls_so_far(ToolCallFormat calls) {
        Random random = new Random(SEED);
        for (int round = 0; round < ROUNDS / 30; round++) {
            List<Call> made = new ArrayList<>();
            for (int i = random.nextInt(3); i >= 0; i--) {
                made.add(new Call("f" + i, ARGUMENTS.get(random.nextInt(ARGUMENTS.size()))));
            }
            ReplyFormat format = format(calls, ReasoningFormat.QWEN3);
            StringBuilder text = new StringBuilder(random.nextBoolean() ? "<think>Hm.</think>\n" : "");
            List<Integer> ends = new ArrayList<>();
            write(text, made, calls, ends);
            assertThat(atEveryCut(format, text.toString()).calls()).isEqualTo(made);
            for (int end = 0; end <= text.length(); end++) {
                int length = end;
                long complete = ends.stream().filter(one -> one <= length).count();
                String part = text.substring(0, end);
                List<Call> some = whole(format, part).calls();
                assertThat(streamed(
                                format,
                                part.chars().mapToObj(Character::toString).toList()))
                        .isEqualTo(whole(format, part));
                assertThat(some).as("%d of %s", end, text).hasSizeBetween((int) complete, (int) complete + 1);
                assertThat(some.subList(0, (int) complete)).isEqualTo(made.subList(0, (int) complete));
                if (complete > 0) {
                    assertThat(whole(format, part).content()).as(part).isEmpty();
                }
                if (some.size() > complete) {
                    Call whole = made.get((int) complete);
                    assertThat(some.getLast().name()).isEqualTo(whole.name());
                    assertThat(whole.arguments()).startsWith(some.getLast().arguments());
                }
            }
        }
    }

    /** Writes calls as a model does, and adds the place where each call is complete. */
    private static void write(StringBuilder text, List<Call> made, ToolCallFormat calls, List<Integer> ends) {
        String separator = calls == ToolCallFormat.LLAMA3_JSON ? "; " : calls.isList() ? ", " : "\n";
        text.append(calls == ToolCallFormat.HERMES ? "" : calls.trigger()).append(calls.isList() ? "[" : "");
        for (int i = 0; i < made.size(); i++) {
            Call call = made.get(i);
            text.append(i == 0 ? "" : separator);
            if (calls == ToolCallFormat.PYTHONIC) {
                text.append(call.name()).append('(').append(PYTHON.get(ARGUMENTS.indexOf(call.arguments())));
                ends.add(text.append(')').length());
            } else if (calls == ToolCallFormat.MISTRAL_ARGS) {
                text.append(i == 0 ? "" : calls.trigger()).append(call.name()).append("[ARGS]");
                ends.add(text.append(call.arguments()).length());
            } else {
                text.append(calls == ToolCallFormat.HERMES ? "<tool_call>" : "")
                        .append("{\"name\": \"%s\", \"%s\": ".formatted(call.name(), calls.argumentsKey()));
                ends.add(text.append(call.arguments()).length());
                text.append('}').append(calls.end());
            }
        }
        text.append(calls.isList() ? "]" : "");
    }

    @Test
    void arguments_are_delivered_as_they_arrive() {
        ReplyParser parser = new ReplyParser(format("HERMES"));
        parser.accept("Hi <tool_call>{\"name\": \"f\", \"arguments\": {\"pla");
        assertThat(parser.take())
                .containsExactly(
                        new ReplyDelta.Content("Hi"),
                        new ReplyDelta.CallStart(0, "f"),
                        new ReplyDelta.CallArguments(0, "{\"pla"));
        assertThat(parser.hasCalls()).isTrue();
        parser.accept("ce\": 1}");
        assertThat(parser.take()).containsExactly(new ReplyDelta.CallArguments(0, "ce\": 1}"));
    }

    @Test
    void only_the_first_call_is_kept_if_calls_are_not_parallel() {
        ReplyFormat format = format("MISTRAL").withOneCall(true);
        String text = "[TOOL_CALLS][{\"name\": \"f\", \"arguments\": {}}, {\"name\": \"g\", \"arguments\": {}}]";
        assertThat(atEveryCut(format, text)).isEqualTo(new Reply("", "", calls("f", "{}")));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '§',
            quoteCharacter = '´',
            value = {
                "QWEN3 § false § ⏎<think>⏎Hm,⏎⏎so.⏎</think>⏎⏎Yes. § Hm,⏎⏎so. § Yes.",
                "QWEN3 § false § <think>⏎⏎</think>⏎⏎Yes. §  § Yes.",
                "QWEN3 § false § Yes <think>no</think> §  § Yes <think>no</think>",
                "QWEN3 § false §  Yes §  §  Yes",
                "QWEN3 § false § <think>cut < of § cut < of §",
                "QWEN3 § false § <thin §  § <thin",
                "QWEN3 § true § Hm.</think>Yes. § Hm. § Yes.",
                "QWEN3 § true § ⏎<think>Hm.</think>⏎ § Hm. §",
                "DEEPSEEK_R1 § true § Hm.⏎</think>⏎⏎Yes.⏎ § Hm. § Yes.⏎"
            })
    void reasoning_is_separated(String format, boolean inReasoning, String text, String reasoning, String content) {
        ReplyFormat of = format(ToolCallFormat.NONE, ReasoningFormat.valueOf(format))
                .after(inReasoning ? "prompt <think>\n" : "prompt <think>\n\n</think>\n\n");
        Reply reply = atEveryCut(of, text.replace('⏎', '\n'));
        assertThat(reply.reasoning()).isEqualTo(reasoning == null ? "" : reasoning.replace('⏎', '\n'));
        assertThat(reply.content().strip())
                .isEqualTo(content == null ? "" : content.replace('⏎', '\n').strip());
        assertThat(atEveryCut(of.withoutReasoning(true), text.replace('⏎', '\n')))
                .isEqualTo(new Reply("", reply.content(), List.of()));
    }

    @Test
    void calls_follow_the_reasoning_and_are_not_searched_in_it() {
        String call = "<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call>";
        ReplyFormat format = format(ToolCallFormat.HERMES, ReasoningFormat.QWEN3);
        assertThat(atEveryCut(format, "<think>\n" + call + "?\n</think>\n\n" + call))
                .isEqualTo(new Reply(call + "?", "", calls("f", "{}")));
        ReplyFormat atStart = format(ToolCallFormat.LLAMA3_JSON, ReasoningFormat.QWEN3);
        assertThat(atEveryCut(atStart, "<think>Hm.</think>\n{\"name\": \"f\", \"parameters\": {}}"))
                .isEqualTo(new Reply("Hm.", "", calls("f", "{}")));
    }

    @Test
    void reasoning_of_r1_begins_with_the_reply_unless_the_prompt_ends_it() {
        ReplyFormat format = format(ToolCallFormat.NONE, ReasoningFormat.DEEPSEEK_R1);
        assertThat(format.after("prompt").inReasoning()).isTrue();
        assertThat(format.after("prompt <think></think>\n").inReasoning()).isFalse();
        assertThat(format(ToolCallFormat.NONE, ReasoningFormat.QWEN3)
                        .after("<think>x</think> prompt")
                        .inReasoning())
                .isFalse();
    }

    /** Random changes of a call: the parts do not depend on cuts, and the arguments of each but the last call are a JSON object. */
    @ParameterizedTest
    @EnumSource(value = ToolCallFormat.class, names = "NONE", mode = EnumSource.Mode.EXCLUDE)
    void changed_calls_never_fail(ToolCallFormat calls) {
        String text =
                switch (calls) {
                    case HERMES ->
                        "Hi <tool_call>\n{\"name\": \"f\", \"arguments\": {\"x\": [1.5, \"\\u00e9\", null]}}\n</tool_call>";
                    case MISTRAL -> "[TOOL_CALLS][{\"name\": \"f\", \"arguments\": {\"x\": [true, -1e3]}}]";
                    case MISTRAL_ARGS ->
                        "[TOOL_CALLS]f[CALL_ID]abc[ARGS]{\"x\": [true]}[TOOL_CALLS]g[ARGS]{\"y\": \"]\"}";
                    case PYTHONIC -> "[f(x=1, y=['a', {\"b\": None}]), g(z='\\n')]";
                    default -> "{\"name\": \"f\", \"parameters\": {\"x\": {\"y\": \"\\\\\"}}}; {\"name\": \"g\"}";
                };
        String letters = "{}[]()\"'\\,:;=<>/ \n-+.0e1tfnuxé";
        Random random = new Random(SEED);
        for (int round = 0; round < ROUNDS; round++) {
            StringBuilder changed = new StringBuilder(text);
            for (int i = random.nextInt(4); i >= 0; i--) {
                int at = random.nextInt(changed.length());
                char letter = letters.charAt(random.nextInt(letters.length()));
                switch (random.nextInt(3)) {
                    case 0 -> changed.setCharAt(at, letter);
                    case 1 -> changed.insert(at, letter);
                    default -> changed.deleteCharAt(at);
                }
            }
            ReplyFormat format = format(calls, ReasoningFormat.NONE);
            int cut = random.nextInt(changed.length());
            Reply whole = whole(format, changed.toString());
            assertThat(streamed(format, List.of(changed.substring(0, cut), changed.substring(cut))))
                    .as("seed %d, round %d: %s", SEED, round, changed)
                    .isEqualTo(whole);
            // Only the last call can be malformed.
            for (Call call : whole.calls().subList(0, Math.max(0, whole.calls().size() - 1))) {
                assertThat(JSON.readTree(call.arguments()).isObject())
                        .as(call.arguments())
                        .isTrue();
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"true, false", "false, true"})
    void white_space_at_the_end_is_content_unless_the_reply_has_reasoning(boolean hasReasoning, boolean isKept) {
        ReplyFormat format = format(ToolCallFormat.HERMES, ReasoningFormat.QWEN3);
        assertThat(atEveryCut(format, (hasReasoning ? "<think>Hm.</think>" : "") + "Yes. \n")
                        .content())
                .isEqualTo(isKept ? "Yes. \n" : "Yes.");
    }
}

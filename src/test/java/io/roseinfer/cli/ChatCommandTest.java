package io.roseinfer.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.base.StrictJson;
import io.roseinfer.cli.CliRunner.Outcome;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests of {@code roseinfer chat} on the simulated device, with its input from a pipe. */
class ChatCommandTest {
    private static final String[] MODEL = {"--model", "builtin:tiny", "--device", "sim", "--max-new-tokens", "12"};

    private static Outcome chat(String input, String... flags) {
        List<String> args = new ArrayList<>(List.of("chat"));
        args.addAll(List.of(MODEL));
        args.addAll(List.of(flags));
        Outcome outcome = CliRunner.runReading(input, args.toArray(String[]::new));
        assertThat(outcome.code()).as(outcome.err()).isZero();
        return outcome;
    }

    /** Returns the model's answer to a conversation; its template joins messages with newlines. */
    private static String answer(String... messages) {
        Outcome outcome = CliRunner.run(
                "generate",
                "--prompt",
                String.join("\n", messages),
                MODEL[0],
                MODEL[1],
                MODEL[2],
                MODEL[3],
                MODEL[4],
                MODEL[5]);
        return outcome.out().substring(0, outcome.out().length() - 1);
    }

    @Test
    void answer_is_followed_by_its_latency() {
        Outcome outcome = chat("Once upon a time\n");
        assertThat(outcome.out()).isEqualTo(answer("Once upon a time") + "\n");
        assertThat(outcome.err()).containsPattern("first token after [0-9.]+ ms, 12 tokens, [0-9.]+ tokens/s");
    }

    @Test
    void conversation_continues_until_reset() {
        String first = answer("Hello");
        String second = answer("Hello", first, "And then?");
        Outcome outcome = chat("Hello\nAnd then?\n/reset\nHello\n");
        assertThat(outcome.out()).isEqualTo(first + "\n" + second + "\n" + first + "\n");
    }

    @Test
    void system_prompt_is_the_first_message() {
        assertThat(chat("/system Be brief.\nHello\n").out()).isEqualTo(answer("Be brief.", "Hello") + "\n");
        assertThat(chat("Hello\n", "--system", "Be brief.").out()).isEqualTo(answer("Be brief.", "Hello") + "\n");
    }

    @Test
    void exit_ends_the_chat_and_an_unknown_command_continues() {
        Outcome outcome = chat("/nothing\n\nHello\n/exit\nHello\n");
        assertThat(outcome.err()).contains("unknown command /nothing");
        assertThat(outcome.out()).isEqualTo(answer("Hello") + "\n");
    }

    @Test
    void conversation_longer_than_the_context_drops_its_oldest_messages() {
        String story = "Tell me a story about a cat, a dog, a bird, a fish, a tree and a house by the sea.\n";
        Outcome outcome = chat("/system Be brief.\n" + story.repeat(60));
        assertThat(outcome.err()).contains("the context is full", "/reset").doesNotContain("shorten the prompt");
        assertThat(outcome.err().lines().filter(line -> line.contains("first token after")))
                .hasSize(60);
    }

    @Test
    void builtin_story_model_suggests_the_chat_model() {
        assertThat(chat("Hello\n").err()).contains("--model builtin:chat does");
    }

    @Test
    void too_long_message_is_reported_and_dropped() {
        Outcome outcome = chat("z".repeat(4000) + "\nHello\n");
        assertThat(outcome.err()).contains("roseinfer: ").doesNotContain("Exception");
        assertThat(outcome.out()).isEqualTo(answer("Hello") + "\n");
    }

    @Test
    void model_without_a_template_is_rejected() {
        Outcome outcome = CliRunner.runReading("Hello\n", "chat", "--model", "random:gpt2", "--device", "sim");
        assertThat(outcome.code()).isEqualTo(2);
        assertThat(outcome.err()).contains("has no usable chat template");
    }

    @Test
    void generate_applies_the_chat_template_to_one_message() {
        Outcome outcome = CliRunner.run(
                "generate",
                "--chat",
                "--json",
                "--prompt",
                "Hello",
                MODEL[0],
                MODEL[1],
                MODEL[2],
                MODEL[3],
                MODEL[4],
                MODEL[5]);
        assertThat(outcome.code()).as(outcome.err()).isZero();
        assertThat(StrictJson.parse(outcome.out().getBytes(StandardCharsets.UTF_8))
                        .at("/text")
                        .stringValue())
                .isEqualTo(answer("Hello"));
    }
}

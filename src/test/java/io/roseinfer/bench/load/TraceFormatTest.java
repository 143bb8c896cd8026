package io.roseinfer.bench.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.RoseException.BadInput;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Lines of the published files. */
class TraceFormatTest {
    @TempDir
    private Path directory;

    private Trace read(TraceFormat format, String text) throws IOException {
        return format.read(Files.writeString(directory.resolve("trace"), text), 1000);
    }

    @Test
    void mooncake_has_milliseconds_and_blocks_of_512() throws IOException {
        Trace trace = read(TraceFormat.MOONCAKE, """
                {"timestamp": 27482, "input_length": 6955, "output_length": 52, "hash_ids": [46, 47, 2353]}
                {"timestamp": 30535, "input_length": 6472, "output_length": 26, "hash_ids": [46, 2366]}
                """);
        assertThat(trace.entries())
                .containsExactly(
                        new TraceEntry(0, 6955, 52, List.of(46L, 47L, 2353L), 512, Optional.empty()),
                        new TraceEntry(3_053_000_000L, 6472, 26, List.of(46L, 2366L), 512, Optional.empty()));
        assertThat(trace.hasTimes()).isTrue();
    }

    @Test
    void bailian_has_seconds_and_blocks_of_16() throws IOException {
        Trace trace = read(TraceFormat.BAILIAN, """
                {"chat_id": 159, "parent_chat_id": -1, "timestamp": 61.114, "input_length": 521, "output_length": 132, "type": "text", "turn": 1, "hash_ids": [1089, 1090]}
                {"chat_id": 160, "parent_chat_id": 159, "timestamp": 61.5, "input_length": 40, "output_length": 2, "type": "text", "turn": 2, "hash_ids": [1089]}
                """);
        assertThat(trace.entries())
                .containsExactly(
                        new TraceEntry(0, 521, 132, List.of(1089L, 1090L), 16, Optional.empty()),
                        new TraceEntry(386_000_000L, 40, 2, List.of(1089L), 16, Optional.empty()));
    }

    @Test
    void azure_has_dates_with_seven_decimals_or_an_offset() throws IOException {
        assertThat(read(TraceFormat.AZURE, """
                TIMESTAMP,ContextTokens,GeneratedTokens
                2023-11-16 18:15:46.6805900,374,44
                2023-11-16 18:15:50.9951690,396,109
                """).entries())
                .containsExactly(TraceEntry.ofLengths(0, 374, 44), TraceEntry.ofLengths(4_314_579_000L, 396, 109));
        assertThat(read(TraceFormat.AZURE, """
                TIMESTAMP,ContextTokens,GeneratedTokens
                2024-05-10 00:00:00.009930+00:00,2162,5
                2024-05-10 00:00:00.017335+00:00,2399,6
                """).entries())
                .containsExactly(TraceEntry.ofLengths(0, 2162, 5), TraceEntry.ofLengths(7_405_000, 2399, 6));
    }

    @Test
    void burstgpt_is_read_by_names_in_both_of_its_forms() throws IOException {
        List<TraceEntry> expected =
                List.of(TraceEntry.ofLengths(0, 472, 18), TraceEntry.ofLengths(40_000_000_000L, 1087, 230));
        Trace five = read(TraceFormat.BURSTGPT, """
                Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type
                5,ChatGPT,472,18,490,Conversation log
                9,GPT-4,50,0,50,Conversation log
                45,ChatGPT,1087,230,1317,API log
                """);
        Trace eight = read(TraceFormat.BURSTGPT, """
                Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type
                5,a,1.5,ChatGPT,472,18,490,Conversation log
                9,a,1.5,GPT-4,50,0,50,Conversation log
                45,b,2.5,ChatGPT,1087,230,1317,API log
                """);
        assertThat(five.entries()).isEqualTo(expected);
        assertThat(eight.entries()).isEqualTo(expected);
        assertThat(five.leftOut()).as("answers of 0 tokens had failed").isEqualTo(1);
    }

    @Test
    void sharegpt_gives_the_first_question_of_each_conversation() throws IOException {
        Trace trace = read(TraceFormat.SHAREGPT, """
                [{"id": "a", "conversations": [{"from": "human", "value": "Hi there"}, {"from": "gpt", "value": "Hello"}]},
                 {"id": "b", "conversations": [{"from": "gpt", "value": "…"}, {"from": "human", "value": "x"}]},
                 {"id": "c", "conversations": []}]
                """);
        assertThat(trace.entries().stream().map(TraceEntry::text)).containsExactly(Optional.of("Hi there"));
        assertThat(trace.leftOut()).isEqualTo(2);
        assertThat(trace.hasTimes()).isFalse();
    }

    @Test
    void at_most_the_requested_number_of_requests_is_read() throws IOException {
        Path file = Files.writeString(
                directory.resolve("long"),
                "Timestamp,Request tokens,Response tokens\n" + "1,2,3\n".repeat(50) + "not a line of numbers\n");
        assertThat(TraceFormat.BURSTGPT.read(file, 50).entries()).hasSize(50);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "MOONCAKE | {\"timestamp\": 1, \"input_length\": \"5\", \"output_length\": 1} | line 1: input_length is \"5\"",
                "MOONCAKE | {\"timestamp\": true, \"input_length\": 5, \"output_length\": 1} | line 1: the time is",
                "MOONCAKE | {\"timestamp\": 1, | line 1: it is not JSON",
                "AZURE | TIMESTAMP,ContextTokens | column \"GeneratedTokens\" is missing",
                "BURSTGPT | Timestamp,Request tokens,Response tokens / 1,2 | line 2: it has 2 columns; the first line has 3",
                "BURSTGPT | Timestamp,Request tokens,Response tokens / 1,-2,3 | line 2: Request tokens is \"-2\"",
                "AZURE | TIMESTAMP,ContextTokens,GeneratedTokens / yesterday,2,3 | line 2: TIMESTAMP is \"yesterday\"",
                "BURSTGPT | Timestamp,Request tokens,Response tokens / 1,2,0 | has no usable request",
                "SHAREGPT | {} | is not a list of conversations"
            })
    void line_of_another_format_is_reported_with_its_number(TraceFormat format, String text, String message) {
        assertThatThrownBy(() -> read(format, text.replace(" / ", "\n")))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining(message);
    }
}

package io.roseinfer.cli.flags;

import io.roseinfer.server.api.ServedModel;
import io.roseinfer.tokenizer.chat.reply.ReasoningFormat;
import io.roseinfer.tokenizer.chat.reply.ReplyFormats;
import io.roseinfer.tokenizer.chat.reply.ToolCallFormat;
import java.util.Optional;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Option;

/** The flags for the formats of chat replies. */
@Heading("Model")
public final class ReplyFlags {
    @Option(
            names = "--tool-call-parser",
            paramLabel = ToolCallFormat.LABEL,
            description = "Format of the model's tool calls (default: recognized from its chat template).",
            showDefaultValue = Visibility.NEVER)
    private Optional<ToolCallFormat> toolCallParser = Optional.empty();

    @Option(
            names = "--reasoning-parser",
            paramLabel = ReasoningFormat.LABEL,
            description = "Format of the model's reasoning (default: recognized from its chat template).",
            showDefaultValue = Visibility.NEVER)
    private Optional<ReasoningFormat> reasoningParser = Optional.empty();

    /** Returns a model with the formats that the flags give instead of the recognized ones. */
    public ServedModel addTo(ServedModel model) {
        return model.withReplies(recognized -> new ReplyFormats(
                toolCallParser.orElse(recognized.calls()), reasoningParser.orElse(recognized.reasoning())));
    }
}

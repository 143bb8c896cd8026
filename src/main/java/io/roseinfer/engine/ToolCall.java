package io.roseinfer.engine;

import java.util.Objects;

/**
 * A call of a tool in a model's reply.
 *
 * @param id identifies the call in its conversation
 * @param name the tool's name
 * @param arguments a JSON object, as the model wrote it; only its start if the reply ends within the call, and not
 *     always valid JSON unless the tool is {@link Tool#withStrict strict}
 */
public record ToolCall(String id, String name, String arguments) {
    public ToolCall {
        Objects.requireNonNull(id, "id");
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(arguments, "arguments");
    }
}

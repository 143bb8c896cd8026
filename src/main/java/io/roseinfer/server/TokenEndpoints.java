package io.roseinfer.server;

import io.roseinfer.base.StrictJson;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.server.api.ApiError;
import io.roseinfer.server.api.ChatPrompts;
import io.roseinfer.server.api.CompletionJson;
import io.roseinfer.server.api.CompletionReader;
import io.roseinfer.server.api.Fields;
import io.roseinfer.tokenizer.Tokenizer;
import java.util.Optional;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** {@code POST /tokenize} and {@code POST /detokenize}, which clients count prompts with. */
final class TokenEndpoints {
    private final String modelName;
    private final ModelSpec spec;
    private final Optional<Tokenizer> tokenizer;
    private final ChatPrompts chat;

    TokenEndpoints(String modelName, ModelSpec spec, Optional<Tokenizer> tokenizer, ChatPrompts chat) {
        this.modelName = modelName;
        this.spec = spec;
        this.tokenizer = tokenizer;
        this.chat = chat;
    }

    private Tokenizer tokenizer() {
        return tokenizer.orElseThrow(() -> ApiError.badRequest("the model has no tokenizer"));
    }

    /** Counts as a completion would, with the tokens that the tokenizer puts around a text unless {@code add_special_tokens} is false. */
    void tokenize(Exchange exchange) {
        Fields fields = Fields.parse(exchange.call().body());
        CompletionReader.requireModel(fields, modelName);
        int[] ids = fields.find("messages").isPresent() ? chat.read(fields) : ids(fields);
        ObjectNode answer = StrictJson.mapper().createObjectNode();
        answer.put("count", ids.length).put("max_model_len", spec.contextLength());
        CompletionJson.ids(answer, "tokens", ids);
        if (fields.flag("return_token_strs")) {
            ArrayNode texts = answer.putArray("token_strs");
            for (int id : ids) {
                texts.add(tokenizer().decode(new int[] {id}));
            }
        } else {
            answer.putNull("token_strs");
        }
        exchange.send(answer);
    }

    private int[] ids(Fields fields) {
        String prompt =
                fields.string("prompt").orElseThrow(() -> ApiError.badField("prompt", "prompt is missing; give text"));
        boolean around = fields.flag("add_special_tokens", true);
        return Fields.checked(
                "prompt",
                () -> around ? tokenizer().encodePrompt(prompt) : tokenizer().encode(prompt));
    }

    void detokenize(Exchange exchange) {
        Fields fields = Fields.parse(exchange.call().body());
        CompletionReader.requireModel(fields, modelName);
        JsonNode tokens = fields.find("tokens")
                .filter(JsonNode::isArray)
                .orElseThrow(() -> ApiError.badField("tokens", "tokens must be a list of token ids"));
        int[] ids = Fields.ids("tokens", tokens);
        for (int id : ids) {
            if (id >= tokenizer().vocabularySize()) {
                throw ApiError.badField(
                        "tokens",
                        "tokens has id " + id + "; ids of this tokenizer are 0 to "
                                + (tokenizer().vocabularySize() - 1));
            }
        }
        exchange.send(
                StrictJson.mapper().createObjectNode().put("prompt", tokenizer().decode(ids)));
    }
}

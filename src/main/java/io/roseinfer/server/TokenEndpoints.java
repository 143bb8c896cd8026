package io.roseinfer.server;

import io.roseinfer.base.StrictJson;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.server.api.ApiError;
import io.roseinfer.server.api.ChatPrompts;
import io.roseinfer.server.api.CompletionReader;
import io.roseinfer.server.api.Fields;
import io.roseinfer.server.http.BodySource;
import io.roseinfer.server.http.ByteSink;
import io.roseinfer.server.http.Pump;
import io.roseinfer.server.http.Response;
import io.roseinfer.tokenizer.Tokenizer;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/** {@code POST /tokenize} and {@code POST /detokenize}, with which clients count the tokens of prompts. */
final class TokenEndpoints {
    private final String modelName;
    private final int maxTextBytes;
    private final ModelSpec spec;
    private final Optional<Tokenizer> tokenizer;
    private final ChatPrompts chat;
    private final PromptWorkers workers;

    TokenEndpoints(
            ServerOptions options,
            ModelSpec spec,
            Optional<Tokenizer> tokenizer,
            ChatPrompts chat,
            PromptWorkers workers) {
        this.modelName = options.modelName();
        this.maxTextBytes = options.http().bodyBytes();
        this.spec = spec;
        this.tokenizer = tokenizer;
        this.chat = chat;
        this.workers = workers;
    }

    private Tokenizer tokenizer() {
        return tokenizer.orElseThrow(() -> ApiError.badRequest("the model has no tokenizer"));
    }

    /**
     * Counts tokens like a completion, with the special tokens of the tokenizer unless {@code add_special_tokens} is
     * false. The ids are streamed, so there is no copy of them as JSON.
     */
    void tokenize(Exchange exchange, Response response) {
        TokenizeResponse tokens = workers.call(
                response::whenGone,
                exchange.call().body().size(),
                () -> read(Fields.parse(exchange.call().body().take())));
        exchange.beginJson(response);
        Pump pump = response.pump(tokens);
        pump.ready();
        pump.await();
        response.end();
    }

    private TokenizeResponse read(Fields fields) {
        CompletionReader.requireModel(fields, modelName);
        int[] ids = fields.find("messages").isPresent() ? chat.ids(fields) : ids(fields);
        return new TokenizeResponse(ids, fields.flag("return_token_strs"));
    }

    private int[] ids(Fields fields) {
        String prompt = fields.string("prompt")
                .orElseThrow(() -> ApiError.badField("prompt", "prompt is missing; set it to a text"));
        boolean around = fields.flag("add_special_tokens", true);
        return Fields.checked(
                "prompt",
                () -> around ? tokenizer().encodePrompt(prompt) : tokenizer().encode(prompt));
    }

    /**
     * The response to {@code /tokenize}: {@code count}, {@code max_model_len}, {@code tokens} and {@code token_strs}.
     */
    private final class TokenizeResponse implements BodySource {
        private static final byte[] NOTHING = {};
        private static final byte[] COMMA = {','};

        private final int[] ids;
        private final boolean strings;
        private boolean begun;
        private int listed;
        private int listedStrings;

        TokenizeResponse(int[] ids, boolean strings) {
            this.ids = ids;
            this.strings = strings;
        }

        @Override
        public boolean fill(ByteSink bytes) {
            if (!begun) {
                begun = true;
                put(bytes, "{\"count\":" + ids.length + ",\"max_model_len\":" + spec.contextLength() + ",\"tokens\":[");
            }
            while (listed < ids.length && bytes.size() < ByteSink.CHUNK_BYTES) {
                bytes.put(listed == 0 ? NOTHING : COMMA);
                bytes.putNumber(ids[listed++]);
            }
            while (strings
                    && listed == ids.length
                    && listedStrings < ids.length
                    && bytes.size() < ByteSink.CHUNK_BYTES) {
                put(bytes, listedStrings == 0 ? "],\"token_strs\":[\"" : "\",\"");
                bytes.putJson(tokenizer().decode(new int[] {ids[listedStrings++]}));
            }
            if (bytes.size() >= ByteSink.CHUNK_BYTES) {
                return false;
            }
            put(bytes, !strings ? "],\"token_strs\":null}" : ids.length == 0 ? "],\"token_strs\":[]}" : "\"]}");
            return true;
        }

        private void put(ByteSink bytes, String text) {
            bytes.put(text.getBytes(StandardCharsets.US_ASCII));
        }

        @Override
        public void written() {}
    }

    void detokenize(Exchange exchange, Response response) {
        String text = workers.call(
                response::whenGone,
                exchange.call().body().size(),
                () -> text(Fields.parse(exchange.call().body().take())));
        response.send(exchange.reply(StrictJson.mapper().createObjectNode().put("prompt", text)));
    }

    private String text(Fields fields) {
        CompletionReader.requireModel(fields, modelName);
        JsonNode tokens = fields.find("tokens")
                .filter(JsonNode::isArray)
                .orElseThrow(() -> ApiError.badField("tokens", "tokens must be a list of token ids"));
        int[] ids = Fields.ids("tokens", tokens);
        long bytes = 0;
        for (int id : ids) {
            if (id >= tokenizer().vocabularySize()) {
                throw ApiError.badField(
                        "tokens",
                        "tokens has id " + id + "; ids of this tokenizer are 0 to "
                                + (tokenizer().vocabularySize() - 1));
            }
            bytes += tokenizer().bytes(id).length;
        }
        if (bytes > maxTextBytes) {
            throw ApiError.badField(
                    "tokens",
                    "the text of tokens has " + bytes + " bytes; at most " + maxTextBytes
                            + " are returned, so send the tokens in parts");
        }
        return tokenizer().decode(ids);
    }
}

package io.roseinfer.bench.http;

import io.roseinfer.base.Quoted;
import io.roseinfer.base.StrictJson;
import java.util.Arrays;
import java.util.Optional;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The relevant data of an event of {@code /v1/completions} or {@code /v1/chat/completions}. The object is reused for all events.
 */
final class CompletionEvent {
    /** A missing count. */
    static final int UNKNOWN = -1;

    private static final JsonMapper MAPPER = new JsonMapper();

    /** Whether the event has a choice, and whether the choice has text, a role and a finish reason. */
    boolean hasChoice;

    boolean hasText;
    boolean hasRole;
    boolean hasFinish;
    /** Number of token ids of the choices, or {@link #UNKNOWN}. */
    int ids;
    /** The token ids; longer than their number. */
    int[] tokenIds = new int[16];
    /** Tokens by {@code usage}, so far or in total, or {@link #UNKNOWN}. */
    int promptTokens;

    int completionTokens;
    int totalTokens;
    /** Prompt tokens found in the server's prefix cache, or {@link #UNKNOWN}. */
    int cachedTokens;
    /** The server's timestamps of the request, if this event has them. */
    Optional<JsonNode> stamps = Optional.empty();

    /** The error reported by the server; empty if none. */
    String error = "";

    /** Parses the data of an event. Data that is not a JSON object is an error. */
    void read(byte[] json, int length) {
        hasChoice = false;
        hasText = false;
        hasRole = false;
        hasFinish = false;
        ids = UNKNOWN;
        promptTokens = UNKNOWN;
        completionTokens = UNKNOWN;
        totalTokens = UNKNOWN;
        cachedTokens = UNKNOWN;
        stamps = Optional.empty();
        error = "";
        boolean isError = false;
        String message = "";
        try (JsonParser in = MAPPER.createParser(json, 0, length)) {
            if (in.nextToken() != JsonToken.START_OBJECT) {
                error = "an event is not a JSON object";
                return;
            }
            while (in.nextToken() == JsonToken.PROPERTY_NAME) {
                String name = in.currentName();
                JsonToken value = in.nextToken();
                switch (name) {
                    case "choices" -> choices(in, value);
                    case "usage" -> usage(in, value);
                    case "error" -> error(in, value);
                    case "object" ->
                        isError = value == JsonToken.VALUE_STRING
                                && in.getString().equals("error");
                    case "message" -> message = text(in, value);
                    case "stamps" -> stamps = Optional.of(in.readValueAsTree());
                    default -> skip(in);
                }
            }
            if (isError && error.isEmpty()) {
                error = "the server says " + Quoted.name(message);
            }
        } catch (JacksonException e) {
            error = "an event is not JSON: " + StrictJson.reason(e);
        }
    }

    /** Returns the value if it is text, otherwise an empty string. */
    private static String text(JsonParser in, JsonToken value) {
        if (value == JsonToken.VALUE_STRING) {
            return in.getString();
        }
        skip(in);
        return "";
    }

    private static void skip(JsonParser in) {
        JsonParser unused = in.skipChildren();
    }

    private void choices(JsonParser in, JsonToken value) {
        if (value != JsonToken.START_ARRAY) {
            skip(in);
            return;
        }
        for (JsonToken choice = in.nextToken(); choice != JsonToken.END_ARRAY; choice = in.nextToken()) {
            if (choice != JsonToken.START_OBJECT) {
                skip(in);
                continue;
            }
            hasChoice = true;
            while (in.nextToken() == JsonToken.PROPERTY_NAME) {
                choiceField(in, in.currentName(), in.nextToken());
            }
        }
    }

    private void choiceField(JsonParser in, String name, JsonToken value) {
        switch (name) {
            case "text" -> hasText |= value == JsonToken.VALUE_STRING && in.getStringLength() > 0;
            case "delta" -> delta(in, value);
            case "finish_reason" -> hasFinish |= value == JsonToken.VALUE_STRING;
            case "token_ids" -> tokenIds(in, value);
            default -> skip(in);
        }
    }

    private void delta(JsonParser in, JsonToken value) {
        if (value != JsonToken.START_OBJECT) {
            skip(in);
            return;
        }
        while (in.nextToken() == JsonToken.PROPERTY_NAME) {
            String name = in.currentName();
            JsonToken token = in.nextToken();
            if (name.equals("content") || name.equals("reasoning") || name.equals("reasoning_content")) {
                hasText |= token == JsonToken.VALUE_STRING && in.getStringLength() > 0;
            }
            hasRole |= name.equals("role") && token == JsonToken.VALUE_STRING;
            skip(in);
        }
    }

    private void tokenIds(JsonParser in, JsonToken value) {
        if (value != JsonToken.START_ARRAY) {
            skip(in);
            return;
        }
        ids = Math.max(0, ids);
        for (JsonToken id = in.nextToken(); id != JsonToken.END_ARRAY; id = in.nextToken()) {
            if (ids == tokenIds.length) {
                tokenIds = Arrays.copyOf(tokenIds, 2 * ids);
            }
            tokenIds[ids++] = count(in, id);
        }
    }

    private void usage(JsonParser in, JsonToken value) {
        if (value != JsonToken.START_OBJECT) {
            skip(in);
            return;
        }
        while (in.nextToken() == JsonToken.PROPERTY_NAME) {
            String name = in.currentName();
            JsonToken token = in.nextToken();
            switch (name) {
                case "prompt_tokens" -> promptTokens = count(in, token);
                case "completion_tokens" -> completionTokens = count(in, token);
                case "total_tokens" -> totalTokens = count(in, token);
                case "prompt_tokens_details" -> promptDetails(in, token);
                default -> skip(in);
            }
        }
    }

    private void promptDetails(JsonParser in, JsonToken value) {
        if (value != JsonToken.START_OBJECT) {
            skip(in);
            return;
        }
        while (in.nextToken() == JsonToken.PROPERTY_NAME) {
            boolean cached = in.currentName().equals("cached_tokens");
            int count = count(in, in.nextToken());
            cachedTokens = cached ? count : cachedTokens;
        }
    }

    /** Returns a whole number, possibly written as {@code 12.0}; {@link #UNKNOWN} for anything else. */
    private static int count(JsonParser in, JsonToken token) {
        if (!token.isNumeric()) {
            skip(in);
            return UNKNOWN;
        }
        double number = in.getDoubleValue();
        return number == Math.rint(number) && number >= 0 && number <= Integer.MAX_VALUE ? (int) number : UNKNOWN;
    }

    /** Parses an error: any value but null or false, on which OpenAI's clients also throw. */
    private void error(JsonParser in, JsonToken value) {
        switch (value) {
            case VALUE_NULL, VALUE_FALSE -> {
                // Not an error.
            }
            case START_OBJECT -> {
                error = "the server reports an error";
                while (in.nextToken() == JsonToken.PROPERTY_NAME) {
                    boolean message = in.currentName().equals("message");
                    if (in.nextToken() == JsonToken.VALUE_STRING && message) {
                        error = "the server says " + Quoted.name(in.getString());
                    }
                    skip(in);
                }
            }
            default -> {
                error = "the server says " + Quoted.name(String.valueOf(in.getString()));
                skip(in);
            }
        }
    }
}

package io.roseinfer.safetensors;

import io.roseinfer.base.Limits;
import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.base.StrictJson;
import io.roseinfer.base.Utf16;
import io.roseinfer.checkpoint.Checkpoint;
import io.roseinfer.tensor.DType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/**
 * Parses the JSON of a safetensors header into entries, token by token, without coercion: a dimension of {@code 2.0},
 * {@code "4"} or {@code true} is an error, as in the reference reader. {@link HeaderLayout} checks that the entries fit
 * together.
 */
final class HeaderJson {
    private static final String METADATA = "__metadata__";

    private final String file;
    private final JsonParser parser;
    private final List<TensorEntry> entries = new ArrayList<>();

    private HeaderJson(String file, JsonParser parser) {
        this.file = file;
        this.parser = parser;
    }

    /** Returns the entries in header order; names are unique. */
    static List<TensorEntry> parse(String file, byte[] json) {
        Utf8.requireText(file, json);
        try (JsonParser parser = StrictJson.parser(json)) {
            return new HeaderJson(file, parser).header();
        } catch (JacksonException e) {
            long offset = e.getLocation() == null ? -1 : e.getLocation().getByteOffset();
            throw new BadModel(
                    file + ": header is not valid JSON" + (offset < 0 ? "" : " at header byte " + offset) + ": "
                            + Quoted.escape(StrictJson.reason(e)) + "; the file is damaged or was written wrongly",
                    e);
        }
    }

    private List<TensorEntry> header() {
        if (parser.nextToken() != JsonToken.START_OBJECT) {
            throw bad("header must be a JSON object, not " + seen());
        }
        while (parser.nextToken() != JsonToken.END_OBJECT) {
            String name = wellFormed(parser.currentName(), "a tensor name");
            parser.nextToken();
            if (name.equals(METADATA)) {
                metadata();
            } else {
                entries.add(tensor(name));
            }
            if (entries.size() > Limits.CHECKPOINT_TENSORS) {
                throw bad("header lists too many tensors, at most " + Limits.CHECKPOINT_TENSORS + " are read");
            }
        }
        if (parser.nextToken() != null) {
            throw bad("header has trailing characters after its JSON object");
        }
        return entries;
    }

    private void metadata() {
        if (parser.currentToken() == JsonToken.VALUE_NULL) {
            return;
        }
        if (parser.currentToken() != JsonToken.START_OBJECT) {
            throw bad("__metadata__ must be an object of strings, not " + seen());
        }
        while (parser.nextToken() != JsonToken.END_OBJECT) {
            String key = wellFormed(parser.currentName(), "a __metadata__ key");
            if (parser.nextToken() != JsonToken.VALUE_STRING) {
                throw bad("__metadata__ value of " + Quoted.name(key) + " must be a string, not " + seen());
            }
            wellFormed(parser.getString(), "a __metadata__ value");
        }
    }

    private TensorEntry tensor(String name) {
        if (parser.currentToken() != JsonToken.START_OBJECT) {
            throw bad(name, "must be described by an object, not " + seen());
        }
        @Nullable DType dtype = null;
        long @Nullable [] shape = null;
        long @Nullable [] offsets = null;
        while (parser.nextToken() != JsonToken.END_OBJECT) {
            String field = wellFormed(parser.currentName(), "a field name");
            parser.nextToken();
            switch (field) {
                case "dtype" -> dtype = dtype(name);
                case "shape" -> shape = integers(name, "shape");
                case "data_offsets" -> offsets = integers(name, "data_offsets");
                default -> ignore();
            }
        }
        if (dtype == null || shape == null || offsets == null) {
            String field = dtype == null ? "dtype" : shape == null ? "shape" : "data_offsets";
            throw bad(name, "has no field \"" + field + "\"");
        }
        if (offsets.length != 2) {
            throw bad(name, "data_offsets must be two numbers, not " + offsets.length);
        }
        return new TensorEntry(name, new Checkpoint.Info(dtype, shape), offsets[0], offsets[1]);
    }

    /**
     * Skips the current value, but checks that its text is well-formed and its numbers are in the range of a double.
     */
    private void ignore() {
        int depth = 0;
        while (true) {
            JsonToken token = parser.currentToken();
            if (token.isStructStart()) {
                depth++;
            } else if (token.isStructEnd()) {
                depth--;
            } else if (token == JsonToken.VALUE_STRING) {
                wellFormed(parser.getString(), "a field");
            } else if (token.isNumeric() && Double.isInfinite(Double.parseDouble(parser.getString()))) {
                throw bad("the number " + seen() + " in a field is out of range");
            }
            if (depth == 0) {
                return;
            }
            parser.nextToken();
        }
    }

    private DType dtype(String name) {
        if (parser.currentToken() != JsonToken.VALUE_STRING) {
            throw bad(name, "dtype must be a string, not " + seen());
        }
        String text = parser.getString();
        return DType.named(text)
                .orElseThrow(() -> bad(
                        name,
                        "unknown dtype " + Quoted.name(text) + "; allowed are " + Arrays.toString(DType.values())));
    }

    private long[] integers(String name, String field) {
        if (parser.currentToken() != JsonToken.START_ARRAY) {
            throw bad(name, field + " must be an array of integers, not " + seen());
        }
        long[] values = new long[4];
        int count = 0;
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            if (count == values.length) {
                values = Arrays.copyOf(values, 2 * count);
            }
            values[count++] = integer(name, field);
        }
        return Arrays.copyOf(values, count);
    }

    private long integer(String name, String field) {
        if (parser.currentToken() != JsonToken.VALUE_NUMBER_INT
                || parser.getString().startsWith("-")) {
            throw bad(name, field + " must hold non-negative integers, not " + seen());
        }
        try {
            return Long.parseLong(parser.getString());
        } catch (NumberFormatException e) {
            throw bad(name, field + " holds " + seen() + ", which overflows; the maximum is 2^63-1");
        }
    }

    /** Checks text for unpaired surrogates, which JSON can escape but UTF-8 cannot encode. */
    private String wellFormed(String text, String what) {
        if (Utf16.unpairedSurrogate(text) >= 0) {
            throw bad(what + " has an unpaired surrogate escape near header byte "
                    + parser.currentLocation().getByteOffset() + ": " + Quoted.name(text));
        }
        return text;
    }

    private String seen() {
        JsonToken token = parser.currentToken();
        return token == null
                ? "nothing"
                : switch (token) {
                    case START_OBJECT -> "an object";
                    case START_ARRAY -> "an array";
                    case VALUE_STRING -> "the string " + Quoted.name(parser.getString());
                    default -> Quoted.value(parser.getString());
                };
    }

    private BadModel bad(String name, String what) {
        return bad("tensor " + Quoted.name(name) + ": " + what);
    }

    private BadModel bad(String what) {
        return new BadModel(file + ": " + what);
    }
}

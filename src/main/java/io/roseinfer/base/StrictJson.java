package io.roseinfer.base;

import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A strict JSON parser (RFC 8259): duplicate keys, trailing tokens, comments, NaN and nesting beyond
 * {@link Limits#JSON_DEPTH} are errors. Callers turn the exception into their own message, with the file's name.
 */
public final class StrictJson {
    private static final JsonMapper MAPPER = documents();

    private static final JsonMapper TOKENS = new JsonMapper(factory(StreamReadConstraints.builder()
            .maxNestingDepth(Limits.JSON_DEPTH)
            .maxStringLength(Limits.SAFETENSORS_HEADER_BYTES)
            .maxNameLength(Limits.SAFETENSORS_HEADER_BYTES)
            .maxNumberLength(Limits.SAFETENSORS_HEADER_BYTES)
            .build()));

    private StrictJson() {}

    private static JsonMapper documents() {
        try {
            return JsonMapper.builder(factory(StreamReadConstraints.builder()
                            .maxNestingDepth(Limits.JSON_DEPTH)
                            .maxStringLength(Limits.SAFETENSORS_HEADER_BYTES)
                            .maxNameLength(1 << 16)
                            .build()))
                    .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
                    .build();
        } catch (LinkageError e) {
            // For example if Spring Boot 3 manages the version of Jackson 2's annotations, which Jackson 3 shares.
            throw new LinkageError(
                    "the Jackson libraries on the class path are incompatible (" + e
                            + "): use com.fasterxml.jackson.core:jackson-annotations in the version that"
                            + " tools.jackson.core:jackson-databind requires",
                    e);
        }
    }

    private static JsonFactory factory(StreamReadConstraints constraints) {
        return JsonFactory.builder()
                .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                .streamReadConstraints(constraints)
                .build();
    }

    /**
     * Returns a streaming parser. Names and numbers may be as long as the document. Numbers are converted on demand, so
     * callers must check their length first.
     */
    public static JsonParser parser(byte[] utf8) {
        return TOKENS.createParser(utf8);
    }

    /** Returns the configured mapper, for writing. */
    public static JsonMapper mapper() {
        return MAPPER;
    }

    /**
     * Parses a UTF-8 document.
     *
     * @throws JacksonException if it is not exactly one valid document; {@link #reason} returns its message without a
     *     source excerpt
     */
    public static JsonNode parse(byte[] utf8) {
        return MAPPER.readTree(utf8);
    }

    /** Returns what is wrong with a document, without the parser's description of its source and settings. */
    public static String reason(JacksonException wrong) {
        String message = String.valueOf(wrong.getOriginalMessage());
        return message.startsWith("Trailing token ")
                ? "there is more text after the first value"
                : message.replaceFirst("(?s) \\(start marker at .*", "")
                        .replaceFirst("^(Unrecognized token) '(?s).*'(: was expecting)", "$1$2")
                        .replaceFirst(": enable `.*` to allow", " is not part of JSON")
                        .replaceFirst(", from `.*`\\)", ")");
    }
}

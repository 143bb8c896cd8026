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
 * JSON as RFC 8259 has it and no more: duplicate keys, trailing tokens, comments, NaN and nesting beyond
 * {@link Limits#JSON_DEPTH} are refused. The caller turns the exception into its own message, with the file's name.
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
            // As where Spring Boot 3 manages the annotations of Jackson 2, which Jackson 3 shares.
            throw new LinkageError(
                    "the libraries of Jackson on the class path do not fit each other (" + e
                            + "): have your build take com.fasterxml.jackson.core:jackson-annotations in the version that"
                            + " tools.jackson.core:jackson-databind asks for",
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
     * A parser for who reads token by token. Names and numbers may be as long as the document: numbers stay text until somebody
     * asks, and who does must look at their length first.
     */
    public static JsonParser parser(byte[] utf8) {
        return TOKENS.createParser(utf8);
    }

    /** The configured mapper, for callers that write. */
    public static JsonMapper mapper() {
        return MAPPER;
    }

    /**
     * Parses one UTF-8 document.
     *
     * @throws JacksonException if it is not exactly one valid document; {@link #reason} has no
     *     source excerpt
     */
    public static JsonNode parse(byte[] utf8) {
        return MAPPER.readTree(utf8);
    }

    /** What is wrong with a document, without the parser's words on where it was read from and how the parser was set. */
    public static String reason(JacksonException wrong) {
        String message = String.valueOf(wrong.getOriginalMessage());
        return message.startsWith("Trailing token ")
                ? "it goes on behind its first value, and one document has one"
                : message.replaceFirst("(?s) \\(start marker at .*", "")
                        .replaceFirst("^(Unrecognized token) '(?s).*'(: was expecting)", "$1$2")
                        .replaceFirst(": enable `.*` to allow", " is not part of JSON")
                        .replaceFirst(", from `.*`\\)", ")");
    }
}

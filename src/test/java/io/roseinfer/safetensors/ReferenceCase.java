package io.roseinfer.safetensors;

import static io.roseinfer.safetensors.RawSafetensors.counting;
import static io.roseinfer.safetensors.RawSafetensors.file;
import static io.roseinfer.safetensors.RawSafetensors.withLength;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * One of the 100 inputs with the result of the reference reader, safetensors 0.8.0 {@code deserialize()}.
 *
 * @param reference {@code OK}, or the reference's error
 * @param refusal empty if roseinfer accepts, else a part of its message; if this differs from the reference, roseinfer
 *     is stricter on purpose
 */
@SuppressWarnings("ArrayRecordComponent")
record ReferenceCase(String name, byte[] bytes, String reference, String refusal) {
    private static final String OK = "OK";
    private static final String VALID = "{\"a\":{\"dtype\":\"I32\",\"shape\":[2,2],\"data_offsets\":[0,16]}}";

    boolean acceptedByReference() {
        return reference.equals(OK);
    }

    boolean accepted() {
        return refusal.isEmpty();
    }

    @Override
    public String toString() {
        return name;
    }

    static List<ReferenceCase> all() {
        List<ReferenceCase> cases = new ArrayList<>();
        lengths(cases);
        framing(cases);
        duplicates(cases);
        metadata(cases);
        layout(cases);
        integers(cases);
        shapes(cases);
        emptyShapes(cases);
        ignoredNumbers(cases);
        lengthsOfNames(cases);
        fields(cases);
        text(cases);
        return cases;
    }

    private static void lengths(List<ReferenceCase> cases) {
        byte[] two = ascii("{}");
        byte[] none = {};
        add(cases, "empty file", none, "header too small", "too small");
        add(cases, "7 bytes", counting(7), "header too small", "too small");
        add(cases, "8 zero bytes (n=0)", new byte[8], "EOF while parsing a value", "empty JSON header");
        add(cases, "n=0 then {}", withLength(0, two, none), "EOF while parsing a value", "empty JSON header");
        add(
                cases,
                "n > file",
                withLength(1000, ascii(VALID), counting(16)),
                "invalid header length",
                "exceeds the file");
        add(
                cases,
                "n=100_000_000 exactly, short file",
                withLength(100_000_000, two, none),
                "invalid header length",
                "exceeds the file");
        add(cases, "n=100_000_001", withLength(100_000_001, two, none), "header too large", "header too large");
        add(cases, "n=2^63", withLength(Long.MIN_VALUE, two, none), "header too large", "header too large");
        add(cases, "n=2^64-1", withLength(-1, two, none), "header too large", "header too large");
        add(cases, "n=2^64-8 (n+8 wraps)", withLength(-8, two, none), "header too large", "header too large");
    }

    private static void framing(List<ReferenceCase> cases) {
        json(cases, "valid", VALID, OK, "");
        json(cases, "leading space", "  " + VALID, OK, "");
        json(cases, "leading BOM", "\ufeff" + VALID, "expected value", "byte order mark");
        json(cases, "trailing spaces", VALID + "   ", OK, "");
        json(cases, "trailing NUL pad", VALID + "\0\0", "trailing characters", "is NUL");
        json(cases, "trailing garbage json", VALID + "{}", "trailing characters", "trailing characters");
        json(
                cases,
                "header is array",
                "[" + VALID + "]",
                "invalid type: sequence, expected struct HashMetadata",
                "must be a JSON object, not an array");
        json(
                cases,
                "header null",
                "null",
                "invalid type: null, expected struct HashMetadata",
                "must be a JSON object, not null");
        add(cases, "empty header {}", file("{}", 0), OK, "");
        add(cases, "empty header {} + data", file("{}", 16), "incomplete metadata", "16 trailing bytes");
    }

    private static void duplicates(List<ReferenceCase> cases) {
        String info = info("I32", "[2,2]", "[0,16]");
        json(cases, "dup tensor key same", "{\"a\":" + info + ",\"a\":" + info + "}", OK, "uplicate");
        add(
                cases,
                "dup tensor key distinct ranges",
                file("{\"a\":" + info + ",\"a\":" + info("I32", "[2,2]", "[16,32]") + "}", 32),
                "invalid offset for tensor `a`",
                "uplicate");
        json(
                cases,
                "dup __metadata__",
                "{\"__metadata__\":{},\"__metadata__\":{},\"a\":" + info + "}",
                "duplicate field `__metadata__`",
                "uplicate");
        json(
                cases,
                "dup key inside __metadata__",
                "{\"__metadata__\":{\"k\":\"1\",\"k\":\"2\"},\"a\":" + info + "}",
                OK,
                "uplicate");
        json(
                cases,
                "dup field in info",
                "{\"a\":{\"dtype\":\"I32\",\"dtype\":\"I32\",\"shape\":[2,2],\"data_offsets\":[0,16]}}",
                "duplicate field `dtype`",
                "uplicate");
        json(cases, "dup by escape a / \\u0061", "{\"a\":" + info + ",\"\\u0061\":" + info + "}", OK, "uplicate");
    }

    private static void metadata(List<ReferenceCase> cases) {
        json(cases, "__metadata__ null", metadata("null"), OK, "");
        json(
                cases,
                "__metadata__ non-string value",
                metadata("{\"k\":1}"),
                "invalid type: integer `1`, expected a string",
                "must be a string, not 1");
        json(
                cases,
                "__metadata__ nested",
                metadata("{\"k\":{}}"),
                "invalid type: map, expected a string",
                "must be a string, not an object");
        json(
                cases,
                "__metadata__ looks like tensor",
                metadata("{\"shape\":[2,2],\"dtype\":\"I32\",\"data_offsets\":[0,16]}"),
                "invalid type: sequence, expected a string",
                "must be a string, not an array");
        json(
                cases,
                "deep nesting 200",
                "{\"a\":{\"dtype\":\"I32\",\"shape\":[2,2],\"data_offsets\":[0,16],\"note\":" + "[".repeat(200)
                        + "]".repeat(200) + "}}",
                "recursion limit exceeded",
                "nesting depth");
    }

    private static void layout(List<ReferenceCase> cases) {
        String first = info("I32", "[2,2]", "[0,16]");
        add(
                cases,
                "overlap",
                file(two(first, first), 16),
                "invalid offset for tensor `a`",
                "\"b\" at [0, 16) overlaps tensor \"a\" at [0, 16)");
        add(
                cases,
                "partial overlap",
                file(two(first, info("I32", "[2,2]", "[8,24]")), 24),
                "invalid offset for tensor `b`",
                "\"b\" at [8, 24) overlaps tensor \"a\" at [0, 16)");
        add(
                cases,
                "hole between",
                file(two(first, info("I32", "[2,2]", "[20,36]")), 36),
                "invalid offset for tensor `b`",
                "\"b\" at [20, 36) leaves a hole after tensor \"a\" at [0, 16)");
        add(
                cases,
                "first tensor not at 0",
                file(one("I32", "[2,2]", "[4,20]"), 20),
                "invalid offset for tensor `a`",
                "leaves a hole after the start of the data");
        add(cases, "trailing bytes", file(VALID, 17), "incomplete metadata", "1 trailing bytes");
        add(cases, "truncated data", file(VALID, 15), "incomplete metadata", "truncated");
        json(
                cases,
                "begin>end",
                one("I32", "[2,2]", "[16,0]"),
                "invalid offset for tensor `a`",
                "ends before it begins");
        json(
                cases,
                "size mismatch",
                one("I32", "[2,3]", "[0,16]"),
                "invalid shape, data type, or offset for tensor",
                "has 16 bytes, but I32[2, 3] needs 24");
        json(cases, "zero-size", two(first, info("F32", "[0]", "[16,16]")), OK, "");
        add(
                cases,
                "zero-size in middle",
                file(
                        "{\"a\":" + first + ",\"z\":" + info("F32", "[0]", "[16,16]") + ",\"b\":"
                                + info("I32", "[2,2]", "[16,32]") + "}",
                        32),
                OK,
                "");
        json(
                cases,
                "zero-size at nonboundary",
                "{\"a\":" + first + ",\"z\":" + info("F32", "[0]", "[8,8]") + "}",
                "invalid offset for tensor `z`",
                "\"z\" at [8, 8) overlaps tensor \"a\"");
    }

    private static void integers(List<ReferenceCase> cases) {
        dim(
                cases,
                "negative dim",
                "-1",
                "invalid value: integer `-1`, expected usize",
                "non-negative integers, not -1");
        json(
                cases,
                "negative offset",
                one("I32", "[2,2]", "[-16,0]"),
                "invalid value: integer `-16`, expected usize",
                "non-negative integers, not -16");
        dim(cases, "float dim 2.0", "2.0", "invalid type: floating point `2.0`, expected usize", "not 2.0");
        dim(cases, "exp dim 1e0", "4e0", "invalid type: floating point `4.0`, expected usize", "not 4e0");
        dim(cases, "string dim", "\"4\"", "invalid type: string \"4\", expected usize", "not the string \"4\"");
        dim(
                cases,
                "dim > u64",
                "18446744073709551616",
                "invalid type: floating point `1.8446744073709552e+19`",
                "overflow");
        dim(cases, "NaN dim", "NaN", "expected value", "not valid JSON");
        dim(cases, "-0 dim", "-0", "invalid type: floating point `-0.0`, expected usize", "not -0");
        dim(cases, "leading zero dim 04", "04", "invalid number", "not valid JSON");
        dim(cases, "bool dim", "true", "invalid type: boolean `true`, expected usize", "not true");
    }

    private static void shapes(List<ReferenceCase> cases) {
        String huge = "9223372036854775808";
        json(cases, "dims product overflow", one("I32", "[4294967296,4294967296]", "[0,16]"), "overflow", "overflows");
        add(
                cases,
                "zero dim after overflow [2^63,2,0]",
                file(one("I32", "[" + huge + ",2,0]", "[0,0]"), 0),
                "overflow",
                "overflow");
        add(cases, "zero dim first [0,2^63,2]", file(one("I32", "[0," + huge + ",2]", "[0,0]"), 0), OK, "overflow");
        add(cases, "scalar shape []", file(one("I32", "[]", "[0,4]"), 4), OK, "");
        add(
                cases,
                "F4 odd count",
                file(one("F4", "[3]", "[0,1]"), 1),
                "does not end up at a byte boundary",
                "misaligned");
        add(cases, "F4 even", file(one("F4", "[4]", "[0,2]"), 2), OK, "");
        json(cases, "misaligned: header len odd, F32", one("F32", "[2,2]", "[0,16]") + oddPadding(), OK, "");
        add(
                cases,
                "misaligned: U8 then F32",
                file(two(info("U8", "[1]", "[0,1]"), info("F32", "[2]", "[1,9]")), 9),
                OK,
                "");
        add(cases, "BOOL value 2", file(ascii(one("BOOL", "[1]", "[0,1]")), new byte[] {2}), OK, "");
    }

    private static void emptyShapes(List<ReferenceCase> cases) {
        empty(cases, "[4611686018427387904,0]", OK, "");
        empty(cases, "[9223372036854775807,0]", OK, "");
        empty(cases, "[4611686018427387904,2,0]", OK, "");
        empty(cases, "[4611686018427387904,3,0]", OK, "");
        empty(cases, "[4611686018427387904,4,0]", "overflow", "overflow");
        empty(cases, "[0,4611686018427387904,4]", OK, "");
    }

    private static void empty(List<ReferenceCase> cases, String shape, String reference, String refusal) {
        add(cases, "no elements " + shape, file(one("F32", shape, "[0,0]"), 0), reference, refusal);
    }

    private static void ignoredNumbers(List<ReferenceCase> cases) {
        String range = "number out of range";
        ignored(cases, "1e999", range, "out of range");
        ignored(cases, "-1e999", range, "out of range");
        ignored(cases, "[{\"x\":1e999}]", range, "out of range");
        ignored(cases, "1e99999999999999999999", range, "out of range");
        ignored(cases, "1.8e308", range, "out of range");
        ignored(cases, "1e308", OK, "");
        ignored(cases, "1e-999", OK, "");
        ignored(cases, "0e999", OK, "");
        ignored(cases, "1e-99999999999999999999", OK, "");
        ignored(cases, "1".repeat(400), range, "out of range");
        ignored(cases, "1".repeat(300), OK, "");
        ignored(cases, "0." + "1".repeat(1500), OK, "");
        ignored(cases, "1".repeat(1500) + "e-1400", OK, "");
    }

    private static void ignored(List<ReferenceCase> cases, String value, String reference, String refusal) {
        String json = VALID.replace("}}", ",\"note\":" + value + "}}");
        json(cases, "ignored " + value.substring(0, Math.min(30, value.length())), json, reference, refusal);
    }

    private static void lengthsOfNames(List<ReferenceCase> cases) {
        String name = "n".repeat(70_000);
        json(cases, "long ignored name", VALID.replace("}}", ",\"" + name + "\":1}}"), OK, "");
        json(cases, "long tensor name", VALID.replace("\"a\"", "\"" + name + "\""), OK, "");
    }

    private static void fields(List<ReferenceCase> cases) {
        json(
                cases,
                "offsets 3 elements",
                one("I32", "[2,2]", "[0,16,16]"),
                "invalid length 3, expected 2 elements",
                "must be two numbers, not 3");
        json(
                cases,
                "offsets 1 element",
                one("I32", "[2,2]", "[16]"),
                "invalid length 1, expected a tuple of size 2",
                "must be two numbers, not 1");
        json(
                cases,
                "unknown dtype F31",
                one("F31", "[2,2]", "[0,16]"),
                "unknown variant `F31`",
                "unknown dtype \"F31\"; allowed are [BOOL, F4,");
        json(cases, "lowercase dtype", one("i32", "[2,2]", "[0,16]"), "unknown variant `i32`", "unknown dtype \"i32\"");
        json(
                cases,
                "missing dtype",
                "{\"a\":{\"shape\":[2,2],\"data_offsets\":[0,16]}}",
                "missing field `dtype`",
                "no field \"dtype\"");
        json(
                cases,
                "missing shape",
                "{\"a\":{\"dtype\":\"I32\",\"data_offsets\":[0,16]}}",
                "missing field `shape`",
                "no field \"shape\"");
        json(
                cases,
                "missing offsets",
                "{\"a\":{\"dtype\":\"I32\",\"shape\":[2,2]}}",
                "missing field `data_offsets`",
                "no field \"data_offsets\"");
        json(
                cases,
                "extra unknown field in info",
                "{\"a\":{\"dtype\":\"I32\",\"shape\":[2,2],\"data_offsets\":[0,16],\"note\":{\"x\":[1,null]}}}",
                OK,
                "");
        json(
                cases,
                "info as array",
                "{\"a\":[\"I32\",[2,2],[0,16]]}",
                OK,
                "must be described by an object, not an array");
        json(
                cases,
                "info null",
                "{\"a\":null}",
                "invalid type: null, expected struct TensorInfo",
                "must be described by an object, not null");
    }

    private static void text(List<ReferenceCase> cases) {
        byte[] invalid = ascii(VALID);
        invalid[2] = (byte) 0xff;
        add(cases, "invalid utf8 in header", file(invalid, counting(16)), "invalid utf-8", "byte 2 is not valid UTF-8");
        named(cases, "lone surrogate escape in name", "\\ud800", "unexpected end of hex escape", "surrogate pair");
        named(cases, "NUL in name escape", "\\u0000", OK, "");
        named(
                cases,
                "raw control char in name",
                "a\u0001",
                "control character (\\u0000-\\u001F) found",
                "not valid JSON");
        named(cases, "empty name", "", OK, "");
        json(
                cases,
                "trailing comma",
                VALID.substring(0, VALID.length() - 1) + ",}",
                "trailing comma",
                "not valid JSON");
        json(cases, "comment", "/* c */" + VALID, "expected value", "not valid JSON");
        json(cases, "single quotes", VALID.replace('"', '\''), "key must be a string", "not valid JSON");
    }

    private static String metadata(String value) {
        return "{\"__metadata__\":" + value + ",\"a\":" + info("I32", "[2,2]", "[0,16]") + "}";
    }

    private static String info(String dtype, String shape, String offsets) {
        return "{\"dtype\":\"" + dtype + "\",\"shape\":" + shape + ",\"data_offsets\":" + offsets + "}";
    }

    private static String one(String dtype, String shape, String offsets) {
        return "{\"a\":" + info(dtype, shape, offsets) + "}";
    }

    private static String two(String a, String b) {
        return "{\"a\":" + a + ",\"b\":" + b + "}";
    }

    /** Makes the header's length odd. */
    private static String oddPadding() {
        return one("F32", "[2,2]", "[0,16]").length() % 2 == 0 ? " " : "";
    }

    private static void dim(List<ReferenceCase> cases, String name, String dim, String reference, String refusal) {
        json(cases, name, one("I32", "[" + dim + "]", "[0,16]"), reference, refusal);
    }

    private static void named(List<ReferenceCase> cases, String name, String tensor, String reference, String refusal) {
        json(cases, name, "{\"" + tensor + "\":" + info("I32", "[2,2]", "[0,16]") + "}", reference, refusal);
    }

    private static void json(List<ReferenceCase> cases, String name, String json, String reference, String refusal) {
        add(cases, name, file(json, 16), reference, refusal);
    }

    private static void add(List<ReferenceCase> cases, String name, byte[] file, String reference, String refusal) {
        cases.add(new ReferenceCase(name, file, reference, refusal));
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}

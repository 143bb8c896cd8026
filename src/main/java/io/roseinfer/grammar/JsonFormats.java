package io.roseinfer.grammar;

import java.math.BigDecimal;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The values of {@code format} that are enforced. Thread-safe. */
final class JsonFormats {
    private static final String LEAP_YEAR = "([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)";
    private static final String DATE = "([0-9]{4}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])"
            + "|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))|" + LEAP_YEAR + "-02-29)";
    private static final String TIME = "(([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]+)?"
            + "([zZ]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])|23:59:60(\\.[0-9]+)?([zZ]|[+-]00:00))";

    private static final String LABEL = "[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?";
    /** A label without "--" in third position: that marks an encoded one, which no pattern can check. */
    private static final String PLAIN_LABEL = "[A-Za-z0-9]([A-Za-z0-9-]{0,2}[A-Za-z0-9]"
            + "|[A-Za-z0-9-]([A-Za-z0-9][A-Za-z0-9-]|-[A-Za-z0-9])[A-Za-z0-9-]{0,58}[A-Za-z0-9])?";

    private static final String HOSTNAME = LABEL + "(\\." + LABEL + ")*";

    private static final String BYTE = "(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";
    private static final String IPV4 = "(" + BYTE + "\\.){3}" + BYTE;
    private static final String IPV6 = ipv6();

    private static final String ATOM = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+";
    private static final String EMAIL = "(" + ATOM + "(\\." + ATOM + ")*|\"([ !#-\\[\\]-~]|\\\\[ -~])*\")@(" + HOSTNAME
            + "|\\[(" + IPV4 + "|IPv6:" + IPV6 + ")\\])";

    private static final String PERCENT = "%[0-9A-Fa-f]{2}";
    private static final String SCHEME = "[A-Za-z][A-Za-z0-9+.-]*:";

    private static final String IRI_LETTERS =
            "A-Za-z0-9\\u00A0-\\uD7FF\\uF900-\\uFDCF\\uFDF0-\\uFFEF\\u{10000}-\\u{EFFFD}";

    private static final Map<String, String> PATTERNS = Map.ofEntries(
            Map.entry("date-time", DATE + "[tT]" + TIME),
            Map.entry("date", DATE),
            Map.entry("time", TIME),
            Map.entry("duration", duration()),
            Map.entry("email", EMAIL),
            Map.entry("hostname", PLAIN_LABEL + "(\\." + PLAIN_LABEL + ")*"),
            Map.entry("ipv4", IPV4),
            Map.entry("ipv6", IPV6),
            Map.entry("uuid", "[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"),
            Map.entry("uri", uri("A-Za-z0-9", false)),
            Map.entry("uri-reference", uri("A-Za-z0-9", true)),
            Map.entry("iri", uri(IRI_LETTERS, false)),
            Map.entry("iri-reference", uri(IRI_LETTERS, true)),
            Map.entry("json-pointer", "(/([^/~]|~[01])*)*"),
            Map.entry("relative-json-pointer", "(0|[1-9][0-9]*)(#|(/([^/~]|~[01])*)*)"),
            Map.entry(
                    "uri-template",
                    "([^\\x00-\\x20\\x7F\"<>\\\\^`{|}%]|" + PERCENT + "|\\{[+#./;?&=,!@|]?" + variable() + "(,"
                            + variable() + ")*\\})*"),
            Map.entry("byte", "([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?"));

    /** Formats of OpenAPI that restrict nothing. */
    private static final Set<String> UNRESTRICTED = Set.of("password", "float", "double", "binary");

    private static final Map<String, Texts> TEXTS = new ConcurrentHashMap<>();

    private JsonFormats() {}

    private static String duration() {
        String time = "T([0-9]+H([0-9]+M([0-9]+S)?)?|[0-9]+M([0-9]+S)?|[0-9]+S)";
        String date = "([0-9]+D|[0-9]+M([0-9]+D)?|[0-9]+Y([0-9]+M([0-9]+D)?)?)";
        return "P(" + date + "(" + time + ")?|" + time + "|[0-9]+W)";
    }

    private static String ipv6() {
        String group = "[0-9A-Fa-f]{1,4}";
        String last = "(" + group + ":" + group + "|" + IPV4 + ")";
        StringBuilder pattern = new StringBuilder("((" + group + ":){6}" + last);
        for (int before = 0; before <= 7; before++) {
            String head = before == 0 ? "" : "(" + group + "(:" + group + "){0," + (before - 1) + "})?";
            if (before <= 5) {
                String tail = before == 5 ? last : "(" + group + ":){" + (5 - before) + "}" + last;
                pattern.append('|').append(head).append("::").append(tail);
            } else {
                pattern.append('|').append(head).append("::").append(before == 6 ? group : "");
            }
        }
        return pattern.append(')').toString();
    }

    private static String uri(String letters, boolean relative) {
        String unreserved = letters + "._~";
        String sub = "!$&'()*+,;=-";
        String pchar = "([:@" + unreserved + sub + "]|" + PERCENT + ")";
        String literal = "\\[(" + IPV6 + "|[vV][0-9A-Fa-f]+\\.[A-Za-z0-9._~!$&'()*+,;=:-]+)\\]";
        String authority = "(([:" + unreserved + sub + "]|" + PERCENT + ")*@)?(" + literal + "|([" + unreserved + sub
                + "]|" + PERCENT + ")*)(:[0-9]*)?";
        String rootless = pchar + "+(/" + pchar + "*)*";
        String tail = "(\\?(" + pchar + "|[/?])*)?(#(" + pchar + "|[/?])*)?";
        String shared = "//" + authority + "(/" + pchar + "*)*|/(" + rootless + ")?";
        String absolute = SCHEME + "(" + shared + "|" + rootless + "|)" + tail;
        if (!relative) {
            return absolute;
        }
        String withoutColon = "([@" + unreserved + sub + "]|" + PERCENT + ")+(/" + pchar + "*)*";
        return "(" + absolute + "|(" + shared + "|" + withoutColon + "|)" + tail + ")";
    }

    private static String variable() {
        String character = "([A-Za-z0-9_]|" + PERCENT + ")";
        return character + "(\\.?" + character + ")*(:[1-9][0-9]{0,3}|\\*)?";
    }

    /** Returns the strings of a format, or null if it is not supported. */
    static @Nullable Texts texts(String format) {
        if (UNRESTRICTED.contains(format) || integers(format) != null) {
            return Texts.Pattern.ALL;
        }
        String pattern = PATTERNS.get(format);
        if (pattern == null) {
            return null;
        }
        return TEXTS.computeIfAbsent(format, key -> {
            Texts texts = new Texts.Pattern(RegexParser.match(pattern));
            return key.equals("hostname") ? texts.and(Texts.ofLength(1, 253)) : texts;
        });
    }

    /** Returns the names of all formats, for a message. */
    static String names() {
        return Stream.concat(PATTERNS.keySet().stream(), UNRESTRICTED.stream())
                .sorted()
                .collect(Collectors.joining(", ", "", ", int8 to int64 and uint8 to uint64"));
    }

    /** Returns the numbers of an integer format of OpenAPI, or null if it is none. */
    static @Nullable DecimalSet integers(String format) {
        return switch (format) {
            case "int8" -> signed(7);
            case "int16" -> signed(15);
            case "int32" -> signed(31);
            case "int64" -> signed(63);
            case "uint8" -> unsigned(8);
            case "uint16" -> unsigned(16);
            case "uint32" -> unsigned(32);
            case "uint64" -> unsigned(64);
            default -> null;
        };
    }

    private static DecimalSet signed(int bits) {
        BigDecimal end = BigDecimal.TWO.pow(bits);
        return DecimalSet.INTEGERS
                .and(DecimalSet.of(DecimalSet.Relation.GREATER_OR_EQUAL, end.negate(), "format"))
                .and(DecimalSet.of(DecimalSet.Relation.LESS, end, "format"));
    }

    private static DecimalSet unsigned(int bits) {
        return DecimalSet.INTEGERS
                .and(DecimalSet.of(DecimalSet.Relation.GREATER_OR_EQUAL, BigDecimal.ZERO, "format"))
                .and(DecimalSet.of(DecimalSet.Relation.LESS, BigDecimal.TWO.pow(bits), "format"));
    }
}

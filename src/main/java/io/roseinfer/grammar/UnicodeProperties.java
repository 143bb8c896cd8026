package io.roseinfer.grammar;

import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/** The sets of {@code \p{...}} in regular expressions, by the JDK's version of Unicode. Thread-safe. */
final class UnicodeProperties {
    private static final Map<String, CodePointSet> CACHE = new ConcurrentHashMap<>();

    private static final Map<String, String> LONG_NAMES = Map.ofEntries(
            Map.entry("Letter", "L"),
            Map.entry("Cased_Letter", "LC"),
            Map.entry("Uppercase_Letter", "Lu"),
            Map.entry("Lowercase_Letter", "Ll"),
            Map.entry("Titlecase_Letter", "Lt"),
            Map.entry("Modifier_Letter", "Lm"),
            Map.entry("Other_Letter", "Lo"),
            Map.entry("Mark", "M"),
            Map.entry("Combining_Mark", "M"),
            Map.entry("Nonspacing_Mark", "Mn"),
            Map.entry("Spacing_Mark", "Mc"),
            Map.entry("Enclosing_Mark", "Me"),
            Map.entry("Number", "N"),
            Map.entry("Decimal_Number", "Nd"),
            Map.entry("digit", "Nd"),
            Map.entry("Letter_Number", "Nl"),
            Map.entry("Other_Number", "No"),
            Map.entry("Punctuation", "P"),
            Map.entry("punct", "P"),
            Map.entry("Connector_Punctuation", "Pc"),
            Map.entry("Dash_Punctuation", "Pd"),
            Map.entry("Open_Punctuation", "Ps"),
            Map.entry("Close_Punctuation", "Pe"),
            Map.entry("Initial_Punctuation", "Pi"),
            Map.entry("Final_Punctuation", "Pf"),
            Map.entry("Other_Punctuation", "Po"),
            Map.entry("Symbol", "S"),
            Map.entry("Math_Symbol", "Sm"),
            Map.entry("Currency_Symbol", "Sc"),
            Map.entry("Modifier_Symbol", "Sk"),
            Map.entry("Other_Symbol", "So"),
            Map.entry("Separator", "Z"),
            Map.entry("Space_Separator", "Zs"),
            Map.entry("Line_Separator", "Zl"),
            Map.entry("Paragraph_Separator", "Zp"),
            Map.entry("Other", "C"),
            Map.entry("Control", "Cc"),
            Map.entry("cntrl", "Cc"),
            Map.entry("Format", "Cf"),
            Map.entry("Private_Use", "Co"),
            Map.entry("Unassigned", "Cn"));

    private static final Set<String> CATEGORIES = Set.of(
            "L", "LC", "Lu", "Ll", "Lt", "Lm", "Lo", "M", "Mn", "Mc", "Me", "N", "Nd", "Nl", "No", "P", "Pc", "Pd",
            "Ps", "Pe", "Pi", "Pf", "Po", "S", "Sm", "Sc", "Sk", "So", "Z", "Zs", "Zl", "Zp", "C", "Cc", "Cf", "Co",
            "Cn");

    private UnicodeProperties() {}

    /** Returns the code points of a property or {@code name=value}, or null if it is not supported. */
    static @Nullable CodePointSet of(String property) {
        CodePointSet known = CACHE.get(property);
        if (known != null) {
            return known;
        }
        IntPredicate predicate = predicate(property);
        if (predicate == null) {
            return null;
        }
        CodePointSet set = matching(predicate);
        if (CACHE.size() < 256) {
            CACHE.put(property, set);
        }
        return set;
    }

    private static @Nullable IntPredicate predicate(String property) {
        int equals = property.indexOf('=');
        if (equals >= 0) {
            String value = property.substring(equals + 1);
            return switch (property.substring(0, equals)) {
                case "General_Category", "gc" -> category(value);
                case "Script", "sc" -> script(value);
                default -> null;
            };
        }
        IntPredicate category = category(property);
        return category != null ? category : binary(property);
    }

    private static @Nullable IntPredicate category(String name) {
        String category = LONG_NAMES.getOrDefault(name, name);
        if (!CATEGORIES.contains(category)) {
            return null;
        }
        return switch (category) {
            case "LC" -> codePoint -> Set.of("Lu", "Ll", "Lt").contains(categoryOf(codePoint));
            default -> codePoint -> categoryOf(codePoint).startsWith(category);
        };
    }

    private static String categoryOf(int codePoint) {
        return switch (Character.getType(codePoint)) {
            case Character.UPPERCASE_LETTER -> "Lu";
            case Character.LOWERCASE_LETTER -> "Ll";
            case Character.TITLECASE_LETTER -> "Lt";
            case Character.MODIFIER_LETTER -> "Lm";
            case Character.OTHER_LETTER -> "Lo";
            case Character.NON_SPACING_MARK -> "Mn";
            case Character.COMBINING_SPACING_MARK -> "Mc";
            case Character.ENCLOSING_MARK -> "Me";
            case Character.DECIMAL_DIGIT_NUMBER -> "Nd";
            case Character.LETTER_NUMBER -> "Nl";
            case Character.OTHER_NUMBER -> "No";
            case Character.CONNECTOR_PUNCTUATION -> "Pc";
            case Character.DASH_PUNCTUATION -> "Pd";
            case Character.START_PUNCTUATION -> "Ps";
            case Character.END_PUNCTUATION -> "Pe";
            case Character.INITIAL_QUOTE_PUNCTUATION -> "Pi";
            case Character.FINAL_QUOTE_PUNCTUATION -> "Pf";
            case Character.OTHER_PUNCTUATION -> "Po";
            case Character.MATH_SYMBOL -> "Sm";
            case Character.CURRENCY_SYMBOL -> "Sc";
            case Character.MODIFIER_SYMBOL -> "Sk";
            case Character.OTHER_SYMBOL -> "So";
            case Character.SPACE_SEPARATOR -> "Zs";
            case Character.LINE_SEPARATOR -> "Zl";
            case Character.PARAGRAPH_SEPARATOR -> "Zp";
            case Character.CONTROL -> "Cc";
            case Character.FORMAT -> "Cf";
            case Character.PRIVATE_USE -> "Co";
            case Character.SURROGATE -> "Cs";
            default -> "Cn";
        };
    }

    private static @Nullable IntPredicate script(String name) {
        try {
            Character.UnicodeScript script = Character.UnicodeScript.forName(name.toUpperCase(Locale.ROOT));
            return codePoint -> Character.UnicodeScript.of(codePoint) == script;
        } catch (IllegalArgumentException _) {
            return null;
        }
    }

    private static @Nullable IntPredicate binary(String name) {
        return switch (name) {
            case "Any" -> _ -> true;
            case "ASCII" -> codePoint -> codePoint < 128;
            case "Assigned" -> codePoint -> Character.getType(codePoint) != Character.UNASSIGNED;
            case "Alphabetic", "Alpha" -> Character::isAlphabetic;
            case "Uppercase", "Upper" -> Character::isUpperCase;
            case "Lowercase", "Lower" -> Character::isLowerCase;
            case "Ideographic", "Ideo" -> Character::isIdeographic;
            case "ASCII_Hex_Digit", "AHex" -> codePoint -> codePoint < 128 && Character.digit(codePoint, 16) >= 0;
            case "Emoji" -> Character::isEmoji;
            case "Emoji_Presentation" -> Character::isEmojiPresentation;
            case "Extended_Pictographic" -> Character::isExtendedPictographic;
            default -> null;
        };
    }

    private static CodePointSet matching(IntPredicate predicate) {
        int[] pairs = new int[64];
        int size = 0;
        for (int codePoint = 0; codePoint <= Character.MAX_CODE_POINT; codePoint++) {
            if (!predicate.test(codePoint)) {
                continue;
            }
            if (size > 0 && pairs[size - 1] == codePoint - 1) {
                pairs[size - 1] = codePoint;
                continue;
            }
            if (size == pairs.length) {
                pairs = Arrays.copyOf(pairs, 2 * size);
            }
            pairs[size++] = codePoint;
            pairs[size++] = codePoint;
        }
        return CodePointSet.ofRanges(Arrays.copyOf(pairs, size));
    }
}

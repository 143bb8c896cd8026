package io.roseinfer.tokenizer.chat;

import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException.BadInput;
import java.time.LocalDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** C's {@code strftime} in the C locale, limited to the fields of date and time that templates use. */
final class Strftime {
    private static final Pattern FIELD = Pattern.compile("%(-?)(.?)", Pattern.DOTALL);

    private Strftime() {}

    /** Formats a time with a format such as {@code %d %b %Y}. */
    static String format(LocalDateTime time, String format) {
        Matcher fields = FIELD.matcher(format);
        StringBuilder out = new StringBuilder();
        while (fields.find()) {
            String letter = fields.group(2);
            String text = field(time, letter.isEmpty() ? '\0' : letter.charAt(0))
                    .orElseThrow(() -> new BadInput("the chat template uses the unsupported time format "
                            + Quoted.name(format)
                            + "; supported are %a %A %b %B %d %e %H %I %j %m %M %p %S %y %Y %F %T"));
            boolean padded = text.length() > 1 && "0 ".indexOf(text.charAt(0)) >= 0;
            boolean unpad = !fields.group(1).isEmpty() && padded;
            fields.appendReplacement(out, Matcher.quoteReplacement(unpad ? text.substring(1) : text));
        }
        return fields.appendTail(out).toString();
    }

    private static Optional<String> field(LocalDateTime time, char field) {
        String pattern =
                switch (field) {
                    case 'a' -> "EEE";
                    case 'A' -> "EEEE";
                    case 'b', 'h' -> "MMM";
                    case 'B' -> "MMMM";
                    case 'd' -> "dd";
                    case 'e' -> "ppd";
                    case 'F' -> "uuuu-MM-dd";
                    case 'H' -> "HH";
                    case 'I' -> "hh";
                    case 'j' -> "DDD";
                    case 'm' -> "MM";
                    case 'M' -> "mm";
                    case 'p' -> "a";
                    case 'S' -> "ss";
                    case 'T' -> "HH:mm:ss";
                    case 'y' -> "uu";
                    case 'Y' -> "uuuu";
                    case '%' -> "'%'";
                    default -> "";
                };
        return pattern.isEmpty()
                ? Optional.empty()
                : Optional.of(DateTimeFormatter.ofPattern(pattern, Locale.US).format(time));
    }
}

package io.roseinfer.tokenizer.chat.jinja;

import io.roseinfer.tokenizer.chat.jinja.Value.Given;
import io.roseinfer.tokenizer.chat.jinja.Value.Items;
import io.roseinfer.tokenizer.chat.jinja.Value.Text;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The supported part of Python's string formatting: {@code "%s" % x} and {@code "{}".format(x)}, without widths. */
final class Formatting {
    private static final Pattern PERCENT = Pattern.compile("%(.?)", Pattern.DOTALL);
    private static final Pattern BRACES = Pattern.compile("\\{\\{|\\}\\}|\\{([^{}]*)\\}|[{}]");

    private Formatting() {}

    /** Evaluates {@code format % values}; a tuple is several values, anything else is one. */
    static Value percent(String format, Value values, Budget budget) {
        List<Value> all = values instanceof Items(var items, Items.Kind kind) && kind == Items.Kind.TUPLE
                ? items
                : List.of(values);
        StringBuilder out = new StringBuilder();
        Matcher matcher = PERCENT.matcher(format);
        int used = 0;
        while (matcher.find()) {
            String conversion = matcher.group(1);
            String text = "%";
            if (!conversion.equals("%")) {
                if (used == all.size()) {
                    throw new TemplateError("the format " + format + " has more placeholders than values");
                }
                text = converted(conversion, all.get(used++));
            }
            append(matcher, text, out, budget);
        }
        if (used < all.size()) {
            throw new TemplateError("the format " + format + " has fewer placeholders than values");
        }
        return new Text(matcher.appendTail(out).toString());
    }

    /** Appends the text before a match, and then a replacement of the match. */
    private static void append(Matcher matcher, String text, StringBuilder out, Budget budget) {
        int length = out.length();
        matcher.appendReplacement(out, "");
        out.append(text);
        budget.append(length, out.length() - length);
    }

    private static String converted(String conversion, Value value) {
        return switch (conversion) {
            case "s" -> PythonText.str(value);
            case "d", "i" ->
                value instanceof Value.Real(double number)
                        ? Long.toString((long) number)
                        : Long.toString(Numbers.integer(value, "the value of %d"));
            default -> throw new TemplateError("the format %" + conversion + " is not supported; use %s or %d");
        };
    }

    /** Evaluates {@code format.format(...)}. */
    static Value braces(String format, Given arguments, Budget budget) {
        StringBuilder out = new StringBuilder();
        Matcher matcher = BRACES.matcher(format);
        int next = 0;
        while (matcher.find()) {
            String text = matcher.group();
            if (matcher.group(1) != null) {
                String name = matcher.group(1);
                text = PythonText.str(argument(name.isEmpty() ? Integer.toString(next++) : name, arguments));
            } else if (text.length() == 1) {
                throw new TemplateError("the format " + format + " has a single brace");
            } else {
                text = text.substring(1);
            }
            append(matcher, text, out, budget);
        }
        return new Text(matcher.appendTail(out).toString());
    }

    private static Value argument(String name, Given arguments) {
        if (name.matches("\\d{1,6}") && Integer.parseInt(name) < arguments.positional().size()) {
            return arguments.positional().get(Integer.parseInt(name));
        }
        Value named = arguments.named().get(name);
        if (named == null) {
            throw new TemplateError("the format field {" + name + "} is not supported or has no value");
        }
        return named;
    }
}

package io.roseinfer.cli.flags;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine;
import picocli.CommandLine.Help;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Help.Ansi.Text;
import picocli.CommandLine.Help.Layout;
import picocli.CommandLine.IHelpSectionRenderer;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.UsageMessageSpec;

/** Renders the flags of a command's help: a section for each {@link Heading}, in order of declaration, with the bounds of {@link Within}. */
public final class FlagSections implements IHelpSectionRenderer {
    /** Length of the longest word that is never broken: it fits into the column of descriptions of the narrowest help. */
    private static final int MAX_UNBROKEN_CHARS = 40;

    /** Between an ASCII character and the letter that stands for it, which occurs in no help. */
    private static final int LETTER_OFFSET = 0x1E00;

    private static final Pattern WORD = Pattern.compile("\\S+");
    private static final Pattern PUNCTUATION = Pattern.compile("[!-/:-@\\[-`{-~]");
    private static final Pattern LETTER = Pattern.compile("[\\x{1E21}-\\x{1E7E}]");

    private FlagSections() {}

    /** Makes the help of a command and its subcommands group flags in sections. */
    public static void register(CommandLine command) {
        Map<String, IHelpSectionRenderer> sections = new HashMap<>(command.getHelpSectionMap());
        sections.put(UsageMessageSpec.SECTION_KEY_OPTION_LIST, new FlagSections());
        var unused = command.setHelpSectionMap(sections);
    }

    /** Returns a command's visible flags by heading, in order of declaration. */
    public static Map<String, List<OptionSpec>> of(CommandSpec command) {
        Map<String, List<OptionSpec>> sections = new LinkedHashMap<>();
        for (OptionSpec flag : command.options()) {
            if (!flag.hidden()) {
                sections.computeIfAbsent(heading(flag), heading -> new ArrayList<>())
                        .add(flag);
            }
        }
        return sections;
    }

    /** Returns the bounds of a flag's numbers, as in {@code 1 to 64}; empty if it has none. */
    public static Optional<String> range(OptionSpec flag) {
        return Within.Check.Range.of(flag).map(Within.Check.Range::values);
    }

    @Override
    public String render(Help help) {
        StringBuilder text = new StringBuilder();
        of(help.commandSpec())
                .forEach((heading, flags) -> text.append(System.lineSeparator())
                        .append(heading)
                        .append(':')
                        .append(System.lineSeparator())
                        .append(list(flags, help)));
        return LETTER.matcher(text).replaceAll(match -> Matcher.quoteReplacement(shifted(match, -LETTER_OFFSET)));
    }

    /** Returns the heading of a flag's field, else of the class that declares it. */
    private static String heading(OptionSpec flag) {
        Field field = (Field) flag.userObject();
        Heading heading = field.isAnnotationPresent(Heading.class)
                ? field.getAnnotation(Heading.class)
                : field.getDeclaringClass().getAnnotation(Heading.class);
        return heading == null ? Heading.GENERAL : heading.value();
    }

    private static String list(List<OptionSpec> flags, Help help) {
        Layout columns = help.createDefaultLayout();
        Layout layout = new Layout(
                columns.colorScheme(),
                columns.textTable(),
                (flag, label, scheme) ->
                        unbroken(withRange(flag, columns.optionRenderer().render(flag, label, scheme))),
                columns.parameterRenderer());
        return help.optionListExcludingGroups(flags, layout, null, help.parameterLabelRenderer());
    }

    /**
     * Replaces punctuation in the descriptions by letters, until they are laid out: picocli breaks lines also after a
     * period or before a slash, in the middle of a name.
     */
    private static Text[][] unbroken(Text[][] rows) {
        for (Text[] row : rows) {
            row[row.length - 1] = Ansi.OFF
            .new Text(WORD.matcher(row[row.length - 1].toString()).replaceAll(word -> unbroken(word.group())));
        }
        return rows;
    }

    private static String unbroken(String word) {
        return Matcher.quoteReplacement(
                word.length() > MAX_UNBROKEN_CHARS
                        ? word
                        : PUNCTUATION.matcher(word).replaceAll(match -> shifted(match, LETTER_OFFSET)));
    }

    private static String shifted(MatchResult character, int offset) {
        return Character.toString(character.group().charAt(0) + offset);
    }

    /** Appends a flag's range to the last line of its description, which shows the default if there is one. */
    private static Text[][] withRange(OptionSpec flag, Text[][] rows) {
        range(flag).ifPresent(range -> {
            Text[] last = rows[rows.length - 1];
            last[last.length - 1] = last[last.length - 1].concat(" (" + range + ")");
        });
        return rows;
    }
}

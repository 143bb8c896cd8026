package io.roseinfer.cli.flags;

import io.roseinfer.base.SpellingSuggestion;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.TypeConversionException;

/** Flags whose value is one of a few words: the constants of an enum in lower case. A field of that enum's type is all that such a flag needs. */
public final class Choices {
    private Choices() {}

    /** Makes a command and those below it read the enums of their flags by their words. */
    public static void register(CommandLine root) {
        commands(root)
                .flatMap(command -> command.getCommandSpec().options().stream())
                .map(option -> option.typeInfo().getAuxiliaryTypes()[0])
                .filter(Class::isEnum)
                .distinct()
                .forEach(type -> register(root, type));
    }

    private static <T> void register(CommandLine root, Class<T> type) {
        root.registerConverter(type, text -> read(type, text));
    }

    private static Stream<CommandLine> commands(CommandLine root) {
        return Stream.concat(
                Stream.of(root), root.getSubcommands().values().stream().flatMap(Choices::commands));
    }

    /** Returns the constant of an enum that a word names. */
    static <T> T read(Class<T> type, String text) {
        List<T> constants = Arrays.asList(type.getEnumConstants());
        List<String> words =
                constants.stream().map(constant -> word((Enum<?>) constant)).toList();
        int at = words.indexOf(text);
        if (at < 0) {
            throw new TypeConversionException("'" + text + "' is not one of " + String.join(", ", words)
                    + SpellingSuggestion.suggestion(text, words));
        }
        return constants.get(at);
    }

    /** Returns a constant as a flag spells it. */
    public static String word(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }
}

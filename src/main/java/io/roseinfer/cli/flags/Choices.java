package io.roseinfer.cli.flags;

import io.roseinfer.base.SpellingSuggestion;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.TypeConversionException;

/** Converters of flags whose values are the constants of an enum in lower case. Such a flag only needs a field of the enum's type. */
public final class Choices {
    private Choices() {}

    /** Registers converters for the enum-typed flags of a command and its subcommands. */
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

    /** Returns the enum constant named by a word. */
    static <T> T read(Class<T> type, String text) {
        return read(List.of(type.getEnumConstants()), text);
    }

    /**
     * Returns which of some enum constants a word names.
     *
     * @param others forms of other values of the flag, for the message
     */
    static <T> T read(List<T> constants, String text, String... others) {
        List<String> words =
                constants.stream().map(constant -> word((Enum<?>) constant)).toList();
        int at = words.indexOf(text);
        if (at < 0) {
            throw new TypeConversionException("'" + text + "' is not one of "
                    + Stream.concat(words.stream(), Stream.of(others)).collect(Collectors.joining(", "))
                    + SpellingSuggestion.suggestion(text, words));
        }
        return constants.get(at);
    }

    /** Returns the word of a constant on the command line. */
    public static String word(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }
}

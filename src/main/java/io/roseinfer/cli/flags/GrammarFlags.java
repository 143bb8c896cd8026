package io.roseinfer.cli.flags;

import io.roseinfer.base.FileFailure;
import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.cli.terminal.Terminal;
import io.roseinfer.grammar.Grammar;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

/** The flags that restrict a completion to a grammar; at most one can be given. */
@Heading("Completion")
public final class GrammarFlags {
    private static final String SCHEMA = "--json-schema";
    private static final String REGEX = "--regex";
    private static final String GRAMMAR = "--grammar";

    @Option(
            names = SCHEMA,
            paramLabel = "<FILE>",
            description = "Generate JSON that is valid against the JSON Schema in a file.",
            showDefaultValue = Visibility.NEVER)
    private Optional<Path> schema = Optional.empty();

    @Option(
            names = REGEX,
            paramLabel = "<REGEX>",
            description = "Generate text that matches a regular expression from start to end.",
            showDefaultValue = Visibility.NEVER)
    private Optional<String> regex = Optional.empty();

    @Option(
            names = GRAMMAR,
            paramLabel = "<FILE>",
            description = "Generate text of the grammar in a file: GBNF if a line has ::=, else Lark.",
            showDefaultValue = Visibility.NEVER)
    private Optional<Path> grammar = Optional.empty();

    /**
     * Returns the grammar; empty if none is given. Keywords of a schema without effect are noted.
     *
     * @throws BadInput if two are given, or one cannot be read or is malformed
     */
    public Optional<Grammar> grammar(Terminal terminal) {
        List<String> given = Stream.of(
                        schema.map(file -> SCHEMA), regex.map(pattern -> REGEX), grammar.map(file -> GRAMMAR))
                .flatMap(Optional::stream)
                .toList();
        if (given.size() > 1) {
            throw new BadInput(given.get(0) + " and " + given.get(1) + " are both given; give one of them");
        }
        return schema.map(file -> read(SCHEMA, file, text -> schema(text, terminal)))
                .or(() -> regex.map(pattern -> named(REGEX, () -> Grammar.regex(pattern))))
                .or(() -> grammar.map(file -> read(GRAMMAR, file, Grammar::ebnf)));
    }

    private static Grammar schema(String text, Terminal terminal) {
        JsonNode schema = Grammar.parseSchema(text);
        Grammar grammar = Grammar.jsonSchema(schema);
        Grammar.unknownKeywords(schema)
                .forEach(place -> terminal.note(
                        SCHEMA + ": " + Quoted.value(place) + " has no effect: JSON Schema has no such keyword"));
        return grammar;
    }

    private static Grammar read(String flag, Path file, Function<String, Grammar> reader) {
        String name = flag + " " + FileFailure.shown(file);
        try {
            FileFailure.requireRegular(file);
            String text = Files.readString(file);
            return named(name, () -> reader.apply(text));
        } catch (IOException e) {
            throw new BadInput(name + ": " + FileFailure.reason(e), e);
        } catch (BadModel unusable) {
            throw new BadInput(flag + " " + unusable.getMessage(), unusable);
        }
    }

    private static Grammar named(String name, Supplier<Grammar> reading) {
        try {
            return reading.get();
        } catch (BadInput malformed) {
            throw new BadInput(name + ": " + malformed.getMessage(), malformed);
        }
    }
}

package io.roseinfer.hub;

import io.roseinfer.base.FileFailure;
import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.base.SpellingSuggestion;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The parsed argument of {@code --model}. */
public sealed interface ModelRef {
    /** The models in the jar. */
    List<String> BUILTIN_NAMES = List.of("tiny", "chat");

    /** The remedy for GGUF files. */
    String GGUF =
            "GGUF is not supported: use the repository or directory of the safetensors weights it was converted from";

    /** An existing directory in Hugging Face layout. */
    record Directory(Path path) implements ModelRef {
        @Override
        public String toString() {
            return path.toString();
        }
    }

    /** A repository of the hub, or of its local cache, at one of its revisions. */
    record Hub(HubId id) implements ModelRef {
        @Override
        public String toString() {
            return id.toString();
        }
    }

    /** A model in the jar, one of {@link #BUILTIN_NAMES}. */
    record Builtin(String name) implements ModelRef {
        @Override
        public String toString() {
            return "builtin:" + name;
        }
    }

    /** Seeded random weights of a known shape. */
    record RandomShape(String shape) implements ModelRef {
        @Override
        public String toString() {
            return "random:" + shape;
        }
    }

    /** Seeded random weights of the shape in a {@code config.json}. */
    record RandomConfig(Path config) implements ModelRef {
        @Override
        public String toString() {
            return "random:" + config;
        }
    }

    /**
     * Parses a model reference. An existing directory takes precedence over a hub id.
     *
     * @param known the known names
     * @throws BadInput if it is malformed
     * @throws BadModel if it is well formed, but there is no such directory, built-in model or shape
     */
    static ModelRef parse(String text, KnownModels known) {
        if (text.isBlank()) {
            throw new BadInput("the model is empty; " + allowed(known));
        }
        if (text.startsWith("builtin:")) {
            return builtin(text.substring("builtin:".length()));
        }
        if (text.startsWith("random:")) {
            return random(text.substring("random:".length()), known);
        }
        Path path = path(text);
        if (Files.isDirectory(path)) {
            return new Directory(path);
        }
        if (Files.exists(path) && text.endsWith(".gguf")) {
            throw new BadModel("model " + Quoted.name(text) + " is a GGUF file; " + GGUF);
        }
        if (Files.exists(path)) {
            throw new BadModel("model " + Quoted.name(text)
                    + " is a file; it must be the directory with config.json and model.safetensors");
        }
        int at = text.indexOf('@');
        String name = at < 0 ? text : text.substring(0, at);
        if (looksLikePath(name)) {
            Path whole = path.toAbsolutePath().normalize();
            throw new BadModel("model " + Quoted.name(text) + ": no such directory"
                    + (whole.toString().equals(text) ? "" : ": " + FileFailure.shown(whole))
                    + (text.startsWith("~") ? " ('~' is not expanded)" : ""));
        }
        int colon = name.indexOf(':');
        if (colon > name.indexOf('/') && name.contains("/") && HubId.isId(name.substring(0, colon))) {
            throw new BadInput("model " + Quoted.name(text) + " names a file of a GGUF repository; " + GGUF);
        }
        if (!HubId.isId(name)) {
            throw new BadInput(
                    "model " + Quoted.name(text) + " is neither a directory nor a hub id; " + allowed(known));
        }
        HubId id = known.hubId(name);
        return new Hub(at < 0 ? id : id.at(text.substring(at + 1)));
    }

    private static ModelRef builtin(String name) {
        if (!BUILTIN_NAMES.contains(name)) {
            throw new BadModel("there is no built-in model " + Quoted.name(name) + "; allowed are builtin:"
                    + String.join(", builtin:", BUILTIN_NAMES) + meant("builtin:", name, BUILTIN_NAMES));
        }
        return new Builtin(name);
    }

    private static ModelRef random(String shape, KnownModels known) {
        if (known.randomShapes().contains(shape)) {
            return new RandomShape(shape);
        }
        Path config = path(shape);
        if (!shape.isEmpty() && Files.isRegularFile(config)) {
            return new RandomConfig(config);
        }
        throw new BadModel(
                "random:" + Quoted.escape(shape) + " is neither a known shape nor a file; allowed are random:"
                        + String.join(", random:", known.randomShapes()) + " or random:PATH of a config.json"
                        + meant("random:", shape, known.randomShapes()));
    }

    private static String meant(String prefix, String name, List<String> known) {
        return SpellingSuggestion.suggestion(SpellingSuggestion.nearest(name, known).stream()
                .map(prefix::concat)
                .toList());
    }

    private static boolean looksLikePath(String text) {
        return Stream.of(".", "/", "~").anyMatch(text::startsWith)
                || text.endsWith("/")
                || text.indexOf('\\') >= 0
                || text.indexOf('/') != text.lastIndexOf('/');
    }

    private static Path path(String text) {
        try {
            return Path.of(text);
        } catch (InvalidPathException e) {
            throw new BadInput(
                    "model " + Quoted.name(text) + " is not a valid path: " + Quoted.escape(e.getReason()), e);
        }
    }

    private static String allowed(KnownModels known) {
        String bareId = known.movedIds().stream()
                .findFirst()
                .map(moved -> moved.bare() + " or ")
                .orElse("");
        return "allowed are a directory, a hub id such as " + bareId
                + "owner/name, with a branch, tag or commit owner/name@revision, builtin:"
                + String.join(", builtin:", BUILTIN_NAMES) + ", random:"
                + String.join(", random:", known.randomShapes())
                + " and random:PATH of a config.json";
    }
}

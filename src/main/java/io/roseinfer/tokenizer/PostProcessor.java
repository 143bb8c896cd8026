package io.roseinfer.tokenizer;

import io.roseinfer.base.RoseException.BadModel;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * The special tokens that stand around the ids of a whole text, such as a beginning of text: what the {@code post_processor} of
 * {@code tokenizer.json} adds.
 */
record PostProcessor(List<Integer> before, List<Integer> after) {
    static final PostProcessor NONE = new PostProcessor(List.of(), List.of());

    PostProcessor {
        before = List.copyOf(before);
        after = List.copyOf(after);
    }

    /**
     * Whether a text gets a token at its beginning and one at its end, where {@code tokenizer_config.json} decides that.
     *
     * @param begin the token's text; empty where there is none
     * @param explicit whether the file says so itself, rather than leave it to a default
     */
    record Ends(Optional<String> begin, Optional<String> end, boolean explicit) {
        /** As a postProcessor, given the ids of tokens. */
        PostProcessor postProcessor(Function<String, Integer> ids) {
            return new PostProcessor(
                    begin.stream().map(ids).toList(), end.stream().map(ids).toList());
        }
    }

    /**
     * Reads the component. {@code ByteLevel} only moves offsets, which ids do not have; of a {@code TemplateProcessing} the part
     * for a single text counts.
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
                throw piece.refused("is not supported; a template holds special tokens and the sequence A once");
            } else {
                textSeen = true;
            }
        }
        if (!textSeen) {
            throw single.refused("does not hold the sequence A, so no text would be encoded");
        }
        return new PostProcessor(list(before), list(after));
    }

    private static void addIds(JsonView name, JsonView template, IdList ids) {
        JsonView token = template.field("special_tokens").field(name.text());
        if (token.isAbsent()) {
            throw name.refused("is \"" + name.text() + "\", which special_tokens does not have");
        }
        token.field("ids").elements().forEach(id -> ids.add(id.tokenId()));
    }

    private static List<Integer> list(IdList ids) {
        return Arrays.stream(ids.toArray()).boxed().toList();
    }

    /** Refuses ids that no token has. */
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

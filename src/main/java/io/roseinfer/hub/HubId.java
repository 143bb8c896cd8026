package io.roseinfer.hub;

import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException.BadInput;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The name of a model repository on a Hugging Face hub, {@code owner/name} or a bare {@code name} for the few old ones, and which of its
 * revisions is meant.
 *
 * @param text the id as the hub's addresses and the cache's folders spell it
 * @param otherText the other id of the same model, if it has moved
 * @param revision a branch, a tag or a commit
 */
public record HubId(String text, Optional<String> otherText, String revision) {
    /** The branch that an id without a revision means. */
    public static final String MAIN = "main";

    private static final int MAX_CHARS = 96;
    private static final int MAX_REVISION_CHARS = 200;
    private static final Pattern REVISION =
            Pattern.compile("[A-Za-z0-9_][A-Za-z0-9._+-]*(/[A-Za-z0-9_][A-Za-z0-9._+-]*)*");
    private static final Pattern PART = Pattern.compile("[A-Za-z0-9_](?:[A-Za-z0-9._-]*[A-Za-z0-9_])?");

    /**
     * Checks the spelling by the hub's own rules, so that an id is safe in a path and in an address.
     *
     * @throws BadInput if {@code text} is no repository id
     */
    public HubId {
        if (!isId(text)) {
            throw new BadInput(
                    "model id " + Quoted.name(text) + " is malformed; allowed is name or owner/name of letters,"
                            + " digits, '-', '_' and '.', each at most " + MAX_CHARS
                            + " characters, without \"--\" or \"..\", not starting or ending with '-' or '.'");
        }
        if (!isRevision(revision)) {
            throw new BadInput("revision " + Quoted.name(revision) + " of model " + Quoted.name(text)
                    + " is malformed; allowed is a branch, a tag or a commit of letters, digits, '-', '_', '+', '.' and '/', at most "
                    + MAX_REVISION_CHARS + " characters, without \"..\"");
        }
    }

    /** The main branch of a model. */
    public HubId(String text, Optional<String> otherText) {
        this(text, otherText, MAIN);
    }

    /** The main branch of a model that has but one id. */
    public HubId(String text) {
        this(text, Optional.empty());
    }

    /** Whether a text can name a branch, a tag or a commit; such a text is safe in a path. */
    public static boolean isRevision(String text) {
        return text.length() <= MAX_REVISION_CHARS
                && REVISION.matcher(text).matches()
                && !text.contains("..")
                && !text.endsWith(".lock");
    }

    /** The same model at another revision. */
    public HubId at(String other) {
        return new HubId(text, otherText, other);
    }

    public static boolean isId(String text) {
        String[] parts = text.split("/", -1);
        return parts.length <= 2
                && Stream.of(parts)
                        .allMatch(part ->
                                part.length() <= MAX_CHARS && PART.matcher(part).matches())
                && !text.contains("--")
                && !text.contains("..")
                && !text.endsWith(".git");
    }

    /** This id and the other one of the same model, if it has moved; this one first. */
    public List<HubId> spellings() {
        return otherText
                .map(id -> List.of(this, new HubId(id, Optional.of(text), revision)))
                .orElse(List.of(this));
    }

    /** The cache's folder for it: {@code models--owner--name}. */
    public String folderName() {
        return "models--" + text.replace("/", "--");
    }

    @Override
    public String toString() {
        return revision.equals(MAIN) ? text : text + "@" + revision;
    }
}

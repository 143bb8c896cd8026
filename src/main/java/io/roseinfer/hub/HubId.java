package io.roseinfer.hub;

import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException.BadInput;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The id of a model repository on a Hugging Face hub, {@code owner/name} or a bare {@code name} for some old ones, with
 * a revision.
 *
 * @param text the id in the hub's addresses and the cache's folders
 * @param otherText the other id of the same model, if it has moved
 * @param revision a branch, a tag or a commit
 */
public record HubId(String text, Optional<String> otherText, String revision) {
    /** The default branch. */
    public static final String MAIN = "main";

    private static final int MAX_CHARS = 96;
    private static final int MAX_REVISION_CHARS = 200;
    private static final Pattern REVISION =
            Pattern.compile("[A-Za-z0-9_][A-Za-z0-9._+-]*(/[A-Za-z0-9_][A-Za-z0-9._+-]*)*");
    private static final Pattern PART = Pattern.compile("[A-Za-z0-9_](?:[A-Za-z0-9._-]*[A-Za-z0-9_])?");

    /**
     * Checks the id by the hub's rules, so that it is safe in a path and in an address.
     *
     * @throws BadInput if {@code text} is not a repository id
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

    /** Creates an id with the main branch. */
    public HubId(String text, Optional<String> otherText) {
        this(text, otherText, MAIN);
    }

    /** Creates an id of a model that has not moved, with the main branch. */
    public HubId(String text) {
        this(text, Optional.empty());
    }

    /** Returns whether a text can be a branch, a tag or a commit; such a text is safe in a path. */
    public static boolean isRevision(String text) {
        return text.length() <= MAX_REVISION_CHARS
                && REVISION.matcher(text).matches()
                && !text.contains("..")
                && !text.endsWith(".lock");
    }

    /** Returns the same model at another revision. */
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

    /** Returns this id, and then the other one of the same model if it has moved. */
    public List<HubId> spellings() {
        return otherText
                .map(id -> List.of(this, new HubId(id, Optional.of(text), revision)))
                .orElse(List.of(this));
    }

    /** Returns the name of its cache folder: {@code models--owner--name}. */
    public String folderName() {
        return "models--" + text.replace("/", "--");
    }

    @Override
    public String toString() {
        return revision.equals(MAIN) ? text : text + "@" + revision;
    }
}

package io.roseinfer.tokenizer.chat.reply;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A call written as its name, perhaps an id, and the JSON object of its arguments. */
final class NamedCall implements CallReader {
    /** The text before the arguments. */
    static final String ARGUMENTS = "[ARGS]";

    /** The text before the id. */
    static final String ID = "[CALL_ID]";

    private static final int MAX_HEAD = 200;

    private static final Pattern HEAD = Pattern.compile("([\\w.-]{1,64})\\s*(?:\\[CALL_ID]\\s*[\\w-]*\\s*)?\\[ARGS]");

    private static final Pattern NAME = Pattern.compile("[\\w.-]{1,64}\\s*");

    private final StringBuilder head = new StringBuilder();
    private final JsonCall json = new JsonCall();
    private boolean hasHead;

    @Override
    public Status accept(char next) {
        if (hasHead) {
            Status status = json.accept(next);
            return json.hasAllArguments() ? json.accept('}') : status;
        }
        head.append(next);
        if (next != ']' || head.indexOf(ARGUMENTS) < 0) {
            return isStart() ? Status.INCOMPLETE : Status.MALFORMED;
        }
        Matcher whole = HEAD.matcher(head);
        if (!whole.matches()) {
            return Status.MALFORMED;
        }
        hasHead = true;
        ("{\"name\":\"" + whole.group(1) + "\",\"arguments\":").chars().forEach(each -> {
            Status unused = json.accept((char) each);
        });
        return Status.INCOMPLETE;
    }

    /** Returns whether the text so far may be the start of a call. */
    private boolean isStart() {
        int marker = head.indexOf("[");
        String name = marker < 0 ? head.toString() : head.substring(0, marker);
        String rest = marker < 0 ? "" : head.substring(marker);
        boolean isMarker = ARGUMENTS.startsWith(rest) || ID.startsWith(rest) || rest.startsWith(ID);
        return isMarker && head.length() <= MAX_HEAD && NAME.matcher(name).matches();
    }

    @Override
    public Optional<String> name() {
        return json.name();
    }

    @Override
    public String takeArguments() {
        return json.takeArguments();
    }
}

package io.roseinfer.tokenizer.chat.reply;

import java.util.Optional;

/** Reads the text of one tool call as it arrives. */
sealed interface CallReader permits JsonCall, NamedCall, PythonCall {
    /** The state of a call. */
    enum Status {
        INCOMPLETE,
        COMPLETE,
        MALFORMED
    }

    /** Takes the next character; the call must be incomplete. */
    Status accept(char next);

    /** Returns the function's name, once it is complete. */
    Optional<String> name();

    /** Returns the part of the arguments, as JSON, that has become certain since the last call; often empty. */
    String takeArguments();
}

package io.roseinfer.cli.terminal;

import io.roseinfer.base.Printable;
import io.roseinfer.base.StrictJson;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.InstantSource;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** Format of messages on standard error. */
public enum MessageFormat {
    /** {@code roseinfer: } and the message on one line, before the stack trace of a failure. */
    TEXT {
        @Override
        String text(System.Logger.Level level, String message, @Nullable Throwable failure) {
            String line = "roseinfer: " + Printable.line(message);
            return failure == null ? line : line + System.lineSeparator() + trace(failure);
        }
    },
    /** The time in ISO 8601 and a space before {@link #TEXT}, for the log of a server. */
    TIMED_TEXT {
        @Override
        String text(System.Logger.Level level, String message, @Nullable Throwable failure) {
            return InstantSource.system().instant() + " " + TEXT.text(level, message, failure);
        }
    },
    /** One JSON object with {@code time}, {@code level} and {@code message}; {@code stack_trace} of a failure. */
    JSON {
        @Override
        String text(System.Logger.Level level, String message, @Nullable Throwable failure) {
            ObjectNode line = StrictJson.mapper()
                    .createObjectNode()
                    .put("time", InstantSource.system().instant().toString())
                    .put("level", level.name().toLowerCase(Locale.ROOT))
                    .put("message", Printable.line(message.strip()));
            if (failure != null) {
                line.put("stack_trace", trace(failure));
            }
            return line.toString();
        }
    };

    /** Returns the text of a message, without its last line end. */
    abstract String text(System.Logger.Level level, String message, @Nullable Throwable failure);

    private static String trace(Throwable failure) {
        StringWriter trace = new StringWriter();
        StackTraces.print(failure, new PrintWriter(trace));
        return trace.toString().stripTrailing();
    }
}

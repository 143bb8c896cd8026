package io.roseinfer.cli.terminal;

import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import java.util.regex.Pattern;

/** Prints the records of loggers as messages of a terminal until it is closed. Settings are named as flags. */
public final class LoggerMessages extends Handler {
    private static final Logger ROOT = Logger.getLogger("");

    /** A setting is a word. An id of a request, which is quoted, may have the same characters. */
    private static final Pattern SETTING = Pattern.compile("(?<=^|\\s|\\s\\()[a-z]+(?:_[a-z]+)+\\b");

    private final Terminal terminal;
    private final Handler[] replaced = ROOT.getHandlers();

    private LoggerMessages(Terminal terminal) {
        this.terminal = terminal;
    }

    /** Replaces the handlers of the root logger. */
    public static LoggerMessages open(Terminal terminal) {
        LoggerMessages messages = new LoggerMessages(terminal);
        for (Handler other : messages.replaced) {
            ROOT.removeHandler(other);
        }
        ROOT.addHandler(messages);
        return messages;
    }

    @Override
    public void publish(LogRecord record) {
        String message = new SimpleFormatter().formatMessage(record);
        terminal.log(
                level(record.getLevel()),
                SETTING.matcher(message).replaceAll(setting -> Terminal.flag(setting.group())),
                record.getThrown());
    }

    private static System.Logger.Level level(Level level) {
        return level.intValue() >= Level.SEVERE.intValue()
                ? System.Logger.Level.ERROR
                : level.intValue() >= Level.WARNING.intValue() ? System.Logger.Level.WARNING : System.Logger.Level.INFO;
    }

    @Override
    public void flush() {
        // Every message is flushed.
    }

    @Override
    public void close() {
        ROOT.removeHandler(this);
        for (Handler other : replaced) {
            ROOT.addHandler(other);
        }
    }
}

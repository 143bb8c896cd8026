package io.roseinfer;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;

/** Keeps the records of a logger, instead of printing them, until it is closed. */
public final class LogCapture implements AutoCloseable {
    private final Logger logger;
    private final @Nullable Level levelBefore;
    private final boolean usedParentHandlers;
    private final List<LogRecord> records = new CopyOnWriteArrayList<>();
    private final Handler handler = new Handler() {
        @Override
        public void publish(LogRecord entry) {
            records.add(entry);
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    };

    public LogCapture(String name) {
        this.logger = Logger.getLogger(name);
        this.levelBefore = logger.getLevel();
        this.usedParentHandlers = logger.getUseParentHandlers();
        logger.addHandler(handler);
        logger.setUseParentHandlers(false);
        // Another test may have turned the logger off.
        logger.setLevel(null);
    }

    /** Returns the records so far. */
    public List<LogRecord> records() {
        return List.copyOf(records);
    }

    /** Returns the messages so far. */
    public List<String> messages() {
        return records.stream().map(LogRecord::getMessage).toList();
    }

    @Override
    public void close() {
        logger.removeHandler(handler);
        logger.setUseParentHandlers(usedParentHandlers);
        logger.setLevel(levelBefore);
    }
}

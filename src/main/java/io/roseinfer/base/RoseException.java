package io.roseinfer.base;

import java.util.List;
import java.util.Objects;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A failure caused by input, files, devices or load, reported in one line. The message says what failed, the value
 * seen, the values allowed and a remedy. {@link #getMessage} has the Java names of settings, such as {@code kvBlocks}.
 *
 * <p>Each kind has a process exit code; a failed {@link Check}, which is a bug in roseinfer, exits with 1.
 */
public abstract sealed class RoseException extends RuntimeException {
    private final int exitCode;
    /** The setting whose name precedes the problem; empty for none. */
    private final String setting;

    private final String problem;
    private final List<Remedy> remedies;

    private RoseException(int exitCode, String problem, @Nullable Throwable cause, Remedy... remedies) {
        this(exitCode, "", problem, cause, remedies);
    }

    private RoseException(int exitCode, String setting, String problem, @Nullable Throwable cause, Remedy... remedies) {
        super(joined(setting, problem, List.of(remedies), Remedy::javaName), cause);
        this.exitCode = exitCode;
        this.setting = setting;
        this.problem = problem;
        this.remedies = List.of(remedies);
    }

    private static String joined(
            String setting, String problem, List<Remedy> remedies, UnaryOperator<String> spelling) {
        String subject = setting.isEmpty() ? "" : spelling.apply(setting);
        String advice = remedies.stream().map(remedy -> remedy.format(spelling)).collect(Collectors.joining(", or "));
        return subject + problem + (advice.isEmpty() ? "" : "; " + advice);
    }

    /** Returns the message with settings spelled by a function of their names in JSON, such as {@code kv_blocks}. */
    public final String message(UnaryOperator<String> spelling) {
        return joined(setting, problem, remedies, spelling);
    }

    /** Returns the message with the names of settings in JSON, for HTTP responses and result files. */
    public final String jsonMessage() {
        return message(UnaryOperator.identity());
    }

    /** Returns {@link #jsonMessage} without a remedy that does not apply. */
    public final String messageWithout(Remedy remedy) {
        return joined(
                setting,
                problem,
                remedies.stream().filter(other -> !other.equals(remedy)).toList(),
                UnaryOperator.identity());
    }

    /** Returns the name in JSON of the setting that the message begins with; empty for none. */
    public final String setting() {
        return setting;
    }

    final String problem() {
        return problem;
    }

    /** Returns the exit code of a process that ends with this exception. */
    public final int exitCode() {
        return exitCode;
    }

    /** Returns the message, which is never null. */
    @Override
    public final String getMessage() {
        return Objects.requireNonNull(super.getMessage());
    }

    /** A flag, a request field or a prompt is invalid. Exit code 2; HTTP 400. */
    public static final class BadInput extends RoseException {
        public BadInput(String message) {
            super(2, message, null);
        }

        public BadInput(String message, Throwable cause) {
            super(2, message, cause);
        }

        public BadInput(String problem, Remedy... remedies) {
            super(2, problem, null, remedies);
        }

        public BadInput(String problem, Throwable cause, Remedy... remedies) {
            super(2, problem, cause, remedies);
        }

        private BadInput(String setting, String problem, Remedy... remedies) {
            super(2, setting, problem, null, remedies);
        }

        /**
         * Returns a failure about a setting's value.
         *
         * @param setting its name in JSON, such as {@code kv_blocks}
         * @param advice what is wrong with the value, and the remedy
         */
        public static BadInput of(String setting, Object seen, String advice) {
            return new BadInput(setting, " is " + seen + "; " + advice);
        }

        /**
         * Returns a failure about a setting.
         *
         * @param setting its name or path in JSON, such as {@code kv_blocks} or {@code tools[0].function.name}
         * @param problem what follows the name: what is wrong, and the remedy
         */
        public static BadInput about(String setting, String problem) {
            return new BadInput(setting, problem, new Remedy[0]);
        }

        /**
         * Returns a failure about a setting's value whose remedy names settings.
         *
         * @param setting its name in JSON, such as {@code kv_blocks}
         */
        public static BadInput of(String setting, Object seen, Remedy remedy) {
            return new BadInput(setting, " is " + seen, remedy);
        }

        /**
         * Throws unless a value is allowed.
         *
         * @param name the setting's name in JSON, such as {@code kv_blocks}; or words with spaces, for another value
         * @param range the allowed values, in words
         */
        public static void require(boolean allowed, String name, Object seen, String range) {
            if (!allowed) {
                String advice = "it must be " + range;
                throw name.indexOf(' ') < 0
                        ? of(name, seen, advice)
                        : new BadInput(name + " is " + seen + "; " + advice);
            }
        }
    }

    /**
     * A model's files are missing, malformed or describe an unsupported model. Exit code 3, or 11 if they could not be
     * downloaded and another attempt may succeed.
     */
    public static final class BadModel extends RoseException {
        /** The exit code of a failed download, which another attempt may complete. */
        public static final int EXIT_NOT_DOWNLOADED = 11;

        public BadModel(String message) {
            super(3, message, null);
        }

        public BadModel(String message, Throwable cause) {
            super(3, message, cause);
        }

        public BadModel(String problem, Remedy... remedies) {
            super(3, problem, null, remedies);
        }

        public BadModel(String problem, Throwable cause, Remedy... remedies) {
            super(3, problem, cause, remedies);
        }

        private BadModel(int exitCode, String problem, Throwable cause, Remedy... remedies) {
            super(exitCode, problem, cause, remedies);
        }

        /** Returns the failure of a download that may succeed later, for example when the network works again. */
        public static BadModel notDownloaded(String problem, Throwable cause, Remedy... remedies) {
            return new BadModel(EXIT_NOT_DOWNLOADED, problem, cause, remedies);
        }

        /** Returns this failure with a message that describes more, and with the same exit code. */
        public BadModel within(String problem) {
            return new BadModel(exitCode(), problem, this);
        }
    }

    /** The requested device cannot be used. Exit code 4. */
    public static final class BackendUnavailable extends RoseException {
        public BackendUnavailable(String message) {
            super(4, message, null);
        }

        public BackendUnavailable(String message, Throwable cause) {
            super(4, message, cause);
        }

        public BackendUnavailable(String problem, Remedy... remedies) {
            super(4, problem, null, remedies);
        }

        public BackendUnavailable(String problem, Throwable cause, Remedy... remedies) {
            super(4, problem, cause, remedies);
        }
    }

    /** There is not enough memory, for example for the model or its KV cache. Exit code 5. */
    public static final class InsufficientMemory extends RoseException {
        public InsufficientMemory(String message) {
            super(5, message, null);
        }

        public InsufficientMemory(String message, Throwable cause) {
            super(5, message, cause);
        }

        public InsufficientMemory(String problem, Remedy... remedies) {
            super(5, problem, null, remedies);
        }
    }

    /** Writing an output failed after it was opened, for example on a full disk. Exit code 6. */
    public static final class OutputFailed extends RoseException {
        public OutputFailed(String message, Throwable cause) {
            super(6, message, cause);
        }

        public OutputFailed(String problem, Throwable cause, Remedy... remedies) {
            super(6, problem, cause, remedies);
        }
    }

    /** Another process listens on the address of a server. Exit code 10. */
    public static final class AddressInUse extends RoseException {
        public AddressInUse(String problem, Throwable cause, Remedy... remedies) {
            super(10, problem, cause, remedies);
        }
    }

    /** The maximum number of requests is in flight; retry later. HTTP 429. Exit code 1 if not caught. */
    public static final class Overloaded extends RoseException {
        public Overloaded(String problem, Remedy... remedies) {
            super(1, problem, null, remedies);
        }
    }

    /**
     * A device failed while running. A recoverable failure ends the requests of the step; any other ends the engine.
     * Exit code 7.
     */
    public static final class DeviceFailure extends RoseException {
        private final boolean recoverable;

        public DeviceFailure(String message, boolean recoverable) {
            super(7, message, null);
            this.recoverable = recoverable;
        }

        /** Returns whether the device can run further steps. */
        public boolean recoverable() {
            return recoverable;
        }
    }

    /** An engine or a replica has stopped during a request. */
    public sealed interface Stopped permits ReplicaStopped, EngineStopped {
        /** Returns whether the request may be the cause, so that it should not be submitted again. */
        boolean suspectsRequest();

        /** Returns this failure for a request that may be the cause. */
        RoseException suspectingRequest();
    }

    /**
     * One of several replicas has stopped during a request that had delivered tokens, or that had stopped another one;
     * the others continue. Exit code 7; HTTP 500.
     */
    public static final class ReplicaStopped extends RoseException implements Stopped {
        private static final Remedy SUBMIT_AGAIN =
                Remedy.of("the other replicas continue, so submit the request again");
        private static final Remedy GIVE_UP =
                Remedy.of("it is the second replica that stopped during this request, so do not submit it again");

        private final boolean suspectsRequest;

        public ReplicaStopped(String problem) {
            this(problem, null, false);
        }

        public ReplicaStopped(String problem, Throwable cause) {
            this(problem, cause, false);
        }

        private ReplicaStopped(String problem, @Nullable Throwable cause, boolean suspectsRequest) {
            super(7, problem, cause, suspectsRequest ? GIVE_UP : SUBMIT_AGAIN);
            this.suspectsRequest = suspectsRequest;
        }

        @Override
        public ReplicaStopped suspectingRequest() {
            return suspectsRequest ? this : new ReplicaStopped(problem(), getCause(), true);
        }

        /** Returns whether two replicas have stopped during the request. */
        @Override
        public boolean suspectsRequest() {
            return suspectsRequest;
        }
    }

    /**
     * The engine has stopped: it was closed, it failed, or a policy or custom device threw. Exit code 7; HTTP 503, or 500
     * for a request that was running.
     */
    public static final class EngineStopped extends RoseException implements Stopped {
        private final boolean suspectsRequest;

        public EngineStopped(String message) {
            super(7, message, null);
            this.suspectsRequest = false;
        }

        public EngineStopped(String message, Throwable cause) {
            this(message, cause, false);
        }

        private EngineStopped(String message, @Nullable Throwable cause, boolean suspectsRequest) {
            super(7, message, cause);
            this.suspectsRequest = suspectsRequest;
        }

        @Override
        public EngineStopped suspectingRequest() {
            return suspectsRequest ? this : new EngineStopped(problem(), getCause(), true);
        }

        /** Returns whether the request was running. */
        @Override
        public boolean suspectsRequest() {
            return suspectsRequest;
        }
    }
}

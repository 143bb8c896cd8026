package io.roseinfer.cli.terminal;

import io.roseinfer.base.RoseException.BackendUnavailable;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.IntConsumer;

/**
 * Handlers of SIGTERM and SIGINT for graceful shutdown: the first signal requests it, the second ends the process immediately. A shutdown
 * hook is not enough: the JVM would exit with the signal's code and ignore a second signal. {@code sun.misc.Signal} is used by reflection,
 * because a direct reference causes a compiler warning that cannot be suppressed.
 */
public final class StopSignals {
    private static final String SIGNAL = "sun.misc.Signal";
    private static final int SIGNALLED = 128;

    /** The exit code of a process ended by Ctrl-C. */
    public static final int INTERRUPTED = SIGNALLED + 2;

    /** A registration of signal handlers, removed by closing it. */
    public interface Handled {
        void close();
    }

    private StopSignals() {}

    /** Runs an action at every Ctrl-C, on a thread of the JVM. */
    public static Handled atInterrupt(Runnable action) {
        InvocationHandler handler = (proxy, method, args) -> {
            if (!method.getName().equals("handle")) {
                return method.invoke(action, args);
            }
            action.run();
            return null;
        };
        try {
            Object before = install("INT", proxy(handler));
            return () -> restore("INT", before);
        } catch (ReflectiveOperationException e) {
            throw cannot(e);
        }
    }

    private static void restore(String name, Object before) {
        try {
            Object unused = install(name, before);
        } catch (ReflectiveOperationException e) {
            throw cannot(e);
        }
    }

    private static BackendUnavailable cannot(ReflectiveOperationException e) {
        return new BackendUnavailable("this Java runtime cannot handle signals: " + e.getMessage(), e);
    }

    /**
     * Runs an action at the first signal, on a thread of the JVM. The second ends the process, after a message.
     *
     * @param stop receives the exit code for the signal
     */
    public static Handled handle(Terminal terminal, IntConsumer stop) {
        AtomicBoolean signaled = new AtomicBoolean();
        InvocationHandler handler = (proxy, method, args) -> {
            if (!method.getName().equals("handle")) {
                return method.invoke(stop, args);
            }
            if (signaled.getAndSet(true)) {
                terminal.note("stopped at once by a second signal, without waiting for requests in flight");
                Runtime.getRuntime().halt(SIGNALLED + number(args[0]));
            }
            stop.accept(SIGNALLED + number(args[0]));
            return null;
        };
        try {
            Object beforeTerm = install("TERM", proxy(handler));
            Object beforeInt = install("INT", proxy(handler));
            return () -> {
                restore("TERM", beforeTerm);
                restore("INT", beforeInt);
            };
        } catch (ReflectiveOperationException e) {
            throw cannot(e);
        }
    }

    private static Object proxy(InvocationHandler handler) throws ReflectiveOperationException {
        Class<?> handlers = Class.forName(SIGNAL + "Handler");
        return Proxy.newProxyInstance(handlers.getClassLoader(), new Class<?>[] {handlers}, handler);
    }

    /** Installs a handler and returns the previous one. */
    private static Object install(String name, Object handler) throws ReflectiveOperationException {
        Class<?> signals = Class.forName(SIGNAL);
        Class<?> handlers = Class.forName(SIGNAL + "Handler");
        Object signal = signals.getConstructor(String.class).newInstance(name);
        return signals.getMethod("handle", signals, handlers).invoke(null, signal, handler);
    }

    private static int number(Object signal) throws ReflectiveOperationException {
        return (int) signal.getClass().getMethod("getNumber").invoke(signal);
    }
}

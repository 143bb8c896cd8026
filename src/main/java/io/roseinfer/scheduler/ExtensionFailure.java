package io.roseinfer.scheduler;

import io.roseinfer.base.Check;
import io.roseinfer.base.RoseException;
import io.roseinfer.base.RoseException.BackendUnavailable;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.RoseException.EngineStopped;
import io.roseinfer.base.RoseException.Stopped;
import io.roseinfer.scheduler.policy.AdmissionPolicy;
import io.roseinfer.scheduler.policy.EvictionPolicy;
import io.roseinfer.scheduler.policy.Policies;
import io.roseinfer.scheduler.policy.PreemptionPolicy;
import io.roseinfer.scheduler.policy.RequestEvents;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.stream.Stream;

/**
 * Wraps an exception thrown by a custom policy, observer or device in one that names the user's class and the source
 * line. The class is a proxy's handler, the class around a lambda, or the device around a runner. Left unchanged are
 * exceptions of built-in ones, which are part of the engine, failed {@link Check}s, failures of other extensions, and
 * a device's {@link RoseException}s except {@link BadInput}, which would read as the fault of a request or flag.
 */
public final class ExtensionFailure {
    private static final List<String> BUILT_IN_POLICIES =
            List.of("io.roseinfer.scheduler.policy.", "io.roseinfer.engine.routing.");

    private static final List<String> BUILT_IN_OBSERVERS = List.of(
            "io.roseinfer.observe.",
            "io.roseinfer.engine.",
            "io.roseinfer.backend.",
            "io.roseinfer.server.",
            "io.roseinfer.bench.");

    private static final List<String> BUILT_IN_DEVICES = List.of("io.roseinfer.backend.");
    private static final String OTHER_DEVICE = "; fix it, or choose another device";

    private ExtensionFailure() {}

    /**
     * Fails if a policy listens to events and is not among the policies that are notified.
     *
     * @param kind the kind of extension, for the message
     * @throws BadInput if it implements {@link RequestEvents} and is no admission, preemption, eviction or step policy of these
     */
    public static void requireNotified(String kind, Object policy, Policies policies) {
        if (policy instanceof RequestEvents && !PolicyCalls.listeners(policies).contains(policy)) {
            throw new BadInput("the " + kind + " " + policy.getClass().getName()
                    + " implements RequestEvents, but only admission, preemption, eviction and step policies are notified;"
                    + " remove it, or also use the same object as one of them");
        }
    }

    static RuntimeException ofAdmission(Object policy, Throwable thrown) {
        return of("admission policy", policy, thrown);
    }

    static RuntimeException ofPreemption(Object policy, Throwable thrown) {
        return of("preemption policy", policy, thrown);
    }

    static RuntimeException ofEviction(Object policy, Throwable thrown) {
        return of("eviction policy", policy, thrown);
    }

    static RuntimeException ofStep(Object policy, Throwable thrown) {
        return of("step policy", policy, thrown);
    }

    static RuntimeException ofEvents(Object policy, Throwable thrown) {
        String kind = policy instanceof AdmissionPolicy
                ? "admission"
                : policy instanceof PreemptionPolicy
                        ? "preemption"
                        : policy instanceof EvictionPolicy ? "eviction" : "step";
        return of(kind + " policy", policy, thrown);
    }

    static RuntimeException ofDrafter(Object drafter, Throwable thrown) {
        return of("drafter", drafter, thrown);
    }

    /** Returns the exception to throw if a routing policy threw {@code thrown}. */
    public static RuntimeException ofRouting(Object policy, Throwable thrown) {
        return of("routing policy", policy, thrown);
    }

    /** Returns the exception to throw if a scaling policy threw {@code thrown}. */
    public static RuntimeException ofScaling(Object policy, Throwable thrown) {
        return of("scaling policy", policy, thrown);
    }

    /** Returns the exception to throw if an observer threw {@code thrown}. */
    public static RuntimeException ofObserver(Object observer, Throwable thrown) {
        return of(
                "the observer ",
                written(observer),
                BUILT_IN_OBSERVERS,
                thrown,
                "; fix it, or remove it",
                EngineStopped::new);
    }

    /** Returns the exception to throw if a device's {@code ModelRunner} threw {@code thrown} while it runs. */
    public static RuntimeException ofDevice(Object runner, Throwable thrown) {
        return of("the device ", device(runner), BUILT_IN_DEVICES, thrown, OTHER_DEVICE, EngineStopped::new);
    }

    /** Returns the exception to throw if a device's {@code Backend} or {@code ModelRunner} threw {@code thrown} before its first step. */
    public static RuntimeException ofLoading(Object device, Throwable thrown) {
        return of("the device ", device(device), BUILT_IN_DEVICES, thrown, OTHER_DEVICE, BackendUnavailable::new);
    }

    /** Returns a device in words, with the user's class if it is custom. */
    public static String deviceName(Object runner) {
        String name = device(runner).getName();
        return BUILT_IN_DEVICES.stream().anyMatch(name::startsWith) ? "the device" : "the device " + name;
    }

    private static RuntimeException of(String kind, Object policy, Throwable thrown) {
        return of(
                "the " + kind + " ",
                written(policy),
                BUILT_IN_POLICIES,
                thrown,
                "; fix it, or choose another " + kind.replaceFirst(".* ", ""),
                EngineStopped::new);
    }

    private static RuntimeException of(
            String what,
            Class<?> extension,
            List<String> builtInPackages,
            Throwable thrown,
            String remedy,
            BiFunction<String, Throwable, RuntimeException> failure) {
        String name = extension.getName().replaceFirst("\\$\\$Lambda.*", "");
        boolean builtIn = builtInPackages.stream().anyMatch(name::startsWith);
        if (thrown instanceof RuntimeException known
                && (builtIn || thrown instanceof Check.Failure || isReported(thrown, builtInPackages))) {
            return known;
        }
        String seen = thrown instanceof Misuse ? thrown.getMessage() : "threw " + thrown;
        return failure.apply(what + name + " " + seen + where(name, thrown) + remedy, thrown);
    }

    private static boolean isReported(Throwable thrown, List<String> builtInPackages) {
        return thrown instanceof Stopped
                || (builtInPackages.equals(BUILT_IN_DEVICES)
                        && thrown instanceof RoseException
                        && !(thrown instanceof BadInput));
    }

    /** Returns the class of an object, or of the handler of a proxy. */
    private static Class<?> written(Object extension) {
        boolean isProxy = Proxy.isProxyClass(extension.getClass());
        return (isProxy ? Proxy.getInvocationHandler(extension) : extension).getClass();
    }

    /** Returns the outermost device around the class of a runner, or that class. */
    private static Class<?> device(Object runner) {
        Class<?> device = written(runner);
        for (Class<?> outer = device; outer != null; outer = outer.getEnclosingClass()) {
            device = isDevice(outer) ? outer : device;
        }
        return device;
    }

    private static boolean isDevice(Class<?> type) {
        return Stream.<Class<?>>iterate(type, Objects::nonNull, Class::getSuperclass)
                .flatMap(each -> Arrays.stream(each.getInterfaces()))
                .anyMatch(each -> BUILT_IN_DEVICES.stream().anyMatch(each.getName()::startsWith));
    }

    /** A violation of the contract of a policy or a device. */
    public static final class Misuse extends IllegalStateException {
        public Misuse(String seen) {
            super(seen);
        }
    }

    /**
     * Returns the innermost frame of the class or a nested one, since it may have called into the JDK; otherwise the
     * innermost frame, or nothing if the engine noticed a misuse, which the class may have returned from.
     */
    private static String where(String extension, Throwable thrown) {
        StackTraceElement[] stack = thrown.getStackTrace();
        return Arrays.stream(stack)
                .filter(frame -> (frame.getClassName() + "$").startsWith(extension + "$"))
                .findFirst()
                .or(() -> thrown instanceof Misuse
                        ? Optional.empty()
                        : Arrays.stream(stack).findFirst())
                .map(ExtensionFailure::line)
                .orElse("");
    }

    /** Returns the frame without the module and the class loader that {@link StackTraceElement#toString} includes. */
    private static String line(StackTraceElement frame) {
        String file = frame.getFileName() == null ? "Unknown Source" : frame.getFileName();
        String line = frame.getLineNumber() < 0 ? "" : ":" + frame.getLineNumber();
        return " at " + frame.getClassName() + "." + frame.getMethodName() + "(" + file + line + ")";
    }
}

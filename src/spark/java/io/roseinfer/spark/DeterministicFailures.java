package io.roseinfer.spark;

import io.roseinfer.base.RoseException;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.RoseException.BadModel;
import java.util.Collections;
import java.util.Optional;
import java.util.Set;
import java.util.WeakHashMap;
import org.apache.spark.ExceptionFailure;
import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.jspecify.annotations.Nullable;

/**
 * Cancels a stage if one of its tasks fails for a reason that retries cannot fix: a missing or unsupported model, or
 * settings that do not fit it, but not a failed download. Spark would run the task four times, and report the reason in the middle of a stack
 * trace.
 */
final class DeterministicFailures extends SparkListener {
    private static final Set<SparkContext> WATCHED =
            Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

    private final SparkContext context;
    private volatile @Nullable RoseException reason;

    private DeterministicFailures(SparkContext context) {
        this.context = context;
    }

    /** Starts watching all jobs of an application. */
    static DeterministicFailures watch(SparkContext context) {
        DeterministicFailures watch = new DeterministicFailures(context);
        context.addSparkListener(watch);
        return watch;
    }

    /** Starts watching all jobs of an application, unless they are already watched. */
    static void watchOnce(SparkContext context) {
        if (WATCHED.add(context)) {
            watch(context);
        }
    }

    /** Returns the reason why a stage was cancelled, if one was. */
    Optional<RoseException> reason() {
        return Optional.ofNullable(reason);
    }

    @Override
    public void onTaskEnd(SparkListenerTaskEnd end) {
        if (end.reason() instanceof ExceptionFailure failure
                && failure.exception().isDefined()
                && failure.exception().get() instanceof RoseException seen
                && isPermanent(seen)) {
            reason = seen;
            context.cancelStage(end.stageId(), seen.getMessage());
        }
    }

    /** Returns whether another attempt fails for the same reason. */
    static boolean isPermanent(RoseException failure) {
        return failure instanceof BadInput
                || (failure instanceof BadModel model && model.exitCode() != BadModel.EXIT_NOT_DOWNLOADED);
    }
}

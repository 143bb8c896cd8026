package io.roseinfer.engine;

import io.roseinfer.metrics.StepRecord;
import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;
import org.jspecify.annotations.Nullable;

/** A {@link StepRecord} in a flight recording. Its duration is the step's, by the recording's own clock. */
@Name("roseinfer.Step")
@Label("Step")
@Category("roseinfer")
@Description("A step of the engine, from its planning until its tokens were taken in")
@StackTrace(false)
final class StepEvent extends Event {
    private static final StepEvent PROBE = new StepEvent();

    @Label("Step")
    long step;

    @Label("Plan")
    @Timespan(Timespan.NANOSECONDS)
    long planNanos;

    @Label("Pack")
    @Timespan(Timespan.NANOSECONDS)
    long packNanos;

    @Label("Device")
    @Timespan(Timespan.NANOSECONDS)
    long deviceNanos;

    @Label("Apply")
    @Timespan(Timespan.NANOSECONDS)
    long applyNanos;

    @Label("Prefill Tokens")
    int prefillTokens;

    @Label("Decode Rows")
    int decodeRows;

    @Label("Waiting Requests")
    int waiting;

    @Label("Active Requests")
    int active;

    @Label("Free KV Blocks")
    int freeBlocks;

    @Label("Cached Tokens")
    long cachedTokens;

    @Label("Preemptions")
    long preemptions;

    /** An event that begins now, or null when no recording wants it. */
    static @Nullable StepEvent begun() {
        if (!PROBE.isEnabled()) {
            return null;
        }
        StepEvent event = new StepEvent();
        event.begin();
        return event;
    }

    /** Ends the event, with what the step was. */
    void commit(StepRecord record) {
        end();
        if (!shouldCommit()) {
            return;
        }
        step = record.step();
        planNanos = record.planNanos();
        packNanos = record.packNanos();
        deviceNanos = record.deviceNanos();
        applyNanos = record.applyNanos();
        prefillTokens = record.prefillTokens();
        decodeRows = record.decodeRows();
        waiting = record.waiting();
        active = record.active();
        freeBlocks = record.freeBlocks();
        cachedTokens = record.cachedTokens();
        preemptions = record.preemptions();
        commit();
    }
}

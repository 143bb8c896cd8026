package io.roseinfer.engine;

import java.lang.classfile.Opcode;

/**
 * Mistakes that somebody could make in the scheduler, the pool or the loop, each one instruction of one method. The simulation is
 * worth its name only as long as it finds them.
 */
@SuppressWarnings("ImmutableEnumChecker") // an edit is a function without state
enum PlantedBug {
    RELEASED_BEFORE_THE_STEP_IN_FLIGHT_IS_APPLIED("scheduler.Scheduler", "end", Edit.readAs("inFlight", 0)),

    RETAIN_FORGOTTEN("kv.BlockTable", "reuse", Edit.withoutCall("retain")),

    WHOLE_PROMPT_REUSED_AT_A_BLOCK_EDGE("kv.BlockTable", "reuse", Edit.compare(Opcode.IF_ICMPGE, Opcode.IF_ICMPGT)),

    BLOCK_MISSING_BEHIND_A_BLOCK_EDGE("kv.BlockTable", "missing", Edit.callInstead("ceilDiv", "floorDiv")),

    PUBLISHED_BEFORE_COMPUTED("scheduler.Sequence", "publish", Edit.readInstead("confirmed", "computed")),

    ENDED_TWICE("engine.EngineLoop", "finish", Edit.withAnswer("claimEnding", 1)),

    BUDGET_OVERRUN("scheduler.Scheduler", "admit", Edit.withAnswer("prefillRow", 0)),

    PREDECESSOR_IGNORED_BY_A_CACHE_HIT("kv.PrefixCache", "matches", Edit.longsAreEqual()),

    OLDEST_NOT_SPARED("scheduler.BlockSupply", "preemptFor", Edit.withAnswer("isOldest", 0)),

    PASSED_OVER_WITHOUT_END("scheduler.Sequence", "mustBeNext", Edit.readAs("timesPassedOver", 0)),

    FORCED_FIFO_GIVEN_UP_BEFORE_ITS_HEAD_IS_ADMITTED("scheduler.Admission", "begin", Edit.readAs("isHeld", 0)),

    DISCARDED_AND_ANNOUNCED("scheduler.Scheduler", "discard", Edit.withoutCall("remove"));


    private final String className;
    private final String method;
    private final Edit edit;

    PlantedBug(String className, String method, Edit edit) {
        this.className = "io.roseinfer." + className;
        this.method = method;
        this.edit = edit;
    }

    /** The class that is changed. */
    String className() {
        return className;
    }

    /** The method that is changed, all of that name. */
    String method() {
        return method;
    }

    Edit edit() {
        return edit;
    }
}

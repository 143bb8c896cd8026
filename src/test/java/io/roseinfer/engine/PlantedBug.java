package io.roseinfer.engine;

import java.lang.classfile.Opcode;

/**
 * Mistakes that somebody could make, or did, in the scheduler, the pool, the loop, or between the engine's threads and replicas,
 * each one instruction of one method, or two where either alone is harmless. The simulation is worth its name only as long as it finds them.
 */
@SuppressWarnings("ImmutableEnumChecker") // an edit is a function without state
enum PlantedBug {
    RELEASED_BEFORE_THE_STEP_IN_FLIGHT_IS_APPLIED("scheduler.Scheduler", "end", Edit.readAs("inFlight", 0)),

    RETAIN_FORGOTTEN("kv.BlockTable", "reuse", Edit.withoutCall("retain")),

    WHOLE_PROMPT_REUSED_AT_A_BLOCK_EDGE("kv.BlockTable", "reuse", Edit.compare(Opcode.IF_ICMPGE, Opcode.IF_ICMPGT)),

    BLOCK_MISSING_BEHIND_A_BLOCK_EDGE("kv.BlockTable", "missing", Edit.callInstead("ceilDiv", "floorDiv")),

    PUBLISHED_BEFORE_COMPUTED("scheduler.Sequence", "publish", Edit.readInstead("confirmed", "computed")),

    ENDED_TWICE("engine.InFlight", "end", Edit.withAnswer("claimEnding", 1)),

    BUDGET_OVERRUN("scheduler.StepPlanner", "admitRanked", Edit.withAnswer("prefillRow", 0)),

    PREDECESSOR_IGNORED_BY_A_CACHE_HIT("kv.PrefixCache", "matches", Edit.longsAreEqual()),

    DECODE_BEYOND_THE_TOKENS_OF_A_STEP(
            "scheduler.StepPlanner", "decode", Edit.readAs("maxStepTokens", Integer.MAX_VALUE)),

    OLDEST_NOT_SPARED("scheduler.BlockSupply", "preemptFor", Edit.withAnswer("isOldest", 0)),

    PASSED_OVER_WITHOUT_END("scheduler.Sequence", "mustBeNext", Edit.readAs("timesPassedOver", 0)),

    FORCED_FIFO_GIVEN_UP_BEFORE_ITS_HEAD_IS_ADMITTED("scheduler.Admission", "begin", Edit.readAs("isHeld", 0)),

    PLANNED_ROW_REPLAYED("scheduler.StepPlan", "addRow", Edit.withoutCall("advance")),

    DEADLINE_NOT_NOTED("engine.EngineLoop", "take", Edit.withoutCallOf("Deadlines", "add", 0)),

    STAMPS_LOST_WHEN_THE_BUFFER_GROWS("engine.TokenBuffer$Columns", "grown", Edit.longsNotCopied()),

    ADMISSION_NOT_STAMPED("engine.EngineLoop", "stampAdmissions", Edit.withoutCallOf("LiveRequest", "admitted")),

    LOGPROBS_OF_ANOTHER_ROW("engine.EngineLoop", "deliverTokens", Edit.withArgumentAsAnswer("sample")),

    CANCEL_DOES_NOTHING("engine.SchedulerManager", "cancel", Edit.withoutCallOf("EngineLoop", "cancel")),

    DEADLINE_IGNORED("engine.EngineLoop", "turn", Edit.withoutCallOf("Deadlines", "expireUntil")),

    DISCARDED_AND_ANNOUNCED("scheduler.Scheduler", "discard", Edit.withoutCall("remove")),

    LAST_TOKEN_SEEN_BEFORE_IT_IS_PUBLISHED("engine.TokenBuffer", "isLast", Edit.lastPublishedOnceThereIsAnEnding()),

    CANCEL_WAITS_FOR_THE_TOKENIZER("engine.SchedulerManager", "cancel", Edit.withoutCall("endEarly", 0)),

    CLOSE_FORGETS_THE_TOKENIZERS("engine.SchedulerManager", "endUnrouted", Edit.withoutCall("endTokenizing")),

    CLOSE_FORGETS_PROMPTS_BEING_TOKENIZED("engine.TokenizeWorkers", "stop", Edit.withoutCall("accept"), 2),

    LONG_GRACE_OVERFLOWS("engine.SchedulerManager", "drain", Edit.nanosUnbounded()),

    CUT_REQUESTS_COUNT_AS_WORKED_OFF("engine.SchedulerManager", "hasWorkedOffAll", Edit.withAnswer("hasCut", 0)),

    DEAD_ENGINE_COUNTS_AS_DRAINED("engine.SchedulerManager", "hasWorkedOffAll", Edit.readAsNull("death")),

    PLACE_COUNTED_BEFORE_IT_IS_GIVEN("engine.InFlight", "reserve", Edit.countedMeanwhile("get"), 2),

    FLIGHT_REUSED_TOO_EARLY("engine.Pipeline", "flight", Edit.readInstead("size", "depth")),

    WORKER_NOT_WOKEN("engine.SchedulerManager", "submit", Edit.withoutCall("wake")),

    NOBODY_WOKEN_FOR_THE_SHARED_QUEUE("engine.SchedulerManager", "submit", Edit.withoutCall("wakeOne")),

    NOBODY_WOKEN_FOR_WHAT_A_DEAD_REPLICA_GAVE_BACK("engine.SchedulerManager", "takeBack", Edit.withoutCall("wakeOne")),

    DEAD_REPLICA_WAS_THE_ONE_THAT_WAS_WOKEN("engine.SchedulerManager", "leave", Edit.withoutCall("wakeOne")),

    LAST_REPLICA_FORGETS_WHAT_WAITS("engine.SchedulerManager", "endUnrouted", Edit.withoutCall("cutWaiting")),

    LAST_REPLICA_DIES_WITHOUT_A_WORD("engine.SchedulerManager", "ownEnding", Edit.readAsNull("death")),

    SERVED_AGAIN_AFTER_ITS_FIRST_TOKEN("engine.EngineLoop", "giveBackUntouched", Edit.withAnswer("isUntouched", 1)),

    GIVEN_BACK_TO_NOBODY("engine.Replica", "endLeftovers", Edit.withAnswer("hasLiving", 0)),

    GIVEN_BACK_AS_THE_DEAD_REPLICA_LEFT_IT("engine.LiveRequest", "readyAgain", Edit.withReceiverAsAnswer("again")),

    BLOCKS_OF_ANOTHER_REPLICA("kv.BlockTable", "use", Edit.keepingTheFirst("pool")),

    LOAD_OF_AN_ENDED_REQUEST_KEPT("engine.LiveRequest", "discharge", Edit.withoutCall("remove")),

    CANCEL_LOST_WITH_THE_REPLICA("engine.SchedulerManager", "takeBack", Edit.withAnswer("isCancelled", 0)),

    GIVEN_BACK_TO_THE_END_OF_THE_QUEUE("scheduler.WaitingRoom", "addAgain", Edit.withNullAsLastArgument("insert")),

    BOUND_TO_A_REPLICA_WITHOUT_ROOM("engine.SchedulerManager", "submit", Edit.withAnswer("choose", 0));

    private final String className;
    private final String method;
    private final Edit edit;
    private final int places;

    PlantedBug(String className, String method, Edit edit) {
        this(className, method, edit, 1);
    }

    PlantedBug(String className, String method, Edit edit, int places) {
        this.places = places;
        this.className = "io.roseinfer." + className;
        this.method = method;
        this.edit = edit;
    }

    /** The class that is changed. */
    String className() {
        return className;
    }

    /** The pattern of the methods that are changed, all of a name that matches. */
    String method() {
        return method;
    }

    /** How many instructions of the method are changed. */
    int places() {
        return places;
    }

    Edit edit() {
        return edit;
    }
}

package io.roseinfer.engine;

import java.lang.classfile.Opcode;
import java.util.Optional;

/**
 * Mistakes in the scheduler, the pool, the loop, the sampler, or between the engine's threads and replicas, each a change of a few
 * instructions of one method. The simulation finds them, except those that name a test.
 */
@SuppressWarnings("ImmutableEnumChecker") // an edit is a function without state
enum PlantedBug {
    RELEASED_BEFORE_THE_STEP_IN_FLIGHT_IS_APPLIED("scheduler.Scheduler", "end", Edit.readAs("inFlight", 0)),

    RETAIN_FORGOTTEN("kv.BlockTable", "reuse", Edit.withoutCall("retain")),

    WHOLE_PROMPT_REUSED_AT_A_BLOCK_EDGE("kv.BlockTable", "reuse", Edit.compare(Opcode.IF_ICMPGE, Opcode.IF_ICMPGT)),

    BLOCK_MISSING_BEHIND_A_BLOCK_EDGE("kv.BlockTable", "missingBlocks", Edit.callInstead("ceilDiv", "floorDiv")),

    PUBLISHED_BEFORE_COMPUTED("scheduler.Sequence", "publish", Edit.readInstead("confirmed", "computed")),

    ENDED_TWICE("engine.InFlight", "end", Edit.withAnswer("claimEnding", 1)),

    BUDGET_OVERRUN("scheduler.StepPlanner", "admitRanked", Edit.withAnswer("prefillRow", 0)),

    PREDECESSOR_IGNORED_BY_A_CACHE_HIT("kv.PrefixCache", "matches", Edit.longsCompareAs(0)),

    DECODE_BEYOND_THE_TOKENS_OF_A_STEP(
            "scheduler.StepPlanner", "decode", Edit.readAs("maxStepTokens", Integer.MAX_VALUE)),

    OLDEST_NOT_SPARED("scheduler.BlockAllocator", "preemptFor", Edit.withAnswer("isOldest", 0)),

    PASSED_OVER_WITHOUT_END("scheduler.Sequence", "mustBeNext", Edit.readAs("timesSkipped", 0)),

    FORCED_FIFO_GIVEN_UP_BEFORE_ITS_HEAD_IS_ADMITTED(
            "scheduler.Admission", "begin", Edit.readAs("repeatsIteration", 0)),

    PLANNED_ROW_REPLAYED("scheduler.StepPlan", "addRow", Edit.withoutCall("advance")),

    DEADLINE_NOT_NOTED("engine.EngineLoop", "take", Edit.withoutCallOf("Deadlines", "add", 0)),

    STAMPS_LOST_WHEN_THE_BUFFER_GROWS("engine.TokenBuffer$Columns", "grown", Edit.longsNotCopied()),

    ADMISSION_NOT_STAMPED("engine.EngineLoop", "stampAdmissions", Edit.withoutCallOf("LiveRequest", "admitted")),

    LOGPROBS_OF_ANOTHER_ROW("engine.EngineLoop", "deliverTokens", Edit.withArgumentAsAnswer("sample")),

    CANCEL_DOES_NOTHING("engine.SchedulerManager", "cancel", Edit.withoutCallOf("EngineLoop", "cancel")),

    DEADLINE_IGNORED("engine.EngineLoop", "turn", Edit.withoutCallOf("Deadlines", "expireUntil")),

    DISCARDED_AND_ANNOUNCED("scheduler.Scheduler", "discard", Edit.withoutCall("remove")),

    LAST_TOKEN_SEEN_BEFORE_IT_IS_PUBLISHED(
            "engine.TokenBuffer",
            "isLast",
            Edit.lastPublishedOnceThereIsAnEnding(),
            1,
            "engine.TokenBufferTest#the_last_token_and_no_other_looks_like_the_last_to_a_reader_that_keeps_up"),

    CANCEL_WAITS_FOR_THE_TOKENIZER("engine.SchedulerManager", "cancel", Edit.withoutCall("endEarly", 0)),

    CLOSE_FORGETS_THE_TOKENIZERS("engine.SchedulerManager", "endUnrouted", Edit.withoutCall("endTokenizing")),

    CLOSE_FORGETS_PROMPTS_BEING_TOKENIZED("engine.TokenizeWorkers", "stop", Edit.withoutCall("accept"), 2),

    LONG_GRACE_OVERFLOWS("engine.SchedulerManager", "drain", Edit.nanosUnbounded()),

    CUT_REQUESTS_COUNT_AS_WORKED_OFF("engine.SchedulerManager", "hasWorkedOffAll", Edit.withAnswer("hasCut", 0)),

    DEAD_ENGINE_COUNTS_AS_DRAINED("engine.SchedulerManager", "hasWorkedOffAll", Edit.readAsNull("death")),

    PLACE_COUNTED_BEFORE_IT_IS_GIVEN("engine.InFlight", "reserve", Edit.countedMeanwhile("get"), 2),

    CANCEL_FORGOTTEN_BY_THE_NEXT_REPLICA(
            "engine.EngineLoop",
            "take",
            Edit.withAnswer("isCancelled", 0),
            1,
            "engine.EngineLoopTest#request_cancelled_before_its_admission_ends_with_the_step_that_admits_it"),

    FLIGHT_REUSED_TOO_EARLY("engine.Pipeline", "flight", Edit.readInstead("size", "depth")),

    WORKER_NOT_WOKEN("engine.SchedulerManager", "submit", Edit.withoutCall("wake")),

    NOBODY_WOKEN_FOR_THE_SHARED_QUEUE("engine.SchedulerManager", "submit", Edit.withoutCall("wakeOne")),

    NOBODY_WOKEN_FOR_WHAT_A_DEAD_REPLICA_GAVE_BACK("engine.SchedulerManager", "takeBack", Edit.withoutCall("wakeOne")),

    DEAD_REPLICA_WAS_THE_ONE_THAT_WAS_WOKEN(
            "engine.SchedulerManager",
            "leave",
            Edit.withoutCall("wakeOne"),
            1,
            "engine.ReplicasTest#request_whose_replica_stops_as_it_is_woken_is_served_by_the_one_that_sleeps"),

    LAST_REPLICA_FORGETS_WHAT_WAITS("engine.SchedulerManager", "endUnrouted", Edit.withoutCall("cutWaiting")),

    LAST_REPLICA_DIES_WITHOUT_A_WORD("engine.SchedulerManager", "ownEnding", Edit.readAsNull("death")),

    SERVED_AGAIN_AFTER_ITS_FIRST_TOKEN("engine.EngineLoop", "giveBackUntouched", Edit.withAnswer("isUntouched", 1)),

    GIVEN_BACK_TO_NOBODY("engine.Replica", "endLeftovers", Edit.withAnswer("hasLiving", 0)),

    GIVEN_BACK_AS_THE_DEAD_REPLICA_LEFT_IT("engine.LiveRequest", "readyAgain", Edit.withReceiverAsAnswer("newAttempt")),

    BLOCKS_OF_ANOTHER_REPLICA("kv.BlockTable", "setPool", Edit.keepingTheFirst("pool")),

    LOAD_OF_AN_ENDED_REQUEST_KEPT("engine.LiveRequest", "discharge", Edit.withoutCall("remove")),

    CANCEL_LOST_WITH_THE_REPLICA(
            "engine.SchedulerManager",
            "takeBack",
            Edit.withAnswer("isCancelled", 0),
            1,
            "engine.ReplicasTest#request_cancelled_before_its_replica_dies_ends_while_the_others_are_busy"),

    GIVEN_BACK_TO_THE_END_OF_THE_QUEUE("scheduler.WaitingQueue", "requeue", Edit.withNullAsLastArgument("insert")),

    BOUND_TO_A_REPLICA_WITHOUT_ROOM("engine.SchedulerManager", "submit", Edit.withAnswer("choose", 0)),

    CACHED_TOKENS_COUNT_RESTARTS("scheduler.StepPlan", "addRow", Edit.withAnswer("isRestart", 0)),

    RECOMPUTED_TOKENS_OF_THE_FIRST_CHUNK_ONLY("scheduler.Sequence", "advance", Edit.withArgumentAsAnswer("max")),

    PASSES_COUNT_IF_ONE_THAT_CAME_BEFORE_IS_ADMITTED("scheduler.Admission", "end", Edit.longsCompareAs(-1)),

    PREEMPTED_REQUEST_OUTLIVES_ITS_DEADLINE("engine.EngineLoop", "lambda.*", Edit.unlessRestarted("end")),

    GIVEN_BACK_REMAINS_IN_THE_LOAD("engine.EngineLoop", "giveBackUntouched", Edit.withoutCall("discharge")),

    PROMPT_LEAVES_THE_LOAD_TWICE("engine.LiveRequest", "computePrompt", Edit.withoutWrite("chargedPromptTokens")),

    STOP_STRING_HELD_BACK_TOO_SHORT("sampling.StopStrings", "longestPartialMatch", Edit.constant(1, 2)),

    PASSES_LOST_WHEN_GIVEN_BACK(
            "scheduler.Sequence",
            "newAttempt",
            Edit.withoutWrite("timesSkipped"),
            1,
            "scheduler.SequenceTest#requeued_sequence_shows_policies_the_same_values"),

    REQUESTS_OF_ONE_THAT_LEAVES_GO_TO_THE_END(
            "scheduler.WaitingQueue",
            "unbindAll",
            Edit.withNullAsAnswer("first"),
            1,
            "scheduler.WaitingQueueOrderTest#each_scheduler_sees_and_admits_the_oldest_requests_it_may"),

    BOUND_REQUESTS_BEHIND_SHARED_ONES(
            "scheduler.Admission",
            "fillWindow",
            Edit.longsCompareAs(1),
            1,
            "scheduler.WaitingQueueOrderTest#each_scheduler_sees_and_admits_the_oldest_requests_it_may"),

    LOOKAHEAD_ONE_SHORT(
            "scheduler.Admission",
            "<init>",
            Edit.oneLess("lookahead"),
            1,
            "scheduler.WaitingQueueOrderTest#each_scheduler_sees_and_admits_the_oldest_requests_it_may"),

    SHARE_BINDS_THOSE_PASSED_OVER_TOO_OFTEN(
            "scheduler.Admission",
            "next",
            Edit.withAnswer("mustBeNext", 0),
            1,
            "scheduler.WaitingQueueOrderTest#requests_at_the_skip_limit_are_admitted_beyond_the_share"),

    STRICT_ITERATION_ENDS_WITHOUT_A_HEAD(
            "scheduler.Admission",
            "end",
            Edit.withAnswer("waiting", 0),
            1,
            "scheduler.FairnessTest#strict_iteration_keeps_its_number_until_it_admits_a_new_request"),

    GUARANTEE_FORGETS_THOSE_THAT_PREFILL(
            "scheduler.BlockAllocator",
            "requiredBlocks",
            Edit.readInstead("prefilling", "decoding"),
            1,
            "scheduler.BlockAllocatorTest#sequence_at_the_restart_limit_waits_until_all_can_grow"),

    SHARE_GRANTED_TO_EACH_STEP(
            "engine.EngineLoop",
            "take",
            Edit.withoutWrite("share"),
            1,
            "engine.WaitingQueueTest#a_turn_admits_no_more_and_no_less_than_its_share_however_many_steps_it_launches"),

    EARLIEST_DEADLINE_WAKES_NOBODY(
            "engine.Deadlines",
            "add",
            Edit.longsCompareAs(1),
            1,
            "engine.DeadlinesTest#each_addition_tells_whether_it_is_the_earliest_and_each_request_expires_once_in_order"),

    REPLICAS_REMEMBERED_BY_PLACE(
            "engine.routing.SglangRule",
            "bestMatch",
            Edit.withArgumentAsAnswer("get").or(Edit.withoutCast("ReplicaView")).or(Edit.withReceiverAsAnswer("index")),
            3,
            "engine.RoutingTest#a_policy_that_remembers_what_it_routed_knows_replicas_by_their_numbers"),

    NEWEST_CACHED_BLOCK_EVICTED_FIRST(
            "kv.LruList",
            "oldest",
            Edit.readInstead("oldest", "newest"),
            1,
            "kv.PrefixCacheTest#least_recently_used_block_is_evicted_first_and_tails_before_heads"),

    EVICTED_PREFIXES_REMAIN_PUBLISHED(
            "kv.PrefixCache",
            "forget",
            Edit.withoutCallOf("PublishedPrefixes", "remove"),
            1,
            "kv.PrefixCacheTest#prefixes_are_published_while_they_are_cached"),

    SHORTER_OF_TWO_STOP_STRINGS_NAMED(
            "sampling.StopStrings",
            "firstMatch",
            Edit.compare(Opcode.IF_ICMPLE, Opcode.IF_ICMPGE),
            1,
            "sampling.StopStringsTest#longer_of_two_matches_completed_together_wins"),

    TOP_P_KEEPS_ONE_MORE_WHEN_REACHED(
            "sampling.Candidates",
            "choose",
            Edit.compare(Opcode.IFGE, Opcode.IFGT),
            1,
            "sampling.SamplerTest#top_p_reached_exactly_keeps_no_further_token"),

    SEEDS_NOT_MIXED(
            "sampling.Sampler",
            "sample",
            Edit.withReceiverAsAnswer("mix"),
            1,
            "sampling.SamplerTest#streams_of_nearby_seeds_are_not_shifted_copies");

    private final String className;
    private final String method;
    private final Edit edit;
    private final int places;
    private final String test;

    PlantedBug(String className, String method, Edit edit) {
        this(className, method, edit, 1);
    }

    PlantedBug(String className, String method, Edit edit, int places) {
        this(className, method, edit, places, "");
    }

    PlantedBug(String className, String method, Edit edit, int places, String test) {
        this.places = places;
        this.test = test;
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

    /** The test that finds it, as {@code package.Class#method}; empty if the simulation does. */
    Optional<String> test() {
        return Optional.of(test).filter(name -> !name.isEmpty());
    }
}

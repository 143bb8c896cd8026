package io.roseinfer.engine;

import java.lang.classfile.Opcode;
import java.util.Optional;

/**
 * Bugs to plant in the scheduler, the pool, the loop, the sampler, or between threads and replicas, each a change of a
 * few instructions in one method. The simulation finds them, except those that name a test.
 */
@SuppressWarnings("ImmutableEnumChecker") // an edit is a function without state
enum PlantedBug {
    RELEASED_BEFORE_THE_STEP_IN_FLIGHT_IS_APPLIED("scheduler.Scheduler", "end", Edit.readAs("inFlight", 0)),

    RETAIN_FORGOTTEN("kv.BlockTable", "reuse", Edit.withoutCall("retain")),

    WHOLE_PROMPT_REUSED_AT_A_BLOCK_BOUNDARY("kv.BlockTable", "reuse", Edit.compare(Opcode.IF_ICMPGE, Opcode.IF_ICMPGT)),

    BLOCK_MISSING_AFTER_A_BLOCK_BOUNDARY("kv.BlockTable", "missingBlocks", Edit.callInstead("ceilDiv", "floorDiv")),

    PUBLISHED_BEFORE_COMPUTED("scheduler.Sequence", "publish", Edit.readInstead("confirmed", "computed")),

    ENDED_TWICE("engine.InFlight", "end", Edit.withAnswer("claimOutcome", 1)),

    BUDGET_OVERRUN("scheduler.StepPlanner", "admitRanked", Edit.withAnswer("prefillRow", 0)),

    PREDECESSOR_IGNORED_BY_A_CACHE_HIT("kv.PrefixCache", "matches", Edit.longsCompareAs(0)),

    DECODE_BEYOND_THE_TOKENS_OF_A_STEP(
            "scheduler.StepPlanner", "hasRoom", Edit.readAs("maxStepTokens", Integer.MAX_VALUE)),

    OLDEST_NOT_SPARED("scheduler.BlockAllocator", "preemptFor", Edit.withAnswer("isOldest", 0)),

    SKIPPED_ENDLESSLY("scheduler.Sequence", "mustBeNext", Edit.readAs("timesPassedOver", 0)),

    FORCED_FIFO_ENDS_BEFORE_ITS_HEAD_IS_ADMITTED("scheduler.Admission", "begin", Edit.readAs("repeatsIteration", 0)),

    HELD_ALTHOUGH_NOTHING_RUNS("scheduler.Admission", "isHeld", Edit.withAnswer("active", 1)),

    PLANNED_ROW_REPLAYED("scheduler.StepPlan", "addRow", Edit.withoutCall("advance")),

    DEADLINE_NOT_ADDED("engine.EngineLoop", "onFirstAdmission", Edit.withoutCallOf("Deadlines", "add", 0)),

    TIMESTAMPS_LOST_WHEN_THE_BUFFER_GROWS("engine.TokenBuffer$Columns", "grown", Edit.longsNotCopied()),

    ADMISSION_NOT_RECORDED("engine.EngineLoop", "recordAdmissions", Edit.withoutCallOf("LiveRequest", "admitted")),

    LOGPROBS_OF_ANOTHER_ROW("engine.EngineLoop", "deliverTokens", Edit.withArgumentAsAnswer("firstDraw")),

    REJECTED_DRAFTS_STAY_COMPUTED("scheduler.Sequence", "rollBack", Edit.withoutWrite("computed")),

    REJECTED_DRAFTS_KEEP_THEIR_BLOCKS("scheduler.Sequence", "rollBack", Edit.withoutCall("shrink")),

    WRONG_DRAFT_ACCEPTED("scheduler.Scheduler", "applySamples", Edit.withAnswer("resolve", 1)),

    CANCEL_DOES_NOTHING("engine.SchedulerManager", "cancel", Edit.withoutCallOf("EngineLoop", "cancel")),

    DEADLINE_IGNORED("engine.EngineLoop", "begin", Edit.withoutCallOf("Deadlines", "expireUntil")),

    DISCARDED_AND_RETURNED_AS_FINISHED("scheduler.Scheduler", "discard", Edit.withoutCall("remove")),

    LAST_TOKEN_SEEN_BEFORE_IT_IS_PUBLISHED(
            "engine.TokenBuffer",
            "isLast",
            Edit.lastPublishedOnceThereIsAnEnding(),
            1,
            "engine.TokenBufferTest#only_the_last_token_looks_last_to_a_concurrent_reader"),

    CANCEL_WAITS_FOR_THE_TOKENIZER("engine.SchedulerManager", "cancel", Edit.withoutCall("endBeforeAdmission", 0)),

    CLOSE_FORGETS_THE_TOKENIZERS("engine.SchedulerManager", "endUnadmitted", Edit.withoutCall("endTokenizing")),

    CLOSE_FORGETS_PROMPTS_BEING_TOKENIZED("engine.TokenizeWorkers", "stop", Edit.withoutCall("accept"), 2),

    LONG_GRACE_OVERFLOWS("engine.SchedulerManager", "drain", Edit.nanosUnbounded()),

    TERMINATED_REQUESTS_COUNT_AS_COMPLETED(
            "engine.SchedulerManager", "hasCompletedAll", Edit.withAnswer("hasTerminated", 0)),

    FAILED_ENGINE_COUNTS_AS_DRAINED("engine.SchedulerManager", "hasCompletedAll", Edit.readAsNull("failureOutcome")),

    LIMIT_CHECKED_BEFORE_THE_COUNT("engine.InFlight", "reserve", Edit.countedMeanwhile("get"), 2),

    CANCEL_FORGOTTEN_BY_THE_NEXT_REPLICA(
            "engine.EngineLoop",
            "onFirstAdmission",
            Edit.withAnswer("isCancelled", 0),
            1,
            "engine.EngineLoopTest#request_cancelled_before_its_admission_ends_with_the_step_that_admits_it"),

    FLIGHT_REUSED_TOO_EARLY("engine.Pipeline", "flight", Edit.readInstead("size", "depth")),

    WORKER_NOT_WOKEN("engine.SchedulerManager", "submit", Edit.withoutCall("wake")),

    NO_REPLICA_WOKEN_FOR_A_SHARED_REQUEST("engine.SchedulerManager", "submit", Edit.withoutCall("wakeOne")),

    NO_REPLICA_WOKEN_FOR_A_REQUEUED_REQUEST("engine.SchedulerManager", "requeue", Edit.withoutCall("wakeOne")),

    WOKEN_REPLICA_FAILED(
            "engine.SchedulerManager",
            "stopServing",
            Edit.withoutCall("wakeOne"),
            1,
            "engine.ReplicasTest#request_whose_replica_stops_when_woken_is_served_by_the_parked_one"),

    LAST_REPLICA_FORGETS_WAITING_REQUESTS(
            "engine.SchedulerManager", "endUnadmitted", Edit.withoutCall("terminateWaiting")),

    LAST_REPLICA_FAILS_SILENTLY("engine.SchedulerManager", "shutdownOutcome", Edit.readAsNull("failureOutcome")),

    RESTARTED_AFTER_ITS_FIRST_TOKEN("engine.EngineLoop", "requeueRestartable", Edit.withAnswer("isRestartable", 1)),

    NOT_REQUEUED("engine.Replica", "endAdmitted", Edit.withAnswer("hasLiveReplicas", 0)),

    REQUEUED_WITH_THE_STATE_OF_THE_FAILED_REPLICA(
            "engine.LiveRequest", "restart", Edit.withReceiverAsAnswer("newAttempt")),

    BLOCKS_OF_ANOTHER_REPLICA("kv.BlockTable", "setPool", Edit.keepingTheFirst("pool")),

    LOAD_OF_AN_ENDED_REQUEST_KEPT("engine.LiveRequest", "removeLoad", Edit.withoutCall("remove")),

    CANCEL_LOST_WITH_THE_REPLICA(
            "engine.SchedulerManager",
            "requeue",
            Edit.withAnswer("isCancelled", 0),
            1,
            "engine.ReplicasTest#request_cancelled_before_its_replica_fails_ends_while_the_others_are_busy"),

    REQUEUED_AT_THE_END_OF_THE_QUEUE("scheduler.WaitingQueue", "requeue", Edit.withNullAsLastArgument("insert")),

    BOUND_TO_A_REPLICA_WITHOUT_ROOM("engine.RequestRouter", "choose", Edit.withAnswer("ask", 0)),

    BOUND_REQUEST_WAKES_NO_VIRTUAL_REPLICA(
            "engine.VirtualEngine",
            "enqueue",
            Edit.withoutCall("wake"),
            1,
            "engine.VirtualEngineTest#request_bound_to_an_idle_replica_wakes_it"),

    SHARED_REQUEST_WAKES_NO_VIRTUAL_REPLICA(
            "engine.VirtualEngine",
            "enqueue",
            Edit.withoutCall("wakeOne"),
            1,
            "engine.VirtualEngineTest#busy_replica_leaves_a_request_to_the_idle_one_that_wakes_for_it"),

    WOKEN_VIRTUAL_REPLICA_OVERTAKEN(
            "engine.IdleReplicas",
            "share",
            Edit.withAnswer("isAnyParked", 0),
            1,
            "engine.VirtualEngineTest#busy_replica_leaves_a_request_to_the_idle_one_that_wakes_for_it"),

    VIRTUAL_STEP_DELIVERED_LATE(
            "engine.VirtualEngine$VirtualReplica",
            "endStep",
            Edit.withoutCall("deliver"),
            1,
            "engine.VirtualEngineTest#request_bound_to_an_idle_replica_wakes_it"),

    NOT_REQUEUED_BY_A_VIRTUAL_REPLICA(
            "engine.VirtualEngine$VirtualReplica",
            "stop",
            Edit.withoutCall("requeueRestartable"),
            1,
            "engine.VirtualEngineTest#request_without_a_token_survives_its_replica"),

    ROUTED_TO_A_STOPPED_REPLICA(
            "engine.VirtualEngine$VirtualReplica",
            "stop",
            Edit.withoutCallOf("RequestRouter", "remove"),
            1,
            "engine.VirtualEngineTest#every_request_of_random_runs_ends_once_and_runs_are_reproducible"),

    DRAINED_REPLICA_STAYS_ROUTED(
            "engine.VirtualEngine$VirtualReplica",
            "drain",
            Edit.withoutCallOf("RequestRouter", "remove"),
            1,
            "engine.VirtualEngineTest#every_request_of_random_runs_ends_once_and_runs_are_reproducible"),

    DRAINING_REPLICA_ADMITS_SHARED_REQUESTS(
            "engine.VirtualEngine$VirtualReplica",
            "maxShared",
            Edit.withAnswer("accepts", 1),
            1,
            "engine.VirtualEngineTest#every_request_of_random_runs_ends_once_and_runs_are_reproducible"),

    DRAIN_WAKES_NO_REPLICA(
            "engine.VirtualEngine",
            "drain",
            Edit.withoutCall("wakeOne"),
            1,
            "engine.VirtualEngineTest#request_waiting_for_a_drained_replica_wakes_an_idle_one"),

    STARTED_REPLICA_IS_NOT_ROUTED(
            "engine.VirtualEngine$VirtualReplica",
            "start",
            Edit.withoutCallOf("RequestRouter", "add"),
            1,
            "engine.VirtualEngineTest#started_replica_serves_with_an_empty_prefix_cache"),

    STARTED_REPLICA_KEEPS_ITS_CACHE(
            "engine.VirtualEngine$VirtualReplica",
            "start",
            Edit.withoutCall("evictAll"),
            1,
            "engine.VirtualEngineTest#started_replica_serves_with_an_empty_prefix_cache"),

    FAILED_REPLICAS_STAY_ROUTED(
            "engine.RequestRouter",
            "add",
            Edit.readAs("hasNone", 0),
            1,
            "engine.VirtualEngineTest#replica_that_starts_after_all_others_failed_serves_again"),

    PREEMPTION_REPORTED_TWICE(
            "engine.InFlight",
            "requeue",
            Edit.withAnswer("isWaiting", 0),
            1,
            "engine.VirtualEngineTest#every_request_of_random_runs_ends_once_and_runs_are_reproducible"),

    REQUESTS_SENT_SINCE_NOT_SEEN(
            "engine.AgedView",
            "send",
            Edit.withoutWrite("sent"),
            1,
            "engine.VirtualEngineTest#aged_view_shows_the_past_and_what_was_sent_since"),

    EVENTS_OF_A_FLEET_OUT_OF_ORDER(
            "bench.replay.SimulatedServer$Run",
            "nextNanos",
            Edit.callInstead("min", "max"),
            1,
            "bench.replay.FleetTest#requests_and_tokens_are_conserved_in_random_fleets_and_runs_are_reproducible"),

    FAILED_ENGINE_STARTS(
            "bench.replay.FleetControl",
            "fail",
            Edit.withoutCallOf("Deque", "removeIf", 0),
            1,
            "bench.replay.FleetTest#engines_that_start_are_cancelled_first_and_failed_ones_do_not_start"),

    CANCELLED_START_STAYS_IN_USE(
            "bench.replay.FleetControl",
            "scale",
            Edit.withoutCall("release"),
            1,
            "bench.replay.FleetTest#engines_that_start_are_cancelled_first_and_failed_ones_do_not_start"),

    CACHED_TOKENS_COUNT_RESTARTS("scheduler.StepPlan", "addRow", Edit.withAnswer("isRestart", 0)),

    RECOMPUTED_TOKENS_OF_THE_FIRST_CHUNK_ONLY("scheduler.Sequence", "advance", Edit.withArgumentAsAnswer("max")),

    SKIPS_COUNT_IF_AN_EARLIER_REQUEST_IS_ADMITTED("scheduler.Admission", "end", Edit.longsCompareAs(-1)),

    PREEMPTED_REQUEST_OUTLIVES_ITS_DEADLINE("engine.EngineLoop", "lambda.*", Edit.unlessRestarted("end")),

    REQUEUED_REQUEST_REMAINS_IN_THE_LOAD("engine.EngineLoop", "requeueRestartable", Edit.withoutCall("removeLoad")),

    PROMPT_LEAVES_THE_LOAD_TWICE("engine.LiveRequest", "removePromptLoad", Edit.withoutWrite("loadPromptTokens")),

    STOP_STRING_HELD_BACK_TOO_SHORT("sampling.StopStrings", "longestPartialMatch", Edit.constant(1, 2)),

    SKIPS_LOST_WHEN_REQUEUED(
            "scheduler.Sequence",
            "newAttempt",
            Edit.withoutWrite("timesPassedOver"),
            1,
            "scheduler.SequenceTest#requeued_sequence_shows_policies_the_same_values"),

    REQUESTS_OF_A_STOPPED_SCHEDULER_GO_TO_THE_END(
            "scheduler.WaitingQueue",
            "unbindAll",
            Edit.withNullAsAnswer("first"),
            1,
            "scheduler.WaitingQueueOrderTest#each_scheduler_sees_and_admits_the_oldest_requests_it_may"),

    BOUND_REQUESTS_AFTER_SHARED_ONES(
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

    SHARE_LIMITS_REQUESTS_AT_THE_SKIP_LIMIT(
            "scheduler.Admission",
            "next",
            Edit.withAnswer("mustBeNext", 0),
            1,
            "scheduler.WaitingQueueOrderTest#requests_at_the_skip_limit_are_admitted_beyond_the_share"),

    STRICT_ITERATION_ENDS_WITHOUT_A_HEAD(
            "scheduler.Admission",
            "end",
            Edit.withAnswer("waitingCount", 0),
            1,
            "scheduler.FairnessTest#strict_iteration_keeps_its_number_until_it_admits_a_new_request"),

    GUARANTEE_FORGETS_PREFILLING_SEQUENCES(
            "scheduler.BlockAllocator",
            "requiredBlocks",
            Edit.readInstead("prefilling", "decoding"),
            1,
            "scheduler.BlockAllocatorTest#sequence_at_the_restart_limit_waits_until_all_can_grow"),

    NO_BLOCK_LEFT_FOR_ACTIVE_SEQUENCES(
            "scheduler.BlockAllocator",
            "requiredBlocks",
            Edit.withAnswer("active", 0),
            1,
            "scheduler.BlockAllocatorTest#admission_leaves_a_block_for_each_active_sequence_to_grow_into"),

    SHARE_GRANTED_TO_EACH_STEP(
            "engine.EngineLoop",
            "onFirstAdmission",
            Edit.withoutWrite("remainingShare"),
            1,
            "engine.WaitingQueueTest#iteration_admits_exactly_its_share_regardless_of_the_steps_it_launches"),

    EARLIEST_DEADLINE_WAKES_NO_REPLICA(
            "engine.Deadlines",
            "add",
            Edit.longsCompareAs(1),
            1,
            "engine.DeadlinesTest#add_returns_whether_the_deadline_is_earliest_and_requests_expire_once_in_order"),

    REPLICAS_REMEMBERED_BY_INDEX(
            "engine.routing.SglangRule",
            "bestMatch",
            Edit.withArgumentAsAnswer("get").or(Edit.withoutCast("ReplicaView")).or(Edit.withReceiverAsAnswer("index")),
            3,
            "engine.RoutingTest#policy_with_memory_identifies_replicas_by_number"),

    NEWEST_CACHED_BLOCK_EVICTED_FIRST(
            "kv.LruList",
            "first",
            Edit.readInstead("oldest", "newest"),
            1,
            "kv.PrefixCacheTest#least_recently_used_block_is_evicted_first_and_tails_before_heads"),

    EVICTED_BEFORE_A_BLOCK_THAT_CONTINUES_IT(
            "kv.RankedBlocks",
            "add",
            Edit.withAnswer("predecessor", -1),
            1,
            "kv.RankedBlocksTest#lowest_rank_is_evicted_first_then_the_oldest_and_no_block_before_idle_ones_that_continue_it"),

    HIT_COUNTED_WITHOUT_ADMISSION(
            "kv.KvBlockPool",
            "putBack",
            Edit.withoutCall("addHits"),
            1,
            "scheduler.PoliciesTest#request_that_is_not_admitted_changes_neither_ranks_nor_hits"),

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
    private final int instructions;
    private final String test;

    PlantedBug(String className, String method, Edit edit) {
        this(className, method, edit, 1);
    }

    PlantedBug(String className, String method, Edit edit, int instructions) {
        this(className, method, edit, instructions, "");
    }

    PlantedBug(String className, String method, Edit edit, int instructions, String test) {
        this.instructions = instructions;
        this.test = test;
        this.className = "io.roseinfer." + className;
        this.method = method;
        this.edit = edit;
    }

    /** Returns the class to modify. */
    String className() {
        return className;
    }

    /** Returns the pattern of the methods to modify; all with a matching name are. */
    String method() {
        return method;
    }

    /** Returns the number of instructions to modify. */
    int instructions() {
        return instructions;
    }

    Edit edit() {
        return edit;
    }

    /** Returns the test that finds the bug, as {@code package.Class#method}; empty if the simulation does. */
    Optional<String> test() {
        return Optional.of(test).filter(name -> !name.isEmpty());
    }
}

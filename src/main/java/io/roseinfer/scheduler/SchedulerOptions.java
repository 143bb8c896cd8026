package io.roseinfer.scheduler;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.scheduler.policy.AdmissionPolicy;
import io.roseinfer.scheduler.policy.Drafter;
import io.roseinfer.scheduler.policy.EvictionPolicy;
import io.roseinfer.scheduler.policy.Policies;
import io.roseinfer.scheduler.policy.PreemptionPolicy;
import io.roseinfer.scheduler.policy.StepPolicy;
import java.util.Objects;
import java.util.Optional;

/**
 * Options of the scheduler. All values are validated here.
 *
 * @param maxBatchSize maximum rows of a decode step, at most {@value #MAX_ROWS}
 * @param prefillMaxBatchSize maximum waiting requests admitted per iteration, at most {@value #MAX_ROWS}; independent
 *     of {@code maxBatchSize}
 * @param prefillMaxTokens maximum prompt tokens per iteration; a longer prompt at the head of the queue is admitted
 *     alone. With {@code chunkedPrefill} prompts are split to fit, and decode rows count as tokens
 * @param decodeFirst whether an iteration decodes before it prefills; no effect with {@code chunkedPrefill} or a custom
 *     step policy
 * @param policies policies for admission, preemption, eviction, steps and speculation
 * @param maxActiveRequests maximum requests that hold KV blocks at the same time
 * @param chunkedPrefill whether prompts share steps with decode rows and are split to fit {@code prefillMaxTokens} and
 *     the largest step of the device; otherwise an iteration has a prefill step and a decode step
 * @param maxPasses how often an admission policy may pass over a request, before it is admitted next; {@link #UNLIMITED}
 *     removes the guarantee that every request runs
 * @param prefixCache whether KV blocks of earlier requests are reused by requests with the same prefix
 */
public record SchedulerOptions(
        int maxBatchSize,
        int prefillMaxBatchSize,
        int prefillMaxTokens,
        boolean decodeFirst,
        Policies policies,
        int maxActiveRequests,
        boolean chunkedPrefill,
        int maxPasses,
        boolean prefixCache) {

    /** Maximum decode rows, and maximum prefill rows, of a step. */
    public static final int MAX_ROWS = 1 << 16;

    /** No limit. */
    public static final int UNLIMITED = Integer.MAX_VALUE;

    public SchedulerOptions {
        Objects.requireNonNull(policies, "policies");
        rows("max_batch_size", maxBatchSize);
        rows("prefill_max_batch_size", prefillMaxBatchSize);
        positive("prefill_max_tokens", prefillMaxTokens);
        positive("max_active_requests", maxActiveRequests);
        positive("max_passes", maxPasses);
        Drafting.checkMaximum(policies.drafter());
        ExtensionFailure.requireNotified("drafter", policies.drafter(), policies);
        if (!prefixCache && !(policies.eviction() instanceof EvictionPolicy.Lru)) {
            throw new BadInput(
                    "the eviction policy " + policies.eviction().getClass().getName()
                            + " has no effect without the prefix cache; remove the policy, or enable the cache");
        }
    }

    private static void rows(String name, int value) {
        BadInput.require(value >= 1 && value <= MAX_ROWS, name, value, "1 to " + MAX_ROWS);
    }

    private static void positive(String name, int value) {
        BadInput.require(value >= 1, name, value, "positive");
    }

    /** Returns the policy that chooses which waiting requests are admitted. */
    public AdmissionPolicy admission() {
        return policies.admission();
    }

    /** Returns what proposes tokens that steps verify. */
    public Drafter drafter() {
        return policies.drafter();
    }

    /** Returns the defaults: a decode batch of 8, as many prefills per iteration, FIFO admission, prefix cache on. */
    public static SchedulerOptions defaults() {
        return builder().build();
    }

    /** Returns a builder with the defaults. */
    public static Builder builder() {
        return new Builder();
    }

    /** Returns a builder with these options. */
    public Builder toBuilder() {
        return builder()
                .maxBatchSize(maxBatchSize)
                .prefillMaxBatchSize(prefillMaxBatchSize)
                .prefillMaxTokens(prefillMaxTokens)
                .decodeFirst(decodeFirst)
                .admission(policies.admission())
                .preemption(policies.preemption())
                .eviction(policies.eviction())
                .step(policies.step())
                .drafter(policies.drafter())
                .maxActiveRequests(maxActiveRequests)
                .chunkedPrefill(chunkedPrefill)
                .maxPasses(maxPasses)
                .prefixCache(prefixCache);
    }

    /** A builder; options that are not set keep their defaults. */
    public static final class Builder {
        private int maxBatchSize = 8;
        private int prefillMaxBatchSize;
        private boolean prefillMaxBatchSizeSet;
        private int prefillMaxTokens = UNLIMITED;
        private boolean decodeFirst;
        private AdmissionPolicy admission = AdmissionPolicy.fifo();
        private PreemptionPolicy preemption = PreemptionPolicy.youngest();
        private EvictionPolicy eviction = EvictionPolicy.lru();
        private Optional<StepPolicy> step = Optional.empty();
        private Drafter drafter = Drafter.none();
        private int maxActiveRequests = UNLIMITED;
        private boolean chunkedPrefill;
        private int maxPasses = AdmissionPolicy.MAX_PASSES;
        private boolean prefixCache = true;

        private Builder() {}

        /** Sets the maximum rows of a decode step, 1 to {@value #MAX_ROWS}. Defaults to 8. */
        public Builder maxBatchSize(int value) {
            maxBatchSize = value;
            return this;
        }

        /**
         * Sets the maximum waiting requests admitted per iteration, 1 to {@value #MAX_ROWS}. Defaults to
         * {@code maxBatchSize}.
         */
        public Builder prefillMaxBatchSize(int value) {
            prefillMaxBatchSize = value;
            prefillMaxBatchSizeSet = true;
            return this;
        }

        /** Sets the maximum prompt tokens per iteration, 1 or more. Defaults to {@link #UNLIMITED}. */
        public Builder prefillMaxTokens(int value) {
            prefillMaxTokens = value;
            return this;
        }

        /** Sets whether an iteration decodes before it prefills. Defaults to false. */
        public Builder decodeFirst(boolean value) {
            decodeFirst = value;
            return this;
        }

        /** Sets the policy that chooses which waiting requests are admitted. Defaults to {@link AdmissionPolicy#fifo}. */
        public Builder admission(AdmissionPolicy value) {
            admission = Objects.requireNonNull(value, "admission");
            return this;
        }

        /**
         * Sets the policy that chooses which request is preempted if the KV pool is full. Defaults to
         * {@link PreemptionPolicy#youngest}.
         */
        public Builder preemption(PreemptionPolicy value) {
            preemption = Objects.requireNonNull(value, "preemption");
            return this;
        }

        /**
         * Sets the policy that chooses which cached KV block is evicted. Defaults to {@link EvictionPolicy#lru}; others
         * need the prefix cache.
         */
        public Builder eviction(EvictionPolicy value) {
            eviction = Objects.requireNonNull(value, "eviction");
            return this;
        }

        /** Sets the policy that fills the steps. Defaults to {@link StepPolicy#standard}. */
        public Builder step(StepPolicy value) {
            step = Optional.of(Objects.requireNonNull(value, "step"));
            return this;
        }

        /** Sets what proposes tokens that steps verify. Defaults to {@link Drafter#none}. */
        public Builder drafter(Drafter value) {
            drafter = Objects.requireNonNull(value, "drafter");
            return this;
        }

        /** Sets the maximum requests that hold KV blocks at the same time, 1 or more. Defaults to {@link #UNLIMITED}. */
        public Builder maxActiveRequests(int value) {
            maxActiveRequests = value;
            return this;
        }

        /** Sets whether prompts are split and share steps with decode rows. Defaults to false. */
        public Builder chunkedPrefill(boolean value) {
            chunkedPrefill = value;
            return this;
        }

        /**
         * Sets how often an admission policy may pass over a request, 1 or more. Defaults to
         * {@value AdmissionPolicy#MAX_PASSES}.
         */
        public Builder maxPasses(int value) {
            maxPasses = value;
            return this;
        }

        /** Sets whether KV blocks of earlier requests with the same prefix are reused. Defaults to true. */
        public Builder prefixCache(boolean value) {
            prefixCache = value;
            return this;
        }

        /**
         * Returns the options.
         *
         * @throws BadInput if a value is out of range
         */
        public SchedulerOptions build() {
            int prefills = prefillMaxBatchSizeSet ? prefillMaxBatchSize : maxBatchSize;
            return new SchedulerOptions(
                    maxBatchSize,
                    prefills,
                    prefillMaxTokens,
                    decodeFirst,
                    new Policies(
                            admission,
                            preemption,
                            eviction,
                            step.orElseGet(() -> StepPolicy.standard(chunkedPrefill, decodeFirst)),
                            drafter),
                    maxActiveRequests,
                    chunkedPrefill,
                    maxPasses,
                    prefixCache);
        }
    }
}

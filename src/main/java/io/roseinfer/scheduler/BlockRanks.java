package io.roseinfer.scheduler;

import io.roseinfer.kv.BlockTable;
import io.roseinfer.kv.KvBlockPool;
import io.roseinfer.scheduler.policy.CachedBlock;
import io.roseinfer.scheduler.policy.EvictionPolicy;
import io.roseinfer.scheduler.policy.PolicyRequest;
import org.jspecify.annotations.Nullable;

/** The ranks by which an eviction policy orders the blocks of sequences. */
final class BlockRanks implements KvBlockPool.Ranks {
    private final EvictionPolicy policy;
    private final Admission view;
    private final PolicyCalls calls;
    private final Block block = new Block();

    BlockRanks(EvictionPolicy policy, Admission view, PolicyCalls calls) {
        this.policy = policy;
        this.view = view;
        this.calls = calls;
    }

    @Override
    public long rank(BlockTable table, int index, int hits) {
        boolean wasOpen = view.setOpen(true);
        block.request = ((Sequence) table.owner()).view();
        block.tokensBefore = index * view.blockSize();
        block.hits = hits;
        try {
            return calls.rank(policy, block, view);
        } finally {
            block.request = null;
            boolean unused = view.setOpen(wasOpen);
        }
    }

    @Override
    public void evicted(long rank) {
        calls.evicted(policy, rank);
    }

    /** The block being ranked. */
    private static final class Block implements CachedBlock {
        private @Nullable PolicyRequest request;
        private int tokensBefore;
        private int hits;

        @Override
        public PolicyRequest request() {
            PolicyRequest known = request;
            if (known == null) {
                throw new ExtensionFailure.Misuse("uses a CachedBlock after the call that it was passed to");
            }
            return known;
        }

        @Override
        public int tokensBefore() {
            return tokensBefore;
        }

        @Override
        public int hits() {
            return hits;
        }
    }
}

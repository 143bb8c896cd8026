package io.roseinfer.backend.cuda;

import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.cuda.driver.Driver;
import java.util.EnumMap;
import java.util.Map;

/**
 * Addresses of a step's device memory. Inputs and sampled tokens are double-buffered: inputs are uploaded while the previous step
 * runs, and a step reads the previous step's tokens while it writes its own.
 */
final class StepBuffers {
    /** Bytes of a buffer that the model's kernels never touch, so that launches have a valid address. */
    private static final long UNUSED = 16;

    /** Columns of {@code AddResidual}'s narrowest tile, which writes one part of the moments. */
    private static final int MOMENT_COLUMNS = 64;

    /** The allocations, with the names under which reports add them up. */
    private enum Buffer {
        EVEN_INPUTS("step inputs"),
        ODD_INPUTS("step inputs"),
        EVEN_SAMPLE_INPUTS("step inputs"),
        ODD_SAMPLE_INPUTS("step inputs"),
        POOL("KV pool"),
        POOL_MAP("KV pool"),
        QUERY_MAP("KV pool"),
        WIDE_PAGES("KV pool"),
        WIDE_PAGE_IDS("KV pool"),
        X("activations"),
        X_PANELS("activations"),
        MOMENTS("activations"),
        NORMALIZED("activations"),
        QUERIES("activations"),
        RAW_HEADS("activations"),
        ATTENDED("activations"),
        SAMPLED_X("activations"),
        SAMPLED_ATTENDED("activations"),
        HIDDEN("activations"),
        BEST("logits and sampling"),
        LOGITS("logits and sampling"),
        SEEN("logits and sampling"),
        LOGIT_COPIES("logits and sampling"),
        EVEN_SAMPLED("logits and sampling"),
        ODD_SAMPLED("logits and sampling");

        private final String use;

        Buffer(String use) {
            this.use = use;
        }
    }

    /** Buffer sizes of a step: summed first, to size the KV pool, then allocated. */
    static final class Plan {
        private final Map<Buffer, Long> sizes = new EnumMap<>(Buffer.class);
        private final int panelRows;
        private final int sampledRows;
        private final int widePages;

        private Plan(int panelRows, int sampledRows, int widePages) {
            this.panelRows = panelRows;
            this.sampledRows = sampledRows;
            this.widePages = widePages;
        }

        private void add(Buffer buffer, long bytes) {
            sizes.put(buffer, bytes);
        }

        /** Returns the maximum bytes of a pass's inputs. */
        long inputBytes() {
            return sizes.getOrDefault(Buffer.EVEN_INPUTS, 0L);
        }

        /** Returns the maximum bytes of the sampling kernel's inputs. */
        long sampleInputBytes() {
            return sizes.getOrDefault(Buffer.EVEN_SAMPLE_INPUTS, 0L);
        }

        /** Returns the bytes of everything except the KV pool. */
        long bytes() {
            return sizes.values().stream().mapToLong(Long::longValue).sum();
        }

        /** Allocates all buffers and a KV pool. */
        StepBuffers allocate(DeviceMemory memory, long poolBytes) {
            Map<Buffer, Long> all = new EnumMap<>(sizes);
            all.put(Buffer.POOL, poolBytes);
            long[] addresses = new long[Buffer.values().length];
            all.forEach((buffer, bytes) -> addresses[buffer.ordinal()] = memory.allocate(buffer.use, bytes));
            return new StepBuffers(panelRows, sampledRows, widePages, addresses);
        }
    }

    private final int panelRows;
    private final int sampledRows;
    private final int widePages;
    private final long[] addresses;
    private final long[] inputs;
    private final long[] sampleInputs;
    private final long[] sampled;

    private StepBuffers(int panelRows, int sampledRows, int widePages, long[] addresses) {
        this.panelRows = panelRows;
        this.sampledRows = sampledRows;
        this.widePages = widePages;
        this.addresses = addresses;
        this.inputs = new long[] {at(Buffer.EVEN_INPUTS), at(Buffer.ODD_INPUTS)};
        this.sampleInputs = new long[] {at(Buffer.EVEN_SAMPLE_INPUTS), at(Buffer.ODD_SAMPLE_INPUTS)};
        this.sampled = new long[] {at(Buffer.EVEN_SAMPLED), at(Buffer.ODD_SAMPLED)};
    }

    /**
     * Plans the buffers of a runner.
     *
     * @param widePages pages of an fp8 KV cache that are widened for prompts, see {@link KernelChoice#widePages}
     * @param fusedNorms whether norms are fused into GEMMs, which need a panel copy of the residual stream and its moments; then only
     *     sampled rows are normalized by a kernel
     */
    static Plan plan(ModelShape shape, RunnerLimits limits, int widePages, boolean fusedNorms) {
        long samples = limits.maxSamples();
        int panelRows = ModelShape.roundUp(Math.max(limits.maxTokens(), limits.maxRows()), 8);
        int sampledRows = Math.min(ModelShape.roundUp(limits.maxSamples(), 8), panelRows);
        long element = shape.type().bytes();
        Plan plan = new Plan(panelRows, sampledRows, widePages);
        int contextLength = shape.spec().contextLength();
        long inputBytes = StepLayout.maxBytes(limits, contextLength);
        long sampleInputBytes =
                SampleLayout.maxBytes(limits, contextLength, shape.spec().vocabularySize());
        plan.add(Buffer.EVEN_INPUTS, inputBytes);
        plan.add(Buffer.ODD_INPUTS, inputBytes);
        plan.add(Buffer.EVEN_SAMPLE_INPUTS, sampleInputBytes);
        plan.add(Buffer.ODD_SAMPLE_INPUTS, sampleInputBytes);
        plan.add(Buffer.POOL_MAP, Driver.TENSOR_MAP_BYTES);
        plan.add(Buffer.QUERY_MAP, Driver.TENSOR_MAP_BYTES);
        plan.add(Buffer.WIDE_PAGES, Math.max(element * widePages * shape.pageElements(), UNUSED));
        plan.add(Buffer.WIDE_PAGE_IDS, Math.max(4L * widePages, UNUSED));
        plan.add(Buffer.X, 4L * panelRows * shape.stride());
        plan.add(Buffer.X_PANELS, fusedNorms ? element * panelRows * shape.stride() : UNUSED);
        plan.add(Buffer.MOMENTS, fusedNorms ? 8L * panelRows * (shape.stride() / MOMENT_COLUMNS) : UNUSED);
        plan.add(Buffer.NORMALIZED, element * (fusedNorms ? sampledRows : panelRows) * shape.stride());
        plan.add(Buffer.QUERIES, element * panelRows * shape.attention());
        plan.add(
                Buffer.RAW_HEADS,
                shape.qkNorms() ? element * panelRows * (shape.attention() + shape.kvWidth()) : UNUSED);
        plan.add(Buffer.ATTENDED, element * panelRows * shape.paddedAttention());
        plan.add(Buffer.SAMPLED_X, 4L * sampledRows * shape.stride());
        plan.add(Buffer.SAMPLED_ATTENDED, element * sampledRows * shape.paddedAttention());
        plan.add(Buffer.HIDDEN, element * panelRows * shape.paddedInner());
        plan.add(Buffer.BEST, 8L * samples * (shape.paddedVocabulary() / 64));
        plan.add(Buffer.LOGITS, 4L * samples * shape.paddedVocabulary());
        plan.add(Buffer.SEEN, 4L * samples * Math.ceilDiv(shape.spec().vocabularySize(), 32));
        // For masks, biases and penalties.
        plan.add(Buffer.LOGIT_COPIES, 4L * samples * shape.paddedVocabulary());
        plan.add(Buffer.EVEN_SAMPLED, 4L * samples);
        plan.add(Buffer.ODD_SAMPLED, 4L * samples);
        return plan;
    }

    /** Returns the row capacity of activation buffers. */
    int panelRows() {
        return panelRows;
    }

    /** Returns the row capacity of {@link #sampledX} and {@link #sampledAttended}, which activations of sampled tokens have too. */
    int sampledRows() {
        return sampledRows;
    }

    /** Returns the inputs of passes, by buffer. */
    long[] inputs() {
        return inputs;
    }

    /** Returns the inputs of the sampling kernel, by buffer. */
    long[] sampleInputs() {
        return sampleInputs;
    }

    long pool() {
        return at(Buffer.POOL);
    }

    /** Returns the pages that {@link #wide} has room for; 0 if prompts read the pool itself. */
    int widePages() {
        return widePages;
    }

    /** Returns pages of an fp8 pool in the type of activations, which prompts read. */
    long wide() {
        return at(Buffer.WIDE_PAGES);
    }

    /** Returns the ids of the pages of {@link #wide}: 0, 1, 2 and so on. */
    long widePageIds() {
        return at(Buffer.WIDE_PAGE_IDS);
    }

    /** Returns the tensor map of {@link #pool}, or of {@link #wide} if it has pages. */
    long poolMap() {
        return at(Buffer.POOL_MAP);
    }

    /** Returns the tensor map of {@link #queries}. */
    long queryMap() {
        return at(Buffer.QUERY_MAP);
    }

    long x() {
        return at(Buffer.X);
    }

    long xPanels() {
        return at(Buffer.X_PANELS);
    }

    long moments() {
        return at(Buffer.MOMENTS);
    }

    long normalized() {
        return at(Buffer.NORMALIZED);
    }

    long queries() {
        return at(Buffer.QUERIES);
    }

    /** Returns queries and keys before QK norm. */
    long rawHeads() {
        return at(Buffer.RAW_HEADS);
    }

    long attended() {
        return at(Buffer.ATTENDED);
    }

    /** Returns the residual stream of sampled tokens, from the last block's attention on. */
    long sampledX() {
        return at(Buffer.SAMPLED_X);
    }

    /** Returns the output of the last block's attention for sampled tokens. */
    long sampledAttended() {
        return at(Buffer.SAMPLED_ATTENDED);
    }

    long hidden() {
        return at(Buffer.HIDDEN);
    }

    long best() {
        return at(Buffer.BEST);
    }

    long logits() {
        return at(Buffer.LOGITS);
    }

    long seen() {
        return at(Buffer.SEEN);
    }

    long logitCopies() {
        return at(Buffer.LOGIT_COPIES);
    }

    /** Returns the sampled tokens, by buffer. */
    long[] sampled() {
        return sampled;
    }

    private long at(Buffer buffer) {
        return addresses[buffer.ordinal()];
    }
}

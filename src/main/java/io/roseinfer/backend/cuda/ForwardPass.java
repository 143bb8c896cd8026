package io.roseinfer.backend.cuda;

import io.roseinfer.backend.KvGeometry;
import io.roseinfer.backend.cuda.DeviceWeights.Layer;
import io.roseinfer.backend.cuda.DeviceWeights.Projection;
import io.roseinfer.backend.cuda.StepKernels.Attention;
import io.roseinfer.backend.cuda.TilePlan.DecodeAttention;
import io.roseinfer.model.Activation;
import io.roseinfer.model.BlockSpec;
import io.roseinfer.model.BlockSpec.Norm;
import io.roseinfer.model.BlockSpec.Residual;
import io.roseinfer.model.ModelSpec;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The launches of one step, in order: embedding, transformer blocks, LM head and sampling. Kernel sources describe the arguments;
 * the layouts are {@link StepLayout}, {@link SampleLayout} and {@link StepBuffers}.
 */
final class ForwardPass {
    private static final float LOG2_E = 1.442695f;

    /** Shared memory of the sampling kernel: the histogram and the list of {@code ranking.cuh}. */
    private static final int RANKING_BYTES = 20 * 1024;

    /** Blocks per SM that widen pages. */
    private static final int WIDENING_BLOCKS = 8;

    /** The sampling mode of a step. */
    enum Choice {
        /** Every sample is greedy: logits stay in the head's kernel, and the pass ends with the tokens. */
        GREEDY,
        /**
         * The pass ends with the logits, over which {@link #draw} runs the sampling kernel: a sample is random, has a mask, biases or
         * penalties, or reports log-probabilities.
         */
        DRAW
    }

    /** The parts of a step after the embedding, in launch order; all but the last run once per block. */
    enum Part {
        QKV,
        ATTENTION,
        ATTENTION_OUTPUT,
        MLP_INNER,
        MLP_OUTPUT,
        /** LM head, and greedy sampling. */
        HEAD
    }

    private static final List<Part> SEQUENTIAL =
            List.of(Part.QKV, Part.ATTENTION, Part.ATTENTION_OUTPUT, Part.MLP_INNER, Part.MLP_OUTPUT);

    /** Parallel residual: attention and MLP are both computed before either is added to the residual stream. */
    private static final List<Part> PARALLEL =
            List.of(Part.QKV, Part.ATTENTION, Part.MLP_INNER, Part.ATTENTION_OUTPUT, Part.MLP_OUTPUT);

    /** The GEMM epilogues. */
    private enum Gemm {
        QKV("qkv"),
        QKV_ROPE("qkv_rope"),
        QKV_NORM_ROPE("qkv_norm_rope"),
        RESIDUAL("residual"),
        ACTIVATION("activation"),
        GATED("gated"),
        HEAD("head");

        private final String kernel;

        Gemm(String kernel) {
            this.kernel = kernel;
        }
    }

    /**
     * Key of the launches of a step: equal steps launch the same kernels over the same addresses.
     *
     * @param decodeRows rows of one token
     * @param buffer 0 or 1, alternating: index of the inputs and of the array that receives sampled tokens
     */
    record Step(StepLayout layout, StepKernels kernels, int decodeRows, Choice choice, int buffer) {}

    /**
     * The tokens that matrices multiply: all of a step, or after the last attention only sampled ones, in compact buffers.
     *
     * @param count number of tokens
     * @param panelRows row capacity of their activations
     * @param x their residual stream
     * @param attended their output of attention
     */
    private record Tokens(int count, int panelRows, long x, long attended, TilePlan tiles) {}

    private final ModelShape shape;
    private final ModelSpec spec;
    private final DeviceWeights weights;
    private final StepBuffers buffers;
    private final Launcher launcher;
    private final boolean plainAttention;
    /** Whether weights are int8, with scales and without norm weights folded in. */
    private final boolean scaled;

    private final GqaAttention gqa;
    private final WgmmaPrefill prefill;
    private final int multiprocessors;
    private final int blockSize;
    /** Bytes of a layer's KV pool. */
    private final long layerBytes;
    /** Addresses of the token slots, by buffer. */
    private final long[] tokenSlots;
    /** Addresses of the log-probability slots, by buffer. */
    private final long[] logprobSlots;

    private final Map<String, Kernel> kernels = new HashMap<>();
    /** Kernels that read or write an fp8 KV cache. */
    private final Map<String, Kernel> fp8Kernels = new HashMap<>();

    private final Map<Gemm, Map<GemmPlan, Kernel>> gemms = new EnumMap<>(Gemm.class);
    private final Map<Gemm, Map<PromptTile, Kernel>> promptGemms = new EnumMap<>(Gemm.class);
    private final List<PromptTile> promptTiles = PromptTile.load();
    private final List<PromptTile> wholeHeadTiles =
            promptTiles.stream().filter(PromptTile::wholeHeads).toList();

    private int momentParts;

    /** @param pendingSteps the steps in flight, by buffer */
    ForwardPass(
            ModelShape shape,
            DeviceWeights weights,
            StepBuffers buffers,
            Launcher launcher,
            int multiprocessors,
            KvGeometry kv,
            List<PendingStep> pendingSteps) {
        this.shape = shape;
        this.spec = shape.spec();
        this.weights = weights;
        this.buffers = buffers;
        this.launcher = launcher;
        this.plainAttention = shape.plainAttention();
        this.scaled = shape.weights().scalesOutputs();
        this.gqa = new GqaAttention(shape.headPad(), shape.kvElementBytes());
        this.prefill = new WgmmaPrefill(shape.headPad(), shape.heads(), shape.kvHeads());
        this.multiprocessors = multiprocessors;
        this.blockSize = kv.blockSize();
        this.layerBytes = shape.layerBlockBytes(kv.blockSize()) * kv.blocks();
        this.tokenSlots = pendingSteps.stream()
                .mapToLong(pending -> pending.tokenSlots.address())
                .toArray();
        this.logprobSlots = pendingSteps.stream()
                .mapToLong(pending -> pending.logprobSlots.address())
                .toArray();
    }

    /** Launches the pass: a step without its sampling kernel. */
    void run(Step step) {
        embed(step);
        for (int i = 0; i < spec.layers(); i++) {
            List<Part> parts = spec.block(i).residual() == Residual.PARALLEL ? PARALLEL : SEQUENTIAL;
            boolean endsWithKeys = i + 1 == spec.layers() && step.layout().samples() == 0;
            for (int part = 0; part < (endsWithKeys ? 1 : parts.size()); part++) {
                launch(parts.get(part), step, i);
            }
        }
        if (step.layout().samples() > 0) {
            launch(Part.HEAD, step, 0);
        }
    }

    /** Launches one part of a step, in a block or the head. */
    void launch(Part part, Step step, int block) {
        Layer layer = weights.layers().get(block);
        BlockSpec of = spec.block(block);
        long pool = buffers.pool() + block * layerBytes;
        switch (part) {
            case QKV -> qkv(step, layer, of, pool);
            case ATTENTION -> attention(step, layer, of, pool);
            case ATTENTION_OUTPUT -> {
                Tokens tokens = tokensAfterAttention(step, block);
                if (tokens.x() == buffers.sampledX()) {
                    gather(step);
                }
                residual(
                        step,
                        tokens,
                        tokens.tiles().attentionOutput(),
                        layer.attentionOutput(),
                        tokens.attended(),
                        layer.mlpInner().normWeights());
            }
            case MLP_INNER -> activation(step, tokensAfterAttention(step, block), layer.mlpInner(), of);
            case MLP_OUTPUT -> {
                Tokens tokens = tokensAfterAttention(step, block);
                residual(
                        step,
                        tokens,
                        tokens.tiles().mlpOutput(),
                        layer.mlpOutput(),
                        buffers.hidden(),
                        normWeightsAfter(block));
            }
            case HEAD -> head(step);
        }
    }

    private Tokens allTokens(Step step) {
        return new Tokens(
                step.layout().tokens(),
                buffers.panelRows(),
                buffers.x(),
                buffers.attended(),
                step.kernels().tiles());
    }

    /** Returns the tokens of a block's matrices after attention: in the last block, sampled ones are enough for the head. */
    private Tokens tokensAfterAttention(Step step, int block) {
        int samples = step.layout().samples();
        boolean last = block + 1 == spec.layers();
        if (!last
                || spec.block(block).residual() == Residual.PARALLEL
                || samples == step.layout().tokens()) {
            return allTokens(step);
        }
        return new Tokens(
                samples,
                buffers.sampledRows(),
                buffers.sampledX(),
                buffers.sampledAttended(),
                step.kernels().sampledTiles());
    }

    /** Copies the residual stream and the output of attention of sampled tokens. */
    private void gather(Step step) {
        launcher.kernel(typed("gather"))
                .grid(step.layout().samples(), 1)
                .block(256)
                .address(buffers.x())
                .address(buffers.attended())
                .address(input(step, step.layout().sampleTokens()))
                .integer(shape.stride())
                .integer(shape.paddedAttention())
                .integer(buffers.panelRows())
                .address(buffers.sampledX())
                .address(buffers.sampledAttended())
                .integer(buffers.sampledRows())
                .launch();
    }

    /** Returns the norm weights for the panel copy written after a block; 0 after the last, since the head's norm reads no copy. */
    private long normWeightsAfter(int block) {
        return block + 1 < spec.layers() ? weights.layers().get(block + 1).qkv().normWeights() : 0;
    }

    /** Returns the kernel for the activations' type. */
    private Kernel typed(String kernel) {
        return kernels.computeIfAbsent(
                kernel, name -> launcher.sink().kernel(name + "_" + shape.type().suffix()));
    }

    /** Returns the kernel for the types of activations and KV cache. */
    private Kernel kvTyped(String kernel) {
        if (!shape.fp8KvCache()) {
            return typed(kernel);
        }
        return fp8Kernels.computeIfAbsent(
                kernel,
                name -> launcher.sink().kernel(name + "_fp8_" + shape.type().suffix()));
    }

    private Kernel kernel(Gemm gemm, GemmPlan plan) {
        return gemms.computeIfAbsent(gemm, key -> new HashMap<>())
                .computeIfAbsent(plan, tile -> kernel(gemm, tile.suffix()));
    }

    private Kernel kernel(Gemm gemm, PromptTile tile) {
        return promptGemms
                .computeIfAbsent(gemm, key -> new HashMap<>())
                .computeIfAbsent(tile, each -> kernel(gemm, each.name()));
    }

    private Kernel kernel(Gemm gemm, String suffix) {
        boolean writesKv = gemm == Gemm.QKV_ROPE || gemm == Gemm.QKV_NORM_ROPE;
        String kvDtype = writesKv && shape.fp8KvCache() ? "_fp8" : "";
        return launcher.sink()
                .kernel("gemm_" + gemm.kernel + kvDtype + "_" + shape.weights().suffix() + "_" + suffix);
    }

    /** Raises the shared memory limits of the prompt GEMM's kernels, so that no prompt is the first to launch one. */
    void preparePromptTiles() {
        Gemm qkv = plainAttention ? Gemm.QKV : Gemm.QKV_ROPE;
        Gemm inner = spec.mlp().gated() ? Gemm.GATED : Gemm.ACTIVATION;
        for (Gemm gemm : List.of(qkv, Gemm.RESIDUAL, inner)) {
            prepare(gemm, promptTiles);
        }
        if (shape.qkNorms() && gqa.normsInGemm()) {
            prepare(Gemm.QKV_NORM_ROPE, wholeHeadTiles);
        }
    }

    private void prepare(Gemm gemm, List<PromptTile> tiles) {
        for (PromptTile tile : tiles) {
            launcher.sink().prepare(kernel(gemm, tile), tile.sharedBytes());
        }
    }

    private long input(Step step, long offset) {
        return buffers.inputs()[step.buffer()] + offset;
    }

    private void embed(Step step) {
        momentParts = 1;
        if (scaled) {
            embedScaled(step);
            return;
        }
        StepLayout in = step.layout();
        if (spec.learnsPositions()) {
            launcher.kernel(typed("embed"))
                    .afterAll()
                    .address(input(step, in.tokenIds()))
                    .address(input(step, in.positions()))
                    .address(buffers.sampled()[1 - step.buffer()])
                    .address(weights.tokens())
                    .address(weights.positions());
        } else {
            launcher.kernel(typed("embed_tokens"))
                    .afterAll()
                    .address(input(step, in.tokenIds()))
                    .address(buffers.sampled()[1 - step.buffer()])
                    .address(weights.tokens());
        }
        launcher.grid(in.tokens(), 1)
                .block(128)
                .address(buffers.x())
                .address(step.kernels().fusedNorm() ? buffers.xPanels() : 0)
                .address(buffers.moments())
                .integer(spec.width())
                .integer(shape.stride())
                .integer(buffers.panelRows())
                .launch();
    }

    private void embedScaled(Step step) {
        StepLayout in = step.layout();
        launcher.kernel("embed_tokens_" + shape.weights().suffix())
                .afterAll()
                .grid(in.tokens(), 1)
                .block(128)
                .address(input(step, in.tokenIds()))
                .address(buffers.sampled()[1 - step.buffer()])
                .address(weights.tokens())
                .address(weights.tokenScales())
                .address(buffers.x())
                .address(buffers.xPanels())
                .address(buffers.moments())
                .address(weights.layers().getFirst().qkv().normWeights())
                .integer(spec.width())
                .integer(shape.stride())
                .integer(buffers.panelRows())
                .launch();
    }

    private void qkv(Step step, Layer layer, BlockSpec of, long pool) {
        GemmPlan plan = step.kernels().tiles().qkv();
        float queryScale = of.attention().scale() * LOG2_E;
        if (plainAttention) {
            fromStream(Gemm.QKV, plan, layer.qkv(), step, allTokens(step), of.norm())
                    .address(buffers.queries())
                    .address(pool)
                    .address(input(step, step.layout().slots()))
                    .integer(shape.attention())
                    .integer(shape.headPad())
                    .integer(blockSize)
                    .real(queryScale)
                    .launch();
            return;
        }
        boolean normalized = layer.heads().normWeights() != 0;
        boolean rawRows = step.kernels().attention() == Attention.DECODE_GQA_ROPE;
        if (normalized && !rawRows && plan.prompt() && gqa.normsInGemm()) {
            qkvNormRope(step, layer, of, pool, queryScale);
            return;
        }
        fromStream(Gemm.QKV_ROPE, plan, layer.qkv(), step, allTokens(step), of.norm())
                .address(buffers.queries())
                .address(normalized ? buffers.rawHeads() : 0)
                .address(pool)
                .address(input(step, step.layout().slots()))
                .address(input(step, step.layout().positions()))
                .address(layer.heads().ropeTable())
                .integer(shape.attention())
                .integer(shape.kvWidth())
                .integer(shape.headPad())
                .integer(blockSize)
                .real(queryScale)
                .launch();
        if (normalized && !rawRows) {
            normRope(step, layer, of, pool, queryScale);
        }
    }

    /** Applies QK norm and RoPE in the prompt GEMM. */
    private void qkvNormRope(Step step, Layer layer, BlockSpec of, long pool, float queryScale) {
        StepLayout in = step.layout();
        fromStream(Gemm.QKV_NORM_ROPE, GemmPlan.PROMPT, layer.qkv(), step, allTokens(step), of.norm())
                .address(buffers.queries())
                .address(pool)
                .address(input(step, in.slots()))
                .address(input(step, in.positions()))
                .address(layer.heads().ropeTable())
                .integer(shape.attention())
                .integer(shape.kvWidth())
                .integer(shape.headPad())
                .integer(blockSize)
                .real(queryScale)
                .address(layer.heads().normWeights())
                .integer(of.attention().headSize())
                .real(of.norm().epsilon())
                .launch();
    }

    /** Applies QK norm and RoPE to the raw output of the QKV GEMM. */
    private void normRope(Step step, Layer layer, BlockSpec of, long pool, float queryScale) {
        StepLayout in = step.layout();
        launcher.kernel(kvTyped("rope"))
                .grid(in.tokens(), Math.ceilDiv(shape.heads() + shape.kvHeads(), 4))
                .block(128)
                .address(buffers.rawHeads())
                .address(layer.heads().normWeights())
                .address(buffers.queries())
                .address(pool)
                .address(input(step, in.slots()))
                .address(input(step, in.positions()))
                .address(layer.heads().ropeTable())
                .integer(shape.attention())
                .integer(shape.kvWidth())
                .integer(of.attention().headSize())
                .integer(shape.headPad())
                .integer(blockSize)
                .real(queryScale)
                .real(of.norm().epsilon())
                .launch();
    }

    private void attention(Step step, Layer layer, BlockSpec block, long pool) {
        StepLayout in = step.layout();
        BlockSpec.Attention of = block.attention();
        Attention kind = step.kernels().attention();
        switch (kind) {
            case GENERIC ->
                attend("attention_generic", in.tokens(), Math.ceilDiv(shape.heads(), 4), 0, step, pool)
                        .integer(shape.kvHeads())
                        .integer(shape.headPad())
                        .integer(blockSize)
                        .integer(in.rows())
                        .integer(of.window())
                        .launch();
            case DECODE_GQA -> attendDecodeRows(step, of, pool);
            case DECODE_GQA_ROPE -> {
                if (layer.heads().normWeights() != 0) {
                    attendRawDecodeRows(step, layer, block, pool);
                } else {
                    attendDecodeRows(step, of, pool);
                }
            }
            case PREFILL_GQA -> attendPrompts(step, of, pool);
            case PREFILL_WGMMA -> attendPromptsByWgmma(step, of, pool, false);
            case MIXED_GQA -> {
                attendDecodeRows(step, of, pool);
                attendPromptsByWgmma(step, of, pool, true);
            }
            case DECODE, DECODE_INVARIANT -> attendDecodeRows(step, pool);
            case PREFILL -> attendPrompts(step, pool, false);
            case MIXED -> {
                attendDecodeRows(step, pool);
                attendPromptsByWgmma(step, of, pool, true);
            }
            case MIXED_INVARIANT -> {
                attendDecodeRows(step, pool);
                attendPrompts(step, pool, true);
            }
        }
    }

    /** Attends decode rows with the MHA kernels. */
    private void attendDecodeRows(Step step, long pool) {
        DecodeAttention decode = step.kernels().decodeAttention();
        attend(decode.kernel().kernel, shape.heads(), step.layout().rows(), decode.sharedBytes(), step, pool)
                .block(decode.kernel().threads)
                .address(input(step, step.layout().rowOrder()))
                .integer(decode.stages())
                .launch();
    }

    /** Attends prompts with the MHA kernel. */
    private void attendPrompts(Step step, long pool, boolean skipDecodeRows) {
        StepLayout in = step.layout();
        attend("attention_prefill", shape.heads(), in.tokens() / 64 + in.rows(), 0, step, pool)
                .integer(blockSize)
                .integer(in.rows())
                .integer(skipDecodeRows ? 1 : 0)
                .launch();
    }

    /** Attends decode rows with the GQA kernels. */
    private void attendDecodeRows(Step step, BlockSpec.Attention of, long pool) {
        attendDecodeRows(gqa.kernel(), buffers.queries(), step, of, pool).launch();
    }

    /** Applies QK norm and RoPE to the raw output of the QKV GEMM, and attends decode rows, with one GQA kernel. */
    private void attendRawDecodeRows(Step step, Layer layer, BlockSpec of, long pool) {
        attendDecodeRows(gqa.ropeKernel(), buffers.rawHeads(), step, of.attention(), pool)
                .address(layer.heads().normWeights())
                .address(layer.heads().ropeTable())
                .integer(of.attention().headSize())
                .real(of.attention().scale() * LOG2_E)
                .real(of.norm().epsilon())
                .launch();
    }

    private Launcher attendDecodeRows(String kernel, long queries, Step step, BlockSpec.Attention of, long pool) {
        int rows = step.layout().rows();
        int cluster = gqa.cluster(rows, shape.kvHeads(), multiprocessors);
        int sharedBytes = gqa.sharedBytes(rows, shape.kvHeads(), multiprocessors);
        return attend(kernel, shape.kvHeads() * cluster, rows, sharedBytes, queries, step, pool)
                .cluster(cluster)
                .address(input(step, step.layout().rowOrder()))
                .integer(gqa.stages(rows, shape.kvHeads(), multiprocessors))
                .integer(shape.kvHeads())
                .integer(of.window());
    }

    /** Attends all rows with the GQA kernel of prompts. */
    private void attendPrompts(Step step, BlockSpec.Attention of, long pool) {
        StepLayout in = step.layout();
        int tiles = in.tokens() / 64 + in.rows();
        attend(gqa.prefillKernel(), shape.heads(), tiles, gqa.prefillSharedBytes(), step, pool)
                .integer(shape.kvHeads())
                .integer(blockSize)
                .integer(in.rows())
                .integer(of.window())
                .launch();
    }

    /** Attends prompts with Hopper's kernel, an fp8 KV cache after widening their pages. */
    private void attendPromptsByWgmma(Step step, BlockSpec.Attention of, long pool, boolean skipDecodeRows) {
        StepLayout in = step.layout();
        int skipped = skipDecodeRows ? step.decodeRows() : 0;
        int warpgroups = prefill.warpgroups(in.tokens() - skipped, in.rows() - skipped, multiprocessors);
        int blocks = prefill.blocks(warpgroups, in.tokens() - skipped, in.rows() - skipped, multiprocessors);
        boolean widens = shape.fp8KvCache();
        if (widens) {
            widenPages(step, pool, skipDecodeRows);
        }
        long pageIds = widens ? buffers.widePageIds() : input(step, in.blocks());
        attend(
                        typed(prefill.kernel(warpgroups)),
                        blocks,
                        1,
                        buffers.queries(),
                        step,
                        widens ? buffers.wide() : pool,
                        pageIds)
                .shared(prefill.sharedBytes(warpgroups))
                .block(prefill.threads(warpgroups))
                .address(buffers.poolMap())
                .address(buffers.queryMap())
                .integer(widens ? 0 : (int) ((pool - buffers.pool()) / (2L * shape.headPad())))
                .integer(shape.kvHeads())
                .integer(in.rows())
                .integer(skipDecodeRows ? 1 : 0)
                .integer(of.window())
                .integer(prefill.packShift())
                .launch();
    }

    /** Copies the pages of prompts from an fp8 pool to the wide pages, in the order in which the step lists them. */
    private void widenPages(Step step, long pool, boolean skipDecodeRows) {
        StepLayout in = step.layout();
        launcher.kernel(typed("attention_prefill_wgmma_widen"))
                .grid(Math.ceilDiv(WIDENING_BLOCKS * multiprocessors, in.rows()), in.rows())
                .block(256)
                .address(pool)
                .address(input(step, in.rowStarts()))
                .address(input(step, in.contextLengths()))
                .address(input(step, in.blockStarts()))
                .address(input(step, in.blocks()))
                .address(buffers.wide())
                .integer((int) shape.pageElements())
                .integer(skipDecodeRows ? 1 : 0)
                .launch();
    }

    private Launcher attend(String kernel, int gridX, int gridY, int sharedBytes, Step step, long pool) {
        return attend(kernel, gridX, gridY, sharedBytes, buffers.queries(), step, pool);
    }

    private Launcher attend(String kernel, int gridX, int gridY, int sharedBytes, long queries, Step step, long pool) {
        return attend(
                        kvTyped(kernel),
                        gridX,
                        gridY,
                        queries,
                        step,
                        pool,
                        input(step, step.layout().blocks()))
                .shared(sharedBytes);
    }

    private Launcher attend(Kernel kernel, int gridX, int gridY, long queries, Step step, long pool, long pageIds) {
        StepLayout in = step.layout();
        return launcher.kernel(kernel)
                .grid(gridX, gridY)
                .block(128)
                .address(queries)
                .address(pool)
                .address(input(step, in.rowStarts()))
                .address(input(step, in.contextLengths()))
                .address(input(step, in.blockStarts()))
                .address(pageIds)
                .address(buffers.attended())
                .integer(buffers.panelRows())
                .integer(shape.heads());
    }

    private void activation(Step step, Tokens tokens, Projection matrix, BlockSpec of) {
        Gemm kind = of.mlp().gated() ? Gemm.GATED : Gemm.ACTIVATION;
        fromStream(kind, tokens.tiles().mlpInner(), matrix, step, tokens, of.norm())
                .address(buffers.hidden())
                .integer(number(of.mlp().activation()))
                .launch();
    }

    /** Begins the launch of a GEMM that reads the normalized residual stream; the caller adds the epilogue's arguments. */
    private Launcher fromStream(Gemm kind, GemmPlan plan, Projection matrix, Step step, Tokens tokens, Norm norm) {
        if (step.kernels().fusedNorm()) {
            return gemm(kind, plan, matrix, buffers.xPanels(), tokens, true, norm.epsilon());
        }
        return gemm(kind, plan, matrix, normalize(norm, matrix, tokens, 0), tokens, false, 0);
    }

    /** @param normWeights of the norm before the int8 matrix that reads the stream next; 0 for all ones */
    private void residual(
            Step step, Tokens tokens, GemmPlan plan, Projection matrix, long activations, long normWeights) {
        Launcher launch = gemm(Gemm.RESIDUAL, plan, matrix, activations, tokens, false, 0)
                .address(tokens.x())
                .address(step.kernels().fusedNorm() ? buffers.xPanels() : 0)
                .address(buffers.moments())
                .integer(shape.stride());
        if (scaled) {
            launch.address(normWeights);
        }
        launch.launch();
        momentParts = matrix.outputs() / plan.momentColumns();
    }

    private void head(Step step) {
        StepLayout in = step.layout();
        GemmPlan plan = step.kernels().tiles().head();
        Tokens tokens = tokensAfterAttention(step, spec.layers() - 1);
        boolean sampled = tokens.count() == in.samples();
        boolean fused = step.kernels().fusedHeadNorm() && sampled;
        Norm norm = spec.head().norm();
        long activations = buffers.xPanels();
        if (!fused) {
            tokens = new Tokens(in.samples(), buffers.sampledRows(), tokens.x(), tokens.attended(), tokens.tiles());
            activations = normalize(norm, weights.head(), tokens, sampled ? 0 : input(step, in.sampleTokens()));
        }
        int tiles = headTiles(step);
        gemm(Gemm.HEAD, plan, weights.head(), activations, tokens, fused, norm.epsilon())
                .address(buffers.best())
                .address(step.choice() == Choice.GREEDY ? 0 : buffers.logits())
                .integer(spec.vocabularySize())
                .integer(shape.paddedVocabulary())
                .integer(tiles)
                .launch();
        if (step.choice() == Choice.GREEDY) {
            select(step, tiles);
        }
    }

    private int headTiles(Step step) {
        return weights.head().outputs() / step.kernels().tiles().head().columns(true);
    }

    private void select(Step step, int tiles) {
        launcher.kernel("select_best")
                .grid(Math.ceilDiv(step.layout().samples(), 8), 1)
                .block(256)
                .address(buffers.best())
                .integer(tiles)
                .integer(step.layout().samples())
                .address(input(step, StepLayout.STEP))
                .address(buffers.sampled()[step.buffer()])
                .address(tokenSlots[step.buffer()])
                .launch();
    }

    /**
     * Launches the sampling kernel over the logits of a pass with {@link Choice#DRAW}.
     *
     * @param step the pass
     * @param samples number of samples, without padding rows
     */
    void draw(Step step, int samples) {
        int buffer = step.buffer();
        long inputs = buffers.sampleInputs()[buffer];
        launcher.kernel("sample")
                .grid(samples, 1)
                .block(1024)
                .shared(RANKING_BYTES)
                .address(buffers.best())
                .integer(headTiles(step))
                .address(buffers.logits())
                .integer(spec.vocabularySize())
                .integer(shape.paddedVocabulary())
                .address(inputs)
                .address(inputs + new SampleLayout(samples).tail())
                .address(buffers.seen())
                .address(buffers.logitCopies())
                .address(buffers.inputs()[buffer] + StepLayout.STEP)
                .address(buffers.sampled()[buffer])
                .address(buffers.sampled()[1 - buffer])
                .address(tokenSlots[buffer])
                .address(logprobSlots[buffer])
                .launch();
    }

    /**
     * Normalizes tokens as input of a matrix; returns the result's address.
     *
     * @param sampleTokens address of the indices of the tokens to normalize; 0: the tokens themselves
     */
    private long normalize(Norm norm, Projection matrix, Tokens tokens, long sampleTokens) {
        boolean rms = norm.kind() == Norm.Kind.RMS;
        launcher.kernel(typed(rms ? "normalize_rms" : "normalize"))
                .grid(Math.ceilDiv(tokens.count(), 8), 1)
                .block(256)
                .address(tokens.x())
                .integer(tokens.count())
                .integer(spec.width())
                .integer(shape.stride())
                .real(norm.epsilon())
                .address(sampleTokens)
                .address(buffers.normalized())
                .integer(tokens.panelRows());
        if (rms) {
            launcher.address(matrix.normWeights());
        }
        launcher.launch();
        return buffers.normalized();
    }

    /** Begins a GEMM launch without the epilogue's arguments; {@code norm} says whether the norm is fused. */
    private Launcher gemm(
            Gemm kind, GemmPlan plan, Projection matrix, long activations, Tokens tokens, boolean norm, float epsilon) {
        int panels = matrix.inputs() / shape.weights().panelWidth();
        int outputs = matrix.outputs();
        int rows = tokens.count();
        int panelRows = tokens.panelRows();
        if (plan.prompt()) {
            List<PromptTile> tiles = kind == Gemm.QKV_NORM_ROPE ? wholeHeadTiles : promptTiles;
            PromptTile tile = PromptTile.choose(tiles, rows, outputs, panels, multiprocessors);
            return launcher.kernel(kernel(kind, tile))
                    .grid(tile.blocks(rows, outputs, multiprocessors), 1)
                    .block(PromptTile.THREADS)
                    .shared(tile.sharedBytes())
                    .cluster(tile.cluster())
                    .address(matrix.panels())
                    .address(activations)
                    .integer(rows)
                    .integer(panelRows)
                    .integer(outputs)
                    .integer(panels)
                    .address(matrix.bias())
                    .address(norm ? matrix.columnTerms() : 0)
                    .address(buffers.moments())
                    .integer(momentParts)
                    .real(spec.width())
                    .real(epsilon);
        }
        launcher.kernel(kernel(kind, plan));
        if (plan.generic()) {
            return launcher.grid(outputs / plan.columns(false), Math.ceilDiv(rows, 64))
                    .block(128)
                    .address(matrix.panels())
                    .address(activations)
                    .integer(rows)
                    .integer(panelRows)
                    .integer(outputs)
                    .integer(panels)
                    .address(matrix.bias());
        }
        boolean head = kind == Gemm.HEAD;
        GemmPlan.Tile tile = plan.tile(head, panels, shape.weights());
        int across = plan.across(head, rows, outputs, multiprocessors);
        return launcher.grid(Math.ceilDiv(rows, plan.batch()) * plan.cluster(), across)
                .block(tile.threads())
                .shared(tile.sharedBytes())
                .cluster(plan.cluster())
                .address(matrix.panels())
                .address(activations)
                .integer(rows)
                .integer(panelRows)
                .integer(outputs)
                .integer(panels)
                .integer(tile.stages())
                .address(matrix.bias())
                .address(norm || scaled ? matrix.columnTerms() : 0)
                .address(norm || !scaled ? buffers.moments() : 0)
                .integer(momentParts)
                .real(spec.width())
                .real(epsilon);
    }

    /** Returns the number of an activation function in {@code contract/activations.h}. */
    static int number(Activation activation) {
        return switch (activation) {
            case GELU_TANH -> 0;
            case GELU_ERF -> 1;
            case RELU -> 2;
            case SILU -> 3;
        };
    }
}

package io.roseinfer.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.backend.KvGeometry;
import io.roseinfer.backend.KvPrecision;
import io.roseinfer.backend.Precision;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.StepInputs;
import io.roseinfer.backend.cuda.StepKernels.Attention;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.base.RoseException.InsufficientMemory;
import io.roseinfer.base.TokenMask;
import io.roseinfer.model.Activation;
import io.roseinfer.model.BlockSpec.Norm;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.Positions;
import io.roseinfer.model.SpecBuilder;
import io.roseinfer.model.family.Families;
import io.roseinfer.sampling.SampleRequest;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.sampling.TokenHistory;
import io.roseinfer.tensor.DType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Host-side decisions about a step: kernels, tiles, buckets, layouts and packing. */
class StepShapesTest {
    private static final ModelShape GPT2 =
            ModelShape.of(Families.shape("gpt2").orElseThrow(), ElementType.F16, KvPrecision.AUTO, Shard.WHOLE);
    private static final TileTable TABLE = TileTable.load();
    private static final TilePlans PLANS = TABLE.of(GPT2.layerWeights(), ElementType.F16);
    private static final int MAX_SHARED_BYTES = 232_448 - 3_500;

    /** Every Hopper tile that a step may launch stays within what a block may have. */
    @ParameterizedTest
    @ValueSource(
            ints = {
                1, 2, 3, 8, 9, 16, 17, 32, 33, 48, 49, 64, 65, 96, 97, 128, 129, 192, 193, 256, 257, 352, 353, 640, 641,
                1000, 1200, 1201, 1400, 1401, 3001
            })
    void tiles_of_every_batch_fit_the_device(int rows) {
        for (long layerWeights : new long[] {3_538_944, 7_077_888, 15_728_640, 60_817_408, 218_103_808}) {
            for (ElementType weights : List.of(ElementType.F16, ElementType.INT8)) {
                TilePlans plans = TABLE.of(layerWeights, weights);
                assertFit(StepKernels.decode(plans, rows), weights);
                assertFit(StepKernels.prefill(plans, rows, rows, Attention.MIXED), weights);
                assertFit(StepKernels.invariant(plans, rows, rows, Attention.PREFILL, 0), weights);
            }
        }
    }

    private static void assertFit(StepKernels kernels, ElementType weights) {
        for (int width : new int[] {576, 768, 1024, 1600, 2048, 3072, 4096, 6400, 14_336}) {
            int panels = ModelShape.roundUp(width, 128) / weights.panelWidth();
            for (GemmPlan plan : gemmsOf(kernels)) {
                if (plan.prompt()) {
                    continue; // PromptTileTest
                }
                assertTile(plan, plan.tile(false, panels, weights));
                assertRotation(plan, plan.tile(false, panels, weights), panels);
            }
            assertTile(kernels.tiles().head(), kernels.tiles().head().tile(true, panels, weights));
        }
    }

    /** By the sizes in {@code config.json}: query and output projections, key and value projections, MLP. */
    @Test
    void layer_weights_count_a_shards_matrices() {
        assertThat(GPT2.layerWeights()).isEqualTo(768L * (3 * 768 + 768 + 2 * 3072));
        ModelSpec spec = gated(8, 2, 64).build();
        long inner = 3L * spec.mlp().inner();
        assertThat(ModelShape.of(spec, ElementType.BF16, KvPrecision.AUTO, Shard.WHOLE)
                        .layerWeights())
                .isEqualTo(spec.width() * ((2 * 8 + 2 * 2) * 64 + inner));
        assertThat(ModelShape.of(spec, ElementType.BF16, KvPrecision.AUTO, new Shard(0, 2))
                        .layerWeights())
                .isEqualTo(spec.width() * ((2 * 4 + 2 * 1) * 64 + inner / 2));
    }

    private static void assertTile(GemmPlan plan, GemmPlan.Tile tile) {
        assertThat(tile.sharedBytes()).as("shared bytes of %s", plan).isLessThanOrEqualTo(MAX_SHARED_BYTES);
        assertThat(tile.stages()).as("stages of %s", plan).isBetween(2, 16);
        assertThat(tile.threads()).isEqualTo(320);
    }

    @ParameterizedTest
    @CsvSource({"64, 64, 393", "128, 100, 132", "128, 256, 66", "128, 20000, 1"})
    void persistent_head_grid_fits_the_device_at_once(int batch, int rows, int blocks) {
        GemmPlan plan = new GemmPlan(batch, 1, 4);
        assertThat(plan.across(true, rows, 50_304, 132)).isEqualTo(blocks);
        assertThat(plan.across(true, rows, 256, 132)).isLessThanOrEqualTo(2);
        assertThat(plan.across(false, rows, 3072, 132)).isEqualTo(batch == 64 ? 48 : 24);
    }

    /** Two warpgroups alternate over the stages of these tiles, and a stage must return to the same one. */
    private static void assertRotation(GemmPlan plan, GemmPlan.Tile tile, int panels) {
        if (Math.ceilDiv(panels, plan.cluster()) > tile.stages() && plan.batch() <= 64) {
            assertThat(tile.stages() % 2).as("alternating stages of %s", plan).isZero();
            assertThat(tile.stages()).isGreaterThanOrEqualTo(4);
        }
    }

    @Test
    void kernel_choice_depends_on_type_shape_device_and_step() {
        KernelChoice hopper = new KernelChoice(PLANS, GPT2, 16, true, false);
        assertThat(hopper.of(64, 64, 64, 64).attention()).isEqualTo(Attention.DECODE);
        assertThat(hopper.of(100, 2, 2, 0).attention()).isEqualTo(Attention.PREFILL_WGMMA);
        assertThat(hopper.of(100, 3, 3, 2).attention()).isEqualTo(Attention.MIXED);
        assertThat(new KernelChoice(PLANS, GPT2, 24, true, false)
                        .of(100, 2, 2, 0)
                        .attention())
                .isEqualTo(Attention.PREFILL);
        assertThat(new KernelChoice(PLANS, GPT2, 24, true, false)
                        .of(100, 3, 3, 2)
                        .attention())
                .isEqualTo(Attention.PREFILL);
        ModelShape floats = ModelShape.of(GPT2.spec(), ElementType.F32, KvPrecision.AUTO, Shard.WHOLE);
        assertThat(new KernelChoice(PLANS, floats, 16, true, false)
                        .of(64, 64, 64, 64)
                        .tiles()
                        .qkv()
                        .generic())
                .isTrue();
    }

    /** One kernel for all rows: prompts, decode rows and mixed steps. */
    @ParameterizedTest
    @CsvSource({
        "BF16, 32, 64, PREFILL",
        "BF16, 8, 64, PREFILL_GQA",
        "F16, 8, 128, PREFILL_GQA",
        "BF16, 2, 32, GENERIC",
        "F32, 8, 64, GENERIC"
    })
    void other_gpus_use_one_attention_kernel_in_every_step(
            ElementType type, int kvHeads, int headSize, Attention expected) {
        ModelShape shape = ModelShape.of(gated(32, kvHeads, headSize).build(), type, KvPrecision.AUTO, Shard.WHOLE);
        KernelChoice choice = new KernelChoice(PLANS, shape, 16, false, false);
        for (int decodeRows : new int[] {0, 1, 8}) {
            assertThat(choice.of(2048 + decodeRows, 1 + decodeRows, 1 + decodeRows, decodeRows)
                            .attention())
                    .as("%d decode rows with a prompt", decodeRows)
                    .isEqualTo(expected);
        }
        assertThat(choice.of(8, 8, 8, 8).attention()).as("decode rows alone").isEqualTo(expected);
        assertThat(new KernelChoice(PLANS, shape, 16, false, true)
                        .of(2056, 9, 9, 8)
                        .attention())
                .as("batch invariant")
                .isEqualTo(expected);
    }

    @ParameterizedTest
    @ValueSource(ints = {5, 64, 259, 4144})
    void prompts_select_gemms_by_tokens_and_head_by_samples(int tokens) {
        StepKernels prompts = new KernelChoice(PLANS, GPT2, 16, true, false).of(tokens, 2, 2, 0);
        assertThat(gemmsOf(prompts)).isEqualTo(gemmsOf(StepKernels.decode(PLANS, tokens)));
        assertThat(prompts.tiles().head())
                .isEqualTo(StepKernels.decode(PLANS, 2).tiles().head());
    }

    @ParameterizedTest
    @CsvSource({"4144, 16, 16", "259, 1, 1", "2000, 2, 1"})
    void last_block_has_the_tiles_of_as_many_decode_rows_as_samples(int tokens, int rows, int samples) {
        StepKernels prompts = new KernelChoice(PLANS, GPT2, 16, true, false).of(tokens, rows, samples, 0);
        assertThat(prompts.sampledTiles())
                .isEqualTo(StepKernels.decode(PLANS, samples).tiles())
                .isNotEqualTo(prompts.tiles());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void of_prompts_covers_every_prompt(boolean invariant) {
        KernelChoice choice = new KernelChoice(PLANS, GPT2, 16, true, invariant);
        Set<StepKernels> all = choice.ofPrompts(4144);
        assertThat(all).contains(choice.of(5, 1, 1, 0), choice.of(259, 1, 1, 0), choice.of(4144, 1, 1, 0));
        assertThat(all)
                .hasSizeLessThan(20)
                .allMatch(kernels -> kernels.attention() == (invariant ? Attention.PREFILL : Attention.PREFILL_WGMMA));
    }

    private static List<GemmPlan> gemmsOf(StepKernels kernels) {
        return kernels.tiles().matrices().subList(0, 4);
    }

    private static List<GemmPlan> matricesOf(StepKernels kernels) {
        return Stream.of(kernels.tiles(), kernels.sampledTiles())
                .flatMap(tiles -> tiles.matrices().stream())
                .toList();
    }

    /** Returns what determines the order of additions: warpgroups, split-K blocks and kernels. */
    private static List<Object> orderOfSums(StepKernels kernels) {
        boolean asPrefill = Set.of(Attention.PREFILL, Attention.DECODE_INVARIANT, Attention.MIXED_INVARIANT)
                .contains(kernels.attention());
        List<Object> order = new ArrayList<>(List.of(
                asPrefill ? Attention.PREFILL : kernels.attention(), kernels.fusedNorm(), kernels.fusedHeadNorm()));
        for (GemmPlan plan : matricesOf(kernels)) {
            assertThat(plan.batch())
                    .as("rows of a tile with alternating warpgroups")
                    .isLessThanOrEqualTo(64);
            order.add(plan.generic());
            order.add(plan.cluster());
        }
        return order;
    }

    @ParameterizedTest
    @CsvSource({"F16, true", "BF16, true", "F32, true", "F16, false", "INT8, true"})
    void batch_invariant_kernels_share_one_order_of_additions(ElementType type, boolean hopper) {
        ModelSpec spec = type == ElementType.INT8 ? gated(4, 2, 64).build() : GPT2.spec();
        KernelChoice choice =
                new KernelChoice(PLANS, ModelShape.of(spec, type, KvPrecision.AUTO, Shard.WHOLE), 16, hopper, true);
        List<Object> order = orderOfSums(choice.of(1, 1, 1, 1));
        for (int tokens : new int[] {2, 8, 9, 16, 17, 32, 33, 64, 65, 128, 129, 256, 257, 8192}) {
            assertThat(orderOfSums(choice.of(tokens, tokens, tokens, tokens))).isEqualTo(order);
            assertThat(orderOfSums(choice.of(tokens, 2, 1, 1))).isEqualTo(order);
            assertThat(orderOfSums(choice.of(tokens, 2, 0, 0))).isEqualTo(order);
        }
    }

    @ParameterizedTest
    @CsvSource({"64, 64, 64, DECODE_INVARIANT", "100, 3, 2, MIXED_INVARIANT", "100, 2, 0, PREFILL"})
    void batch_invariant_decode_rows_have_their_own_kernel(int tokens, int rows, int decodeRows, Attention expected) {
        KernelChoice choice = new KernelChoice(PLANS, GPT2, 16, true, true);
        assertThat(choice.of(tokens, rows, rows, decodeRows).attention()).isEqualTo(expected);
        KernelChoice odd = new KernelChoice(PLANS, GPT2, 24, true, true);
        assertThat(odd.of(tokens, rows, rows, decodeRows).attention()).isEqualTo(Attention.PREFILL);
    }

    @Test
    void blocks_not_multiple_of_16_use_the_prefill_kernel() {
        StepKernels odd = new KernelChoice(PLANS, GPT2, 24, true, false).of(64, 64, 64, 64);
        assertThat(odd).isEqualTo(StepKernels.decode(PLANS, 64).with(Attention.PREFILL));
    }

    @Test
    void buckets_cover_every_batch_up_to_any_limit() {
        for (int maxRows = 1; maxRows <= 600; maxRows++) {
            GraphBuckets buckets = GraphBuckets.ofBatches(maxRows);
            for (int rows = 1; rows <= maxRows; rows++) {
                assertThat(buckets.bucket(rows)).isBetween(rows, maxRows);
            }
            assertThat(buckets.bucket(maxRows + 1)).isZero();
        }
        assertThat(GraphBuckets.ofBatches(64).sizes())
                .contains(1, 2, 4, 8, 64)
                .hasSizeLessThan(16)
                .isSorted();
    }

    /** Padding rows are computed like any other. */
    @Test
    void buckets_of_up_to_1024_rows_add_less_than_32() {
        GraphBuckets buckets = GraphBuckets.ofBatches(1024);
        for (int rows = 1; rows <= 1024; rows++) {
            assertThat(buckets.bucket(rows) - rows).as("rows added to %d", rows).isLessThan(32);
        }
    }

    @ParameterizedTest
    @CsvSource({"8192, 131072, 16, true", "8190, 131072, 16, true", "7400, 131072, 16, false", "65536, 32768, 24, true"
    })
    void inputs_beyond_int_indices_are_rejected_with_the_option(
            int batch, int contextLength, int blockSize, boolean refused) {
        RunnerLimits limits = new RunnerLimits(2 * batch, batch, contextLength, 2 * batch, 0, blockSize, 0);
        if (refused) {
            assertThatThrownBy(() -> SampleLayout.maxBytes(limits, contextLength, 50_257))
                    .isInstanceOf(BadInput.class)
                    .hasMessageStartingWith("a step of " + 2 * batch + " rows of up to " + contextLength + " tokens")
                    .hasMessageContaining("maxBatchSize");
        } else {
            assertThat(SampleLayout.maxBytes(limits, contextLength, 50_257))
                    .isGreaterThan(4L * 2 * batch * contextLength);
        }
    }

    @Test
    void prompt_buckets_cover_every_prompt_of_two_or_more_tokens() {
        for (int maxTokens = 2; maxTokens <= 700; maxTokens++) {
            GraphBuckets buckets = GraphBuckets.ofPrompts(maxTokens, PLANS);
            for (int tokens = 2; tokens <= maxTokens; tokens++) {
                assertThat(buckets.bucket(tokens)).isBetween(tokens, maxTokens);
            }
            assertThat(buckets.bucket(maxTokens + 1)).isZero();
        }
        assertThat(GraphBuckets.ofPrompts(1024, PLANS).sizes())
                .hasSizeLessThan(24)
                .isSorted();
        assertThat(GraphBuckets.ofPrompts(0, PLANS).sizes()).isEmpty();
        assertThat(GraphBuckets.ofPrompts(1, PLANS).sizes()).isEmpty();
    }

    /** By default prompts up to 1,024 tokens are replayed in the next bucket; longer ones are launched kernel by kernel. */
    @ParameterizedTest
    @CsvSource({"2, 2", "3, 8", "16, 16", "20, 24", "512, 512", "513, 640", "1024, 1024", "1025, 0"})
    void prompt_bucket_is_the_next_size(int tokens, int bucket) {
        int most = CudaOptions.defaults().promptGraphTokens();
        assertThat(GraphBuckets.ofPrompts(most, PLANS).bucket(tokens)).isEqualTo(bucket);
    }

    /** Results do not depend on replay, with and without {@code --batch-invariant}. */
    @ParameterizedTest
    @CsvSource({
        "F16, 16, true, false",
        "F16, 16, true, true",
        "BF16, 24, true, true",
        "F16, 16, false, false",
        "F32, 16, true, false"
    })
    void prompt_buckets_have_the_kernels_of_their_prompts(
            ElementType type, int blockSize, boolean hopper, boolean invariant) {
        KernelChoice choice = new KernelChoice(
                PLANS, ModelShape.of(GPT2.spec(), type, KvPrecision.AUTO, Shard.WHOLE), blockSize, hopper, invariant);
        for (int maxTokens : new int[] {5, 100, 512, 1024}) {
            GraphBuckets buckets = GraphBuckets.ofPrompts(maxTokens, PLANS);
            for (int tokens = 2; tokens <= maxTokens; tokens++) {
                assertThat(choice.of(buckets.bucket(tokens), 1, 1, 0))
                        .as("kernels of the bucket of %d tokens", tokens)
                        .isEqualTo(choice.of(tokens, 1, 1, 0));
            }
        }
    }

    /** The cost of padding is at most one tile of a GEMM's grid. */
    @Test
    void prompt_buckets_add_at_most_a_tile_to_a_gemm() {
        GraphBuckets buckets = GraphBuckets.ofPrompts(512, PLANS);
        for (int tokens = 2; tokens <= 512; tokens++) {
            for (GemmPlan gemm : gemmsOf(new KernelChoice(PLANS, GPT2, 16, true, false).of(tokens, 1, 1, 0))) {
                int tiles = Math.ceilDiv(tokens, gemm.batch());
                assertThat(Math.ceilDiv(buckets.bucket(tokens), gemm.batch()))
                        .as("tiles of %d rows for %d tokens", gemm.batch(), tokens)
                        .isBetween(tiles, tiles + 1);
            }
        }
    }

    @Test
    void kv_blocks_follow_free_memory() {
        RunnerLimits limits = new RunnerLimits(64, 8192, 16, 0);
        long block = 12 * GPT2.layerBlockBytes(16);
        assertThat(KvSizing.geometry(GPT2, limits, 1L << 40, 0, "device").blocks())
                .isEqualTo(2 * 64 * 64);
        assertThat(KvSizing.geometry(GPT2, limits, 1100 * block, 100 * block, "device")
                        .blocks())
                .isEqualTo(920);
        assertThatThrownBy(() -> KvSizing.geometry(GPT2, limits, 60 * block, 0, "device"))
                .isInstanceOf(InsufficientMemory.class)
                .hasMessageContaining("64 KV blocks of 16 tokens need");
    }

    @Test
    void slots_of_the_pool_can_be_numbered_by_an_int() {
        RunnerLimits limits = new RunnerLimits(64, 8192, 16, 1 << 28);
        assertThat(KvSizing.geometry(GPT2, limits, Long.MAX_VALUE / 2, 0, "device")
                        .blocks())
                .isEqualTo(Integer.MAX_VALUE / 16);
    }

    /** A reserve of 8 % of the free memory is not for the pool. */
    @Test
    void scratch_memory_is_to_blame_if_the_pool_would_just_fit_without_it() {
        RunnerLimits limits = new RunnerLimits(64, 8192, 16, 0);
        long block = 12 * GPT2.layerBlockBytes(16);
        long enough = Math.round(64.5 * block / 0.92);
        assertThatThrownBy(() -> KvSizing.geometry(GPT2, limits, enough, 2 * block, "device"))
                .hasMessageContaining("smaller steps need less");
        assertThatThrownBy(() -> KvSizing.geometry(GPT2, limits, enough - block, 2 * block, "device"))
                .message()
                .doesNotContain("smaller steps need less");
    }

    @Test
    void pool_holds_a_context_or_at_least_2048_tokens() {
        ModelShape large = ModelShape.of(
                Families.shape("llama-3.1-8b").orElseThrow(), ElementType.BF16, KvPrecision.AUTO, Shard.WHOLE);
        RunnerLimits limits = new RunnerLimits(64, 8192, 16, 0);
        long block = 32 * large.layerBlockBytes(16);
        assertThat(KvSizing.geometry(large, limits, 1000 * block, 0, "device").blocks())
                .isEqualTo(920);
        assertThatThrownBy(() -> KvSizing.geometry(large, limits, 130 * block, 0, "device"))
                .isInstanceOf(InsufficientMemory.class)
                .hasMessageContaining("128 KV blocks of 16 tokens need");
    }

    private static TokenHistory history(int prompt, int... tokens) {
        return new TokenHistory() {
            @Override
            public int promptLength() {
                return prompt;
            }

            @Override
            public int length() {
                return tokens.length;
            }

            @Override
            public int token(int index) {
                return tokens[index];
            }
        };
    }

    private static StepInputs oneRow() {
        StepInputs in = new StepInputs(Arena.ofAuto(), new RunnerLimits(4, 16, 16, 0), 4);
        in.clear();
        in.beginRow(17, new int[] {9, 2});
        in.addToken(~3);
        in.endRow();
        in.sample(in.tokens() - 1, new SampleRequest(SamplingParams.greedy(), 5, history(0)));
        return in;
    }

    private static int[] ints(MemorySegment memory, long offset, int count) {
        return memory.asSlice(offset, 4L * count).toArray(ValueLayout.JAVA_INT);
    }

    @Test
    void pack_into_a_larger_bucket_adds_padding_rows() {
        InputPacker packer = new InputPacker(50_257, KvPages.of(16));
        StepLayout layout = new StepLayout(3, 3, 3);
        MemorySegment memory = Arena.ofAuto().allocate(1024, 64);
        long bytes = packer.pack(oneRow(), KernelRows.of(oneRow()), layout, 77, memory);
        assertThat(bytes).isEqualTo(layout.blocks() + 8);
        assertThat(ints(memory, StepLayout.STEP, 1)).containsExactly(77);
        assertThat(ints(memory, layout.tokenIds(), 3)).containsExactly(~3, 0, 0);
        assertThat(ints(memory, layout.positions(), 3)).containsExactly(17, 0, 0);
        assertThat(ints(memory, layout.slots(), 3)).containsExactly(33, -1, -1);
        assertThat(ints(memory, layout.rowStarts(), 4)).containsExactly(0, 1, 2, 3);
        assertThat(ints(memory, layout.contextLengths(), 3)).containsExactly(18, 0, 0);
        assertThat(ints(memory, layout.blockStarts(), 4)).containsExactly(0, 2, 2, 2);
        assertThat(ints(memory, layout.rowOrder(), 3)).containsExactly(0, 1, 2);
        assertThat(ints(memory, layout.sampleTokens(), 3)).containsExactly(0, 1, 2);
        assertThat(ints(memory, layout.blocks(), 2)).containsExactly(9, 2);
    }

    @Test
    void decode_attention_takes_rows_by_descending_context() {
        StepInputs in = new StepInputs(Arena.ofAuto(), new RunnerLimits(4, 16, 16, 0), 4);
        in.clear();
        for (int context : new int[] {5, 30, 12, 30}) {
            in.beginRow(context - 1, context > 16 ? new int[] {9, 2} : new int[] {3});
            in.addToken(40);
            in.endRow();
            in.sample(in.tokens() - 1, new SampleRequest(SamplingParams.greedy(), 5, history(0)));
        }
        StepLayout layout = new StepLayout(5, 5, 5);
        MemorySegment memory = Arena.ofAuto().allocate(1024, 64);
        new InputPacker(50_257, KvPages.of(16)).pack(in, KernelRows.of(in), layout, 1, memory);
        assertThat(ints(memory, layout.rowOrder(), 5)).containsExactly(1, 3, 2, 0, 4);
        assertThat(ints(memory, layout.contextLengths(), 5)).containsExactly(5, 30, 12, 30, 0);
    }

    @Test
    void pack_prompt_into_a_longer_bucket_adds_padding_tokens() {
        InputPacker packer = new InputPacker(50_257, KvPages.of(16));
        StepInputs in = new StepInputs(Arena.ofAuto(), new RunnerLimits(4, 16, 16, 0), 4);
        in.clear();
        in.beginRow(0, new int[] {9});
        for (int position = 0; position < 3; position++) {
            in.addToken(40 + position);
        }
        in.endRow();
        in.sample(in.tokens() - 1, new SampleRequest(SamplingParams.greedy(), 5, history(0)));
        StepLayout layout = new StepLayout(5, 1, 1);
        MemorySegment memory = Arena.ofAuto().allocate(1024, 64);
        assertThat(packer.pack(in, KernelRows.of(in), layout, 1, memory)).isEqualTo(layout.blocks() + 4);
        assertThat(ints(memory, layout.tokenIds(), 5)).containsExactly(40, 41, 42, 0, 0);
        assertThat(ints(memory, layout.positions(), 5)).containsExactly(0, 1, 2, 0, 0);
        assertThat(ints(memory, layout.slots(), 5)).containsExactly(144, 145, 146, -1, -1);
        assertThat(ints(memory, layout.rowStarts(), 2)).containsExactly(0, 3);
        assertThat(ints(memory, layout.contextLengths(), 1)).containsExactly(3);
        assertThat(ints(memory, layout.sampleTokens(), 1)).containsExactly(2);
    }

    /** Row 0 has one token; row 1 has tokens 15 to 17 in blocks 3 and 1, each with a draw. */
    private static StepInputs draftedRow(int blockSize) {
        StepInputs in = new StepInputs(Arena.ofAuto(), new RunnerLimits(4, 16, blockSize, 0).withMaxSamples(8), 2);
        in.clear();
        in.beginRow(0, new int[] {2});
        in.addToken(7);
        in.endRow();
        in.sample(0, new SampleRequest(SamplingParams.greedy(), 5, history(0)));
        in.beginRow(15, new int[] {3, 1});
        for (int token = 0; token < 3; token++) {
            in.addToken(40 + token);
        }
        in.endRow();
        for (int token = 1; token <= 3; token++) {
            in.sample(token, new SampleRequest(SamplingParams.greedy(), 5, history(0)));
        }
        return in;
    }

    @ParameterizedTest
    @ValueSource(ints = {16, 32})
    void row_with_drafts_is_packed_as_decode_rows_with_one_block_table(int blockSize) {
        StepInputs in = draftedRow(blockSize);
        KernelRows rows = KernelRows.of(in);
        assertThat(rows.rows()).isEqualTo(4);
        assertThat(rows.decodeRows()).isEqualTo(4);
        StepLayout layout = new StepLayout(8, 8, 8);
        MemorySegment memory = Arena.ofAuto().allocate(1024, 64);
        long bytes = new InputPacker(50_257, KvPages.of(blockSize)).pack(in, rows, layout, 1, memory);
        assertThat(bytes).isEqualTo(layout.blocks() + 4L * 3);
        assertThat(ints(memory, layout.tokenIds(), 5)).containsExactly(7, 40, 41, 42, 0);
        assertThat(ints(memory, layout.positions(), 5)).containsExactly(0, 15, 16, 17, 0);
        assertThat(ints(memory, layout.rowStarts(), 9)).containsExactly(0, 1, 2, 3, 4, 5, 6, 7, 8);
        assertThat(ints(memory, layout.contextLengths(), 8)).containsExactly(1, 16, 17, 18, 0, 0, 0, 0);
        assertThat(ints(memory, layout.blockStarts(), 9)).containsExactly(0, 1, 1, 1, 3, 3, 3, 3, 3);
        assertThat(ints(memory, layout.rowOrder(), 8)).containsExactly(3, 2, 1, 0, 4, 5, 6, 7);
        assertThat(ints(memory, layout.sampleTokens(), 8)).containsExactly(0, 1, 2, 3, 4, 5, 6, 7);
    }

    @Test
    void row_that_reports_or_lacks_a_draw_is_not_split() {
        StepInputs in = new StepInputs(Arena.ofAuto(), new RunnerLimits(4, 16, 16, 0).withMaxSamples(8), 2);
        in.clear();
        in.beginRow(0, new int[] {2});
        in.addToken(7);
        in.addToken(8);
        in.endRow();
        SampleRequest greedy = new SampleRequest(SamplingParams.greedy().withLogprobs(0), 5, history(0));
        in.report(0, greedy, 8);
        in.sample(1, greedy);
        in.beginRow(4, new int[] {3});
        in.addToken(9);
        in.addToken(10);
        in.endRow();
        in.sample(3, greedy);
        KernelRows rows = KernelRows.of(in);
        assertThat(rows.rows()).isEqualTo(2);
        assertThat(rows.decodeRows()).isZero();
    }

    /** A prompt in block 5, between decode rows in blocks 9 and 2, and in block 4. */
    @Test
    void pages_of_prompts_are_packed_first_if_they_are_widened() {
        StepInputs in = new StepInputs(Arena.ofAuto(), new RunnerLimits(4, 16, 16, 0), 2);
        in.clear();
        in.beginRow(17, new int[] {9, 2});
        in.addToken(7);
        in.endRow();
        in.beginRow(0, new int[] {5});
        in.addToken(8);
        in.addToken(9);
        in.endRow();
        in.beginRow(3, new int[] {4});
        in.addToken(10);
        in.endRow();
        KernelRows rows = KernelRows.of(in);
        StepLayout layout = new StepLayout(4, 3, 3);
        MemorySegment memory = Arena.ofAuto().allocate(1024, 64);
        long bytes = new InputPacker(50_257, KvPages.of(16), true).pack(in, rows, layout, 1, memory);
        assertThat(bytes).isEqualTo(layout.blocks() + 4 * 4);
        assertThat(ints(memory, layout.blockStarts(), 4)).containsExactly(1, 0, 3, 4);
        assertThat(ints(memory, layout.blocks(), 4)).containsExactly(5, 9, 2, 4);
        assertThat(KvPages.of(16).ofPrompts(in, rows)).isEqualTo(1);
    }

    /** Blocks of 48 tokens: row 0 has 50 tokens in blocks 3 and 1, row 1 has 16 in block 2. */
    @Test
    void blocks_of_several_pages_are_packed_as_used_pages() {
        StepInputs in = new StepInputs(Arena.ofAuto(), new RunnerLimits(4, 16, 48, 0), 2);
        in.clear();
        in.beginRow(49, new int[] {3, 1});
        in.addToken(7);
        in.endRow();
        in.beginRow(15, new int[] {2});
        in.addToken(8);
        in.endRow();
        StepLayout layout = new StepLayout(3, 3, 3);
        MemorySegment memory = Arena.ofAuto().allocate(1024, 64);
        long bytes = new InputPacker(50_257, KvPages.of(48)).pack(in, KernelRows.of(in), layout, 1, memory);
        assertThat(bytes).isEqualTo(layout.blocks() + 4 * 5);
        assertThat(ints(memory, layout.blockStarts(), 4)).containsExactly(0, 4, 5, 5);
        assertThat(ints(memory, layout.blocks(), 5)).containsExactly(9, 10, 11, 3, 6);
        assertThat(ints(memory, layout.slots(), 2))
                .as("the same slots, counted in pages")
                .containsExactly(3 * 16 + 1, 6 * 16 + 15);
    }

    @ParameterizedTest
    @CsvSource({"16, 16, 1", "32, 16, 2", "1024, 16, 64", "24, 24, 1", "8, 8, 1"})
    void block_multiple_of_16_is_a_run_of_pages(int blockSize, int tokens, int perBlock) {
        KvPages pages = KvPages.of(blockSize);
        assertThat(pages).isEqualTo(new KvPages(tokens, perBlock));
        assertThat(pages.of(new KvGeometry(blockSize, 10, 1L << 20)).bytes()).isEqualTo(10L << 20);
    }

    /** Rows of three tokens, the last still on the device; a request with penalties between two without. */
    @Test
    void pack_request_with_penalties_includes_its_tokens() {
        SamplingParams penalised = SamplingParams.greedy()
                .withTemperature(0.5f)
                .withTopK(7)
                .withTopP(0.9f)
                .withMinP(0.1f)
                .withRepetitionPenalty(1.3f)
                .withPresencePenalty(0.2f)
                .withFrequencyPenalty(-0.1f);
        StepInputs in = new StepInputs(Arena.ofAuto(), new RunnerLimits(4, 16, 16, 0), 4);
        in.clear();
        for (int row = 0; row < 3; row++) {
            in.beginRow(2, new int[] {row});
            in.addToken(~row);
            in.endRow();
            in.sample(
                    in.tokens() - 1,
                    new SampleRequest(row == 1 ? penalised : SamplingParams.random(), row, history(1, 40, 41)));
        }
        SampleLayout layout = new SampleLayout(3);
        MemorySegment memory = Arena.ofAuto().allocate(1024, 64);
        memory.fill((byte) 0x55);
        long bytes = new InputPacker(50_257, KvPages.of(16)).packSamples(in, memory);

        assertThat(bytes).isEqualTo(layout.bytes(3));
        long request = layout.request(1);
        assertThat(memory.get(ValueLayout.JAVA_LONG, request)).isEqualTo(1);
        assertThat(memory.asSlice(request + 8, 28).toArray(ValueLayout.JAVA_FLOAT))
                .containsExactly(0.5f, Float.intBitsToFloat(7), 0.9f, 0.1f, 1.3f, 0.2f, -0.1f);
        int[] rest = ints(memory, request + 36, 5);
        assertThat(rest)
                .as("position, history start, its length, the prompt's, log-probabilities")
                .containsExactly(3, rest[1], 3, 1, -1);
        assertThat(ints(memory, layout.bytes(rest[1]), 3)).containsExactly(40, 41, ~1);
        for (int other : new int[] {0, 2}) {
            assertThat(ints(memory, layout.request(other) + 44, 1))
                    .as("history of sample %d", other)
                    .containsExactly(0);
        }
    }

    /** Three samples: one with biases after a history, two with one mask. */
    @Test
    void masks_and_biases_are_packed_after_histories() {
        StepInputs in = new StepInputs(Arena.ofAuto(), new RunnerLimits(4, 16, 16, 0), 4);
        TokenMask mask = TokenMask.of(70, List.of(1, 33, 69));
        in.clear();
        for (int row = 0; row < 3; row++) {
            in.beginRow(0, new int[] {row});
            in.addToken(40);
            in.endRow();
            SamplingParams params = row == 0 ? SamplingParams.random().withPresencePenalty(1) : SamplingParams.random();
            in.sample(in.tokens() - 1, new SampleRequest(params, 0, history(0)));
            if (row == 0) {
                in.bias(5, 1.5f);
                in.bias(6, Float.NEGATIVE_INFINITY);
            } else {
                in.mask(mask);
            }
        }
        SampleLayout layout = new SampleLayout(3);
        MemorySegment memory = Arena.ofAuto().allocate(1024, 64);
        memory.fill((byte) 0x55);
        long bytes = new InputPacker(70, KvPages.of(16)).packSamples(in, memory);
        assertThat(bytes).isEqualTo(layout.bytes(1 + 5 + 3));
        assertThat(ints(memory, layout.tail(), 9))
                .containsExactly(
                        40,
                        2,
                        5,
                        6,
                        Float.floatToRawIntBits(1.5f),
                        Float.floatToRawIntBits(Float.NEGATIVE_INFINITY),
                        1 << 1,
                        1 << 1,
                        1 << 5);
        for (int sample = 0; sample < 3; sample++) {
            assertThat(ints(memory, layout.request(sample) + 56, 2))
                    .as("mask and bias start of sample %d", sample)
                    .containsExactly(sample == 0 ? -1 : 6, sample == 0 ? 1 : -1);
        }
    }

    /** A row of four tokens after two earlier ones, sampled after three of them. */
    @Test
    void samples_of_a_row_share_its_history() {
        SamplingParams penalized = SamplingParams.random().withRepetitionPenalty(1.3f);
        StepInputs in = new StepInputs(Arena.ofAuto(), new RunnerLimits(4, 16, 16, 0), 4);
        in.clear();
        in.beginRow(2, new int[] {0});
        for (int id : new int[] {~0, 7, 8, 9}) {
            in.addToken(id);
        }
        in.endRow();
        for (int token : new int[] {0, 2, 3}) {
            in.sample(
                    token,
                    new SampleRequest(token == 2 ? SamplingParams.random() : penalized, 0, history(1, 40, 41, 42)));
        }
        StepLayout pass = new StepLayout(4, 1, 3);
        SampleLayout layout = new SampleLayout(3);
        MemorySegment memory = Arena.ofAuto().allocate(1024, 64);
        InputPacker packer = new InputPacker(50_257, KvPages.of(16));
        assertThat(packer.pack(in, KernelRows.of(in), pass, 1, memory)).isEqualTo(pass.bytes(1));
        assertThat(ints(memory, pass.sampleTokens(), 3)).containsExactly(0, 2, 3);
        assertThat(packer.packSamples(in, memory)).isEqualTo(layout.bytes(6));
        assertThat(ints(memory, layout.tail(), 6)).containsExactly(40, 41, ~0, 7, 8, 9);
        assertThat(ints(memory, layout.request(0) + 36, 4))
                .as("position, history start, its length, the prompt's")
                .containsExactly(3, 0, 3, 1);
        assertThat(ints(memory, layout.request(1) + 36, 3)).containsExactly(5, 0, 0);
        assertThat(ints(memory, layout.request(2) + 36, 4)).containsExactly(6, 0, 6, 1);
    }

    private static SpecBuilder gated(int heads, int kvHeads, int headSize) {
        return SpecBuilder.named("m")
                .width(128)
                .heads(heads, kvHeads, headSize)
                .norm(Norm.rms(1e-6f))
                .positions(Positions.Rope.plain(10_000, headSize))
                .activation(Activation.SILU)
                .gated();
    }

    @Test
    void unsupported_model_is_rejected_by_feature() {
        ModelSpec silu = SpecBuilder.named("m").activation(Activation.SILU).build();
        assertThatThrownBy(() -> ModelShape.of(silu, ElementType.F16, KvPrecision.AUTO, Shard.WHOLE))
                .isInstanceOf(BadModel.class)
                .hasMessageContaining("m has an MLP with SILU and no gate");
        ModelSpec plain = gated(4, 2, 32).build();
        ModelSpec scaled = new ModelSpec("m", 1000, 64, 128, 11.3f, plain.blocks(), plain.head(), plain.endOfText());
        assertThatThrownBy(() -> ModelShape.of(scaled, ElementType.F16, KvPrecision.AUTO, Shard.WHOLE))
                .isInstanceOf(BadModel.class)
                .hasMessageContaining("m has a scaled token embedding; device cuda does not support this");
    }

    @Test
    void int8_weights_are_rejected_for_unsupported_blocks() {
        Map<String, ModelSpec> refused = Map.of(
                "layer norms", GPT2.spec(),
                "learned positions",
                        gated(4, 2, 32).positions(new Positions.Learned()).build(),
                "attention and MLP side by side", gated(4, 2, 32).parallel().build());
        refused.forEach((what, spec) -> assertThatThrownBy(
                        () -> ModelShape.of(spec, ElementType.INT8, KvPrecision.AUTO, Shard.WHOLE))
                .isInstanceOf(BadModel.class)
                .hasMessageStartingWith(
                        spec.name() + " has " + what + "; int8 weights on cuda are for models with RMS norms")
                .hasMessageContaining("use another precision, or use device cpu"));
        ModelSpec ungated = SpecBuilder.named("m")
                .norm(Norm.rms(1e-6f))
                .positions(Positions.Rope.plain(10_000, 16))
                .build();
        assertThatThrownBy(() -> ModelShape.of(ungated, ElementType.INT8, KvPrecision.AUTO, Shard.WHOLE))
                .hasMessageStartingWith("m has an MLP without a gate; int8 weights");
    }

    @Test
    void int8_weights_have_bf16_activations_and_kv_cache() {
        ModelShape shape = ModelShape.of(gated(4, 2, 64).build(), ElementType.INT8, KvPrecision.AUTO, Shard.WHOLE);
        assertThat(shape.type()).isEqualTo(ElementType.BF16);
        assertThat(shape.weights()).isEqualTo(ElementType.INT8);
        assertThat(shape.layerBlockBytes(16)).isEqualTo(2L * 2 * 64 * 16 * 2);
    }

    /** Norms are never folded into int8 weights, so GEMMs must fuse them or the norm weights would be lost. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void int8_gemms_fuse_all_norms_but_the_heads(boolean invariant) {
        ModelShape shape = ModelShape.of(gated(4, 2, 64).build(), ElementType.INT8, KvPrecision.AUTO, Shard.WHOLE);
        TilePlans plans = TABLE.of(shape.layerWeights(), ElementType.INT8);
        KernelChoice choice = new KernelChoice(plans, shape, 16, true, invariant);
        for (int rows : new int[] {1, 8, 64, 300, 4000}) {
            StepKernels kernels = choice.of(rows, rows, rows, rows);
            assertThat(kernels.fusedNorm()).isTrue();
            assertThat(kernels.fusedHeadNorm()).isFalse();
            assertThat(kernels.tiles().matrices()).noneMatch(GemmPlan::generic);
        }
    }

    @Test
    void gqa_sizes_follow_the_kv_heads() {
        ModelShape shape = ModelShape.of(gated(6, 2, 20).build(), ElementType.BF16, KvPrecision.AUTO, Shard.WHOLE);
        assertThat(shape.attention()).isEqualTo(6 * 32);
        assertThat(shape.kvWidth()).isEqualTo(2 * 32);
        assertThat(shape.layerBlockBytes(16)).isEqualTo(2L * 2 * 32 * 16 * 2);
        assertThat(shape.plainAttention()).isFalse();
    }

    /** The residual stream of models with RMS norm exceeds the fp16 maximum of 65,504. */
    @ParameterizedTest
    @CsvSource({"BF16, true", "F16, false"})
    void rms_norm_is_fused_if_the_stream_fits_the_type(ElementType type, boolean fused) {
        ModelShape shape = ModelShape.of(gated(4, 2, 64).build(), type, KvPrecision.AUTO, Shard.WHOLE);
        StepKernels kernels = new KernelChoice(PLANS, shape, 16, true, false).of(4, 4, 4, 4);
        assertThat(kernels.tiles().qkv().generic()).isFalse();
        assertThat(kernels.fusedNorm()).isEqualTo(fused);
        assertThat(kernels.fusedHeadNorm()).isFalse();
    }

    @ParameterizedTest
    @CsvSource({
        "16, 64, DECODE_GQA",
        "16, 0, PREFILL_WGMMA",
        "16, 2, MIXED_GQA",
        "32, 64, PREFILL_GQA",
        "32, 0, PREFILL_GQA"
    })
    void gqa_attention_depends_on_decode_rows(int blockSize, int decodeRows, Attention expected) {
        ModelShape shared = ModelShape.of(gated(4, 2, 64).build(), ElementType.BF16, KvPrecision.AUTO, Shard.WHOLE);
        KernelChoice choice = new KernelChoice(PLANS, shared, blockSize, true, false);
        assertThat(choice.of(decodeRows == 64 ? 64 : 100, 64, 64, decodeRows).attention())
                .isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({
        "true, AUTO, 1, 1, DECODE_GQA_ROPE",
        "true, AUTO, 96, 96, DECODE_GQA_ROPE",
        "true, AUTO, 96, 95, MIXED_GQA",
        "true, FP8, 1, 1, DECODE_GQA_ROPE",
        "false, AUTO, 1, 1, DECODE_GQA"
    })
    void attention_of_decode_steps_applies_qk_norm(
            boolean qkNorms, KvPrecision kvCacheDtype, int rows, int decodeRows, Attention expected) {
        SpecBuilder spec = gated(4, 2, 64);
        ModelSpec model = qkNorms ? spec.qkNorms().build() : spec.build();
        ModelShape shape = ModelShape.of(model, ElementType.BF16, kvCacheDtype, Shard.WHOLE);
        KernelChoice choice = new KernelChoice(PLANS, shape, 16, true, false);
        int tokens = decodeRows + 10 * (rows - decodeRows);
        assertThat(choice.of(tokens, rows, rows, decodeRows).attention()).isEqualTo(expected);
    }

    @Test
    void batch_invariant_gqa_uses_one_kernel() {
        ModelShape shared = ModelShape.of(gated(4, 2, 64).build(), ElementType.BF16, KvPrecision.AUTO, Shard.WHOLE);
        KernelChoice choice = new KernelChoice(PLANS, shared, 16, true, true);
        assertThat(choice.of(64, 64, 64, 64).attention()).isEqualTo(Attention.PREFILL_GQA);
        assertThat(choice.of(100, 20, 20, 19).attention()).isEqualTo(Attention.PREFILL_GQA);
        assertThat(choice.of(100, 2, 2, 0).attention()).isEqualTo(Attention.PREFILL_GQA);
    }

    @ParameterizedTest
    @CsvSource({"36, 4, 64, BF16", "8, 2, 32, BF16", "8, 2, 64, F32"})
    void unsupported_gqa_uses_the_generic_kernel(int heads, int kvHeads, int headSize, ElementType type) {
        ModelShape shape = ModelShape.of(gated(heads, kvHeads, headSize).build(), type, KvPrecision.AUTO, Shard.WHOLE);
        KernelChoice choice = new KernelChoice(PLANS, shape, 16, true, false);
        assertThat(choice.of(64, 64, 64, 64).attention()).isEqualTo(Attention.GENERIC);
        assertThat(choice.of(100, 2, 2, 0).attention()).isEqualTo(Attention.GENERIC);
    }

    @ParameterizedTest
    @CsvSource({
        "64, 1, 8, 8",
        "64, 2, 8, 8",
        "64, 3, 8, 4",
        "64, 8, 8, 4",
        "64, 8, 3, 4",
        "64, 16, 8, 2",
        "64, 33, 8, 1",
        "64, 256, 8, 1",
        "128, 2, 8, 8",
        "128, 4, 8, 4",
        "128, 8, 8, 2",
        "128, 16, 8, 2",
        "128, 24, 8, 2",
        "128, 25, 8, 1"
    })
    void clusters_grow_as_rows_become_few(int headSize, int rows, int kvHeads, int cluster) {
        for (int kvElementBytes : new int[] {1, 2}) {
            GqaAttention attention = new GqaAttention(headSize, kvElementBytes);
            assertThat(attention.cluster(rows, kvHeads, 132)).isEqualTo(cluster);
            assertThat(attention.sharedBytes(rows, kvHeads, 132)).isLessThanOrEqualTo(MAX_SHARED_BYTES);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "64, 2, 256, 4",
        "128, 1, 256, 4",
        "128, 2, 1, 3",
        "128, 2, 16, 3",
        "128, 2, 24, 2", // in clusters of 2
        "128, 2, 32, 3",
        "128, 2, 66, 3",
        "128, 2, 67, 2"
    })
    void many_attention_blocks_have_shorter_rings(int headSize, int kvElementBytes, int rows, int stages) {
        assertThat(new GqaAttention(headSize, kvElementBytes).stages(rows, 8, 132))
                .isEqualTo(stages);
    }

    @ParameterizedTest
    @CsvSource({
        // blocks with 16-bit keys, then with fp8 keys; with many rows they take what their rings need
        "64, 1, 8, 69888, 69888",
        "64, 8, 8, 69888, 69888",
        "64, 32, 8, 78848, 78848",
        "64, 256, 8, 69888, 37120",
        "128, 1, 8, 106752, 106752",
        "128, 32, 8, 106752, 106752",
        "128, 64, 8, 106752, 73984"
    })
    void few_attention_blocks_request_more_shared_memory(int headSize, int rows, int kvHeads, int wide, int narrow) {
        assertThat(new GqaAttention(headSize, 2).sharedBytes(rows, kvHeads, 132))
                .isEqualTo(wide);
        assertThat(new GqaAttention(headSize, 1).sharedBytes(rows, kvHeads, 132))
                .isEqualTo(narrow);
    }

    @ParameterizedTest
    @EnumSource(
            value = ElementType.class,
            names = {"F32", "F16", "BF16"})
    void fp8_kv_cache_takes_a_byte_per_element(ElementType type) {
        ModelShape wide = ModelShape.of(gated(4, 2, 64).build(), type, KvPrecision.AUTO, Shard.WHOLE);
        ModelShape narrow = ModelShape.of(gated(4, 2, 64).build(), type, KvPrecision.FP8, Shard.WHOLE);
        assertThat(wide.layerBlockBytes(16)).isEqualTo(type.bytes() * narrow.layerBlockBytes(16));
    }

    @Test
    void fp8_kv_cache_uses_gqa_kernels() {
        ModelShape narrow = ModelShape.of(gated(4, 4, 64).build(), ElementType.BF16, KvPrecision.FP8, Shard.WHOLE);
        KernelChoice choice = new KernelChoice(PLANS, narrow, 16, true, false);
        assertThat(choice.of(64, 64, 64, 64).attention()).isEqualTo(Attention.DECODE_GQA);
        assertThat(choice.of(100, 64, 64, 3).attention()).isEqualTo(Attention.MIXED_GQA);
        assertThat(choice.of(100, 2, 2, 0).attention()).isEqualTo(Attention.PREFILL_WGMMA);
        assertThat(choice.ofLongPrompts(100, 2, 2, 0).attention()).isEqualTo(Attention.PREFILL_GQA);
    }

    /** The model's context is 64 tokens. */
    @ParameterizedTest
    @CsvSource({"FP8, true, false, 12", "AUTO, true, false, 0", "FP8, true, true, 0", "FP8, false, false, 0"})
    void pages_of_an_fp8_kv_cache_are_widened_for_hopper(
            KvPrecision kvCacheDtype, boolean hopper, boolean batchInvariant, int pages) {
        ModelSpec model = gated(4, 2, 64).context(64).build();
        ModelShape shape = ModelShape.of(model, ElementType.BF16, kvCacheDtype, Shard.WHOLE);
        KernelChoice choice = new KernelChoice(PLANS, shape, 16, hopper, batchInvariant);
        assertThat(choice.widePages(new RunnerLimits(3, 16, 16, 0))).isEqualTo(pages);
        assertThat(choice.widePages(new RunnerLimits(4096, 4096, 16, 0))).isEqualTo(Math.min(pages * 4096, 4096));
    }

    /** The heads of models of 1B, 0.6B, 8B and 124M, then of a group of seven. */
    @ParameterizedTest
    @CsvSource({
        "64, 32, 8, 1024, 1, 3, 1, 132",
        "128, 16, 8, 1024, 1, 2, 1, 132",
        "128, 16, 8, 256, 1, 1, 1, 144",
        "128, 16, 8, 1032, 1, 1, 1, 264",
        "128, 16, 8, 1280, 1, 3, 1, 112",
        "128, 32, 8, 512, 1, 2, 1, 132",
        "128, 24, 8, 768, 1, 1, 0, 264",
        "128, 32, 8, 2048, 1, 3, 1, 132",
        "64, 12, 12, 4144, 16, 3, 0, 132",
        "64, 14, 2, 5, 1, 1, 0, 28",
    })
    void prefill_launch_follows_the_step(
            int headSize, int heads, int kvHeads, int tokens, int rows, int warpgroups, int packShift, int blocks) {
        WgmmaPrefill prefill = new WgmmaPrefill(headSize, heads, kvHeads);
        assertThat(prefill.warpgroups(tokens, rows, 132)).isEqualTo(warpgroups);
        assertThat(prefill.packShift()).isEqualTo(packShift);
        assertThat(prefill.blocks(warpgroups, tokens, rows, 132)).isEqualTo(blocks);
    }

    /** Results do not depend on replay: warpgroups of different widths have key tiles of different lengths. */
    @ParameterizedTest
    @CsvSource({"128, 16, 8", "128, 32, 8", "128, 64, 8", "64, 32, 8"})
    void prompt_buckets_have_the_attention_of_their_prompts(int headSize, int heads, int kvHeads) {
        GraphBuckets buckets = GraphBuckets.ofPrompts(1024, PLANS);
        WgmmaPrefill prefill = new WgmmaPrefill(headSize, heads, kvHeads);
        for (int tokens = 2; tokens <= 1024; tokens++) {
            assertThat(prefill.warpgroups(buckets.bucket(tokens), 1, 132))
                    .as("warpgroups of the bucket of %d tokens", tokens)
                    .isEqualTo(prefill.warpgroups(tokens, 1, 132));
        }
    }

    /** Two blocks of one warpgroup run on an SM of 228 KiB, of which each takes a KiB more than it asks for. */
    @ParameterizedTest
    @CsvSource({"64, 1, 2", "128, 1, 2", "128, 2, 1", "64, 3, 1", "128, 3, 1"})
    void prefill_blocks_fit_an_sm(int headSize, int warpgroups, int blocks) {
        int bytes = new WgmmaPrefill(headSize, 8, 8).sharedBytes(warpgroups);
        assertThat(bytes).isLessThanOrEqualTo(MAX_SHARED_BYTES);
        assertThat(blocks * (bytes + 2048)).isLessThanOrEqualTo(228 * 1024);
    }

    @Test
    void fp8_kv_cache_is_rejected_without_kernels_for_the_model() {
        assertThatThrownBy(() -> ModelShape.of(
                        Families.shape("gpt2").orElseThrow(), ElementType.F16, KvPrecision.FP8, Shard.WHOLE))
                .isInstanceOf(BadModel.class)
                .hasMessage("gpt2 has learned positions and no shared KV heads; there are no fp8 KV-cache kernels for"
                        + " such models; use kvCache auto");
    }

    @ParameterizedTest
    @CsvSource({
        "AUTO, F32, false, F16",
        "AUTO, F32, true, BF16",
        "AUTO, F16, true, F16",
        "AUTO, BF16, false, BF16",
        "FP16, F32, true, F16",
        "INT8, BF16, true, INT8"
    })
    void type_depends_on_checkpoint_and_norms(Precision asked, DType checkpoint, boolean rmsNorms, ElementType type) {
        assertThat(ElementType.of(asked, checkpoint, rmsNorms)).isEqualTo(type);
    }

    /** A prompt of 20 tokens, and a row of drafts, which runs as decode rows. */
    @Test
    void pages_of_prompts_are_not_those_of_rows_of_drafts() {
        StepInputs in = new StepInputs(Arena.ofAuto(), new RunnerLimits(4, 64, 16, 8).withMaxSamples(8), 8);
        SampleRequest request = new SampleRequest(SamplingParams.greedy(), 0, TokenHistory.NONE);
        in.clear();
        in.beginRow(0, new int[] {3, 1});
        for (int i = 0; i < 20; i++) {
            in.addToken(7);
        }
        in.endRow();
        in.beginRow(40, new int[] {0, 2, 4});
        for (int i = 0; i < 3; i++) {
            in.addToken(8);
        }
        in.endRow();
        for (int i = 0; i < 3; i++) {
            in.sample(20 + i, request);
        }
        assertThat(KvPages.of(16).ofPrompts(in, KernelRows.of(in))).isEqualTo(2);
    }
}

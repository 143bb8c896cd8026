package io.roseinfer.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.backend.KvGeometry;
import io.roseinfer.backend.KvPrecision;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.cuda.DeviceWeights.Heads;
import io.roseinfer.backend.cuda.DeviceWeights.Layer;
import io.roseinfer.backend.cuda.DeviceWeights.Projection;
import io.roseinfer.backend.cuda.ForwardPass.Choice;
import io.roseinfer.backend.cuda.Signatures.Family;
import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.model.Activation;
import io.roseinfer.model.BlockSpec;
import io.roseinfer.model.BlockSpec.Norm;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.Positions;
import io.roseinfer.model.SpecBuilder;
import io.roseinfer.model.family.Families;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.bytedeco.cuda.cudart.CUevent_st;
import org.bytedeco.cuda.cudart.CUfunc_st;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The launches of steps, checked against {@code launches.txt} without a GPU. */
class StepLaunchesTest {
    private static final TileTable TABLE = TileTable.load();
    private static final Signatures DECLARED = Signatures.load();
    private static final int MULTIPROCESSORS = 132;
    private static final int MAX_SHARED_BYTES = 232_448;
    private static final int MAX_GRID_Y = 65_535;

    /** One kernel of each family that loads weights rather than runs in a step. */
    private static final List<String> AT_LOAD = List.of(
            "pack_bf16", "column_sums_bf16", "fold_bias", "int8_scales", "pack_int8", "int8_table", "convert_bf16");

    /** A step in numbers: tokens, rows, samples, rows of one token. */
    private record Size(int tokens, int rows, int samples, int decodeRows) {}

    private static final Map<ElementType, List<Recorded>> STEPS = new EnumMap<>(ElementType.class);

    private static final List<Size> SIZES = List.of(
            new Size(1, 1, 1, 1),
            new Size(64, 64, 64, 64),
            new Size(129, 129, 129, 129),
            new Size(5, 1, 1, 0),
            new Size(100, 3, 3, 2),
            new Size(100, 3, 2, 1),
            new Size(100, 1, 0, 0),
            new Size(1024, 1, 1, 0),
            new Size(4144, 2, 2, 0));

    /** A recorded launch, with its integer arguments by name. */
    private record Launch(
            String kernel,
            int gridX,
            int gridY,
            int threads,
            int sharedBytes,
            int cluster,
            Map<String, Integer> integers) {}

    /** The launches of a step of a model, in order. */
    private record Recorded(ModelShape shape, int blockSize, StepBuffers buffers, Size size, List<Launch> launches) {}

    /** Records launches of declared kernels. */
    private static final class Recorder implements Launcher.Sink {
        private final boolean overlaps;
        private final MemorySegment values = Arena.ofAuto().allocate(8L * Signature.MAX_ARGUMENTS, 16);
        private final List<Launch> launches = new ArrayList<>();

        Recorder(boolean overlaps) {
            this.overlaps = overlaps;
        }

        @Override
        public Kernel kernel(String name) {
            return new Kernel(DECLARED.of(name), new CUfunc_st());
        }

        @Override
        public boolean overlaps() {
            return overlaps;
        }

        @Override
        public MemorySegment values() {
            return values;
        }

        @Override
        public void prepare(Kernel kernel, int bytes) {}

        @Override
        public void submit(Launcher launch) {
            launches.add(new Launch(
                    launch.kernel().name(),
                    launch.gridX(),
                    launch.gridY(),
                    launch.threads(),
                    launch.sharedBytes(),
                    launch.cluster(),
                    integers(DECLARED.of(launch.kernel().name()))));
        }

        private Map<String, Integer> integers(Signature signature) {
            Map<String, Integer> integers = new HashMap<>();
            for (int i = 0; i < signature.arguments().size(); i++) {
                if (signature.arguments().get(i).kind() == Signature.Kind.INTEGER) {
                    integers.put(signature.arguments().get(i).name(), values.get(ValueLayout.JAVA_INT, 8L * i));
                }
            }
            return integers;
        }

        /** Returns the launches since the last call. */
        List<Launch> take() {
            List<Launch> taken = List.copyOf(launches);
            launches.clear();
            return taken;
        }
    }

    /** Memory that nothing reads. */
    private static final class Addresses implements DeviceMemory.Source {
        private long next = 1 << 20;

        @Override
        public int allocate(long[] address, long bytes) {
            address[0] = next;
            next += bytes;
            return 0;
        }

        @Override
        public int free(long address) {
            return 0;
        }

        @Override
        public long freeBytes() {
            return Long.MAX_VALUE;
        }
    }

    private static SpecBuilder plain(int heads, int headSize) {
        return SpecBuilder.named("plain")
                .width(256)
                .layers(2)
                .heads(heads, heads, headSize)
                .activation(Activation.GELU_TANH);
    }

    private static SpecBuilder gated(int heads, int kvHeads, int headSize) {
        return SpecBuilder.named("gated")
                .width(256)
                .layers(2)
                .heads(heads, kvHeads, headSize)
                .norm(Norm.rms(1e-6f))
                .positions(Positions.Rope.plain(10_000, headSize))
                .activation(Activation.SILU)
                .gated();
    }

    private static Stream<ModelSpec> models() {
        return Stream.of(
                Families.shape("gpt2").orElseThrow(),
                Families.shape("qwen3-0.6b").orElseThrow(),
                Families.shape("llama-3.2-1b").orElseThrow(),
                plain(4, 64).build(),
                plain(8, 32).build(),
                plain(4, 64).gated().build(),
                plain(4, 64).positions(Positions.Rope.plain(10_000, 64)).build(),
                gated(4, 2, 64).build(),
                gated(4, 2, 64).qkNorms().build(),
                gated(4, 2, 64).window(layer -> 8 * (1 + layer)).build(),
                gated(4, 2, 64).parallel().build(),
                gated(4, 4, 64).positions(new Positions.Learned()).build(),
                gated(4, 2, 128).build(),
                gated(4, 2, 128).qkNorms().build(),
                gated(4, 2, 32).qkNorms().build());
    }

    /** Returns a model's sizes, unless CUDA rejects it with these types. */
    private static Optional<ModelShape> shape(ModelSpec spec, ElementType weights, KvPrecision kvCacheDtype) {
        try {
            return Optional.of(ModelShape.of(spec, weights, kvCacheDtype, Shard.WHOLE));
        } catch (BadModel e) {
            return Optional.empty();
        }
    }

    private static DeviceWeights weights(ModelShape shape, DeviceMemory memory) {
        ModelSpec spec = shape.spec();
        int qkv = ModelShape.roundUp(shape.attention() + 2 * shape.kvWidth(), ModelShape.TILE);
        int inner = ModelShape.roundUp((spec.mlp().gated() ? 2 : 1) * spec.mlp().inner(), ModelShape.TILE);
        List<Layer> layers = IntStream.range(0, spec.layers())
                .mapToObj(i -> new Layer(
                        projection(qkv, shape.stride(), memory),
                        heads(spec.block(i), memory),
                        projection(shape.stride(), shape.paddedAttention(), memory),
                        projection(inner, shape.stride(), memory),
                        projection(shape.stride(), shape.paddedInner(), memory)))
                .toList();
        Projection head = projection(shape.paddedVocabulary(), shape.stride(), memory);
        return new DeviceWeights(
                memory.allocate("w", 1), memory.allocate("w", 1), memory.allocate("w", 1), layers, head);
    }

    private static Projection projection(int outputs, int inputs, DeviceMemory memory) {
        return new Projection(
                memory.allocate("w", 1),
                memory.allocate("w", 1),
                memory.allocate("w", 1),
                memory.allocate("w", 1),
                outputs,
                inputs);
    }

    private static Heads heads(BlockSpec block, DeviceMemory memory) {
        return new Heads(block.attention().qkNorms() ? memory.allocate("w", 1) : 0, memory.allocate("w", 1));
    }

    private static PendingStep pending(int buffer) {
        MemorySegment memory = Arena.ofAuto().allocate(64, 64);
        return new PendingStep(
                buffer, memory, memory, new TokenSlots(memory), new LogprobSlots(memory), new CUevent_st());
    }

    /** Returns the steps of a model on one kind of device. */
    private static List<Recorded> steps(ModelShape shape, int blockSize, boolean hopper, boolean invariant) {
        List<Recorded> steps = new ArrayList<>();
        Recorder recorder = new Recorder(hopper);
        DeviceMemory memory = new DeviceMemory(new Addresses(), "device");
        TilePlans plans = TABLE.of(shape.layerWeights(), shape.weights());
        KernelChoice choice = new KernelChoice(plans, shape, blockSize, hopper, invariant);
        RunnerLimits limits = new RunnerLimits(256, 4144, blockSize, 0);
        StepBuffers buffers = StepBuffers.plan(shape, limits, choice.widePages(limits), choice.fusesNorms())
                .allocate(memory, 1L << 30);
        ForwardPass forward = new ForwardPass(
                shape,
                weights(shape, memory),
                buffers,
                new Launcher(recorder),
                MULTIPROCESSORS,
                new KvGeometry(blockSize, 256, 1L << 30),
                List.of(pending(0), pending(1)));
        for (Size size : SIZES) {
            StepLayout layout = new StepLayout(size.tokens(), size.rows(), size.samples());
            List<StepKernels> kernels = new ArrayList<>();
            kernels.add(choice.of(size.tokens(), size.rows(), size.samples(), size.decodeRows()));
            if (choice.widePages(limits) > 0) {
                kernels.add(choice.ofLongPrompts(size.tokens(), size.rows(), size.samples(), size.decodeRows()));
            }
            for (StepKernels chosen : kernels) {
                for (Choice each : Choice.values()) {
                    ForwardPass.Step step = new ForwardPass.Step(layout, chosen, size.decodeRows(), each, 0);
                    forward.run(step);
                    if (each == Choice.DRAW && size.samples() > 0) {
                        forward.draw(step, size.samples());
                    }
                    steps.add(new Recorded(shape, blockSize, buffers, size, recorder.take()));
                }
            }
        }
        return steps;
    }

    /** Returns the distinct launches of all models with one type of weights. */
    private static Set<Launch> of(ElementType weights) {
        return steps(weights).stream()
                .flatMap(step -> step.launches().stream())
                .collect(Collectors.toCollection(LinkedHashSet::new));
    }

    private static List<Recorded> steps(ElementType weights) {
        return STEPS.computeIfAbsent(weights, StepLaunchesTest::allSteps);
    }

    private static List<Recorded> allSteps(ElementType weights) {
        List<Recorded> all = new ArrayList<>();
        for (KvPrecision kvCacheDtype : KvPrecision.values()) {
            models().flatMap(spec -> shape(spec, weights, kvCacheDtype).stream())
                    .forEach(shape -> {
                        for (int blockSize : new int[] {16, 24}) {
                            all.addAll(steps(shape, blockSize, true, false));
                            all.addAll(steps(shape, blockSize, true, true));
                            if (weights != ElementType.INT8) {
                                all.addAll(steps(shape, blockSize, false, false));
                            }
                        }
                    });
        }
        return all;
    }

    /** {@link Launcher} throws if they differ. */
    @ParameterizedTest
    @EnumSource(ElementType.class)
    void launches_of_every_step_have_the_declared_arguments(ElementType weights) {
        assertThat(of(weights)).hasSizeGreaterThan(50);
    }

    /** The limits of a Hopper GPU. */
    @ParameterizedTest
    @EnumSource(ElementType.class)
    void launches_of_every_step_fit_the_device(ElementType weights) {
        assertThat(of(weights)).allSatisfy(launch -> {
            assertThat(launch.gridX()).isPositive();
            assertThat(launch.gridX() % launch.cluster()).isZero();
            assertThat(launch.gridY()).isBetween(1, MAX_GRID_Y);
            assertThat(launch.threads()).isBetween(32, 1024);
            assertThat(launch.sharedBytes()).isBetween(0, MAX_SHARED_BYTES);
        });
    }

    /** Kernels name these arguments alike. */
    @ParameterizedTest
    @EnumSource(ElementType.class)
    void arguments_of_the_same_name_are_the_same_number_of_the_model(ElementType weights) {
        for (Recorded step : steps(weights)) {
            ModelShape shape = step.shape();
            Map<String, Integer> expected = Map.of(
                    "heads", shape.heads(),
                    "kvHeads", shape.kvHeads(),
                    "headPad", shape.headPad(),
                    "headSize", shape.spec().block(0).attention().headSize(),
                    "queryWidth", shape.attention(),
                    "kvWidth", shape.kvWidth(),
                    "blockSize", step.blockSize(),
                    "vocabulary", shape.spec().vocabularySize());
            for (Launch launch : step.launches()) {
                Map<String, Integer> seen = new HashMap<>(launch.integers());
                seen.keySet().retainAll(expected.keySet());
                assertThat(expected).as(launch.kernel()).containsAllEntriesOf(seen);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(ElementType.class)
    void attention_has_the_window_of_its_block(ElementType weights) {
        for (Recorded step : steps(weights)) {
            ModelSpec spec = step.shape().spec();
            List<Integer> windows = step.launches().stream()
                    .flatMap(launch -> Stream.ofNullable(launch.integers().get("window")))
                    .toList();
            assertThat(windows.size() % spec.layers() == 0 || step.size().samples() == 0)
                    .as("%d windows", windows.size())
                    .isTrue();
            int each = Math.ceilDiv(windows.size(), spec.layers());
            for (int i = 0; i < windows.size(); i++) {
                assertThat(windows.get(i))
                        .isEqualTo(spec.block(i / each).attention().window());
            }
        }
    }

    @ParameterizedTest
    @EnumSource(ElementType.class)
    void prompts_skip_decode_rows_exactly_if_another_kernel_attends_them(ElementType weights) {
        for (Recorded step : steps(weights)) {
            boolean attended =
                    step.launches().stream().anyMatch(launch -> launch.kernel().startsWith("attention_decode"));
            assertThat(step.launches().stream()
                            .flatMap(launch ->
                                    Stream.ofNullable(launch.integers().get("skipDecodeRows"))))
                    .as("%s", step.size())
                    .allMatch(skips -> skips == (attended ? 1 : 0));
        }
    }

    @ParameterizedTest
    @EnumSource(ElementType.class)
    void grids_cover_the_tokens_rows_and_samples_of_their_step(ElementType weights) {
        for (Recorded step : steps(weights)) {
            for (Launch launch : step.launches()) {
                assertThat(List.of(launch.gridX(), launch.gridY()))
                        .as("%s in a step of %s", launch, step.size())
                        .isEqualTo(grid(step, launch));
            }
        }
    }

    /** Returns the expected grid of a launch; the recorded one if it depends on the number of SMs. */
    private static List<Integer> grid(Recorded step, Launch launch) {
        String kernel = launch.kernel();
        Size size = step.size();
        int heads = step.shape().heads();
        int kvHeads = step.shape().kvHeads();
        int rows = launch.integers().getOrDefault("rows", 0);
        if (kernel.startsWith("embed")) {
            return List.of(size.tokens(), 1);
        } else if (kernel.startsWith("rope")) {
            return List.of(size.tokens(), Math.ceilDiv(heads + kvHeads, 4));
        } else if (kernel.startsWith("normalize")) {
            return List.of(Math.ceilDiv(rows, 8), 1);
        } else if (kernel.startsWith("gather") || kernel.equals("sample")) {
            return List.of(size.samples(), 1);
        } else if (kernel.equals("select_best")) {
            return List.of(Math.ceilDiv(size.samples(), 8), 1);
        } else if (kernel.startsWith("attention_generic")) {
            return List.of(size.tokens(), Math.ceilDiv(heads, 4));
        } else if (kernel.startsWith("attention_decode")) {
            return List.of((kernel.contains("gqa") ? kvHeads : heads) * launch.cluster(), size.rows());
        } else if (kernel.startsWith("attention_prefill_wgmma_widen")) {
            return List.of(launch.gridX(), size.rows());
        } else if (kernel.startsWith("attention_prefill") && !kernel.contains("wgmma")) {
            return List.of(heads, size.tokens() / 64 + size.rows());
        } else if (kernel.startsWith("gemm") && kernel.endsWith("generic")) {
            return List.of(launch.gridX(), Math.ceilDiv(rows, 64));
        }
        return List.of(launch.gridX(), launch.gridY());
    }

    @ParameterizedTest
    @EnumSource(ElementType.class)
    void rows_of_kernels_are_those_of_their_step(ElementType weights) {
        for (Recorded step : steps(weights)) {
            Size size = step.size();
            for (Launch launch : step.launches()) {
                Integer rows = launch.integers().get("rows");
                if (rows != null && launch.kernel().startsWith("attention")) {
                    assertThat(rows).as("%s in %s", launch, size).isEqualTo(size.rows());
                } else if (rows != null && launch.kernel().startsWith("gemm_head")) {
                    assertThat(rows).as("%s in %s", launch, size).isEqualTo(size.samples());
                } else if (rows != null) {
                    assertThat(rows).as("%s in %s", launch, size).isIn(size.tokens(), size.samples());
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(ElementType.class)
    void sampled_tokens_are_gathered_from_all_rows_into_rows_of_samples(ElementType weights) {
        assertThat(steps(weights)).anySatisfy(step -> assertThat(gathers(step)).isNotEmpty());
        for (Recorded step : steps(weights)) {
            StepBuffers buffers = step.buffers();
            assertThat(buffers.sampledRows()).isLessThan(buffers.panelRows());
            assertThat(gathers(step))
                    .allSatisfy(launch -> assertThat(launch.integers())
                            .isEqualTo(Map.of(
                                    "stride", step.shape().stride(),
                                    "attendedWidth", step.shape().paddedAttention(),
                                    "panelRows", buffers.panelRows(),
                                    "sampledRows", buffers.sampledRows())));
        }
    }

    private static List<Launch> gathers(Recorded step) {
        return step.launches().stream()
                .filter(launch -> launch.kernel().startsWith("gather"))
                .toList();
    }

    /** Its MLP reads the residual stream before attention is added, so that sampled tokens cannot be gathered before it. */
    @Test
    void last_block_with_a_parallel_residual_computes_all_tokens() {
        List<Recorded> parallel = steps(ElementType.BF16).stream()
                .filter(step -> step.shape().spec().block(0).residual() == BlockSpec.Residual.PARALLEL)
                .toList();
        assertThat(parallel)
                .isNotEmpty()
                .allSatisfy(step -> assertThat(gathers(step)).isEmpty());
        for (Recorded step : parallel) {
            assertThat(step.launches().stream()
                            .filter(launch -> launch.kernel().startsWith("gemm")
                                    && !launch.kernel().startsWith("gemm_head"))
                            .flatMap(launch ->
                                    Stream.ofNullable(launch.integers().get("rows"))))
                    .as("%s", step.size())
                    .containsOnly(step.size().tokens());
        }
    }

    @Test
    void steps_launch_every_declared_kernel_but_those_at_load() {
        List<String> launched = Stream.of(ElementType.values())
                .flatMap(weights -> of(weights).stream())
                .map(Launch::kernel)
                .distinct()
                .toList();
        assertThat(DECLARED.families().stream()
                        .filter(family -> !has(family, AT_LOAD) && !has(family, launched))
                        .map(family -> family.kernels().pattern()))
                .isEmpty();
    }

    private static boolean has(Family family, List<String> kernels) {
        return kernels.stream()
                .anyMatch(kernel -> family.kernels().matcher(kernel).matches());
    }

    @Test
    void launch_that_lacks_an_argument_is_rejected() {
        Launcher launcher = new Launcher(new Recorder(true));
        launcher.kernel("select_best")
                .address(1)
                .integer(1)
                .integer(1)
                .address(1)
                .address(1);
        assertThatThrownBy(launcher::launch)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("launch of select_best, argument 6 (tokenSlots) ends a launch of 5 arguments");
    }
}

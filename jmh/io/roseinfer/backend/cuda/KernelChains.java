package io.roseinfer.backend.cuda;

import io.roseinfer.backend.StepInputs;
import io.roseinfer.backend.cuda.DeviceWeights.Layer;
import io.roseinfer.backend.cuda.DeviceWeights.Projection;
import io.roseinfer.backend.cuda.ForwardPass.Choice;
import io.roseinfer.backend.cuda.ForwardPass.Part;
import io.roseinfer.backend.cuda.ForwardPass.Step;
import io.roseinfer.backend.cuda.driver.Driver;
import io.roseinfer.backend.cuda.driver.StepGraph;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.sampling.SampleRequest;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.sampling.TokenHistory;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import org.bytedeco.cuda.global.cudart;

/**
 * Times each kernel of a decode step in its own chain over all blocks' weights and KV, as a graph after an L2 flush. The time of a launch is
 * the chain's divided by its launches, so it includes a twelfth of the graph's start. A kernel's lower bound is the time of its bytes at
 * the device's copy rate, or of its arithmetic at the tensor cores' rate.
 */
final class KernelChains {
    private static final int CONTEXT = 132;
    private static final long FLUSH_BYTES = 1L << 28;
    private static final int HEADS_IN_A_CHAIN = 4;
    private static final double FLOPS_PER_MICRO = 790e6;

    private record Chain(String name, StepGraph graph, int launches, double floorMicros) {}

    private final CudaRank rank;
    private final DeviceTimer timer;
    private final long[] flushed = new long[1];
    private final int rows;
    private final double bytesPerMicro;
    private final List<Chain> chains = new ArrayList<>();

    KernelChains(CudaModelRunner runner, int rows) {
        this.rank = runner.rank();
        long unused = rank.context().enter();
        this.rows = rows;
        this.timer = new DeviceTimer(rank.stream());
        rank.stream().check(Driver.allocate(flushed, 2 * FLUSH_BYTES), "allocating what flushes the cache");
        this.bytesPerMicro = 2 * FLUSH_BYTES / copyMicros();
        Step greedy = step(runner, SamplingParams.greedy(), Choice.GREEDY, 0);
        Step drawn = step(
                runner,
                SamplingParams.greedy().withTemperature(0.8f).withTopK(40).withTopP(0.95f),
                Choice.DRAW,
                1);
        for (Part part : Part.values()) {
            int launches = part == Part.HEAD ? HEADS_IN_A_CHAIN : spec().layers();
            add(
                    part.name().toLowerCase(Locale.ROOT),
                    launches,
                    floor(part),
                    i -> rank.forward().launch(part, greedy, i));
        }
        add("head_drawn", HEADS_IN_A_CHAIN, floor(Part.HEAD), i -> {
            rank.forward().launch(Part.HEAD, drawn, 0);
            rank.forward().draw(drawn, rows);
        });
        double block = floor(Part.QKV)
                + floor(Part.ATTENTION)
                + floor(Part.ATTENTION_OUTPUT)
                + floor(Part.MLP_INNER)
                + floor(Part.MLP_OUTPUT);
        add(
                "step",
                1,
                spec().layers() * block + floor(Part.HEAD),
                i -> rank.forward().run(greedy));
        add("step_drawn", 1, spec().layers() * block + floor(Part.HEAD), i -> {
            rank.forward().run(drawn);
            rank.forward().draw(drawn, rows);
        });
    }

    private ModelSpec spec() {
        return rank.shape().spec();
    }

    private double copyMicros() {
        double fastest = Double.MAX_VALUE;
        for (int i = 0; i < 5; i++) {
            fastest = Math.min(
                    fastest,
                    timer.micros(() -> rank.stream()
                            .check(
                                    cudart.cuMemcpyDtoDAsync(
                                            flushed[0],
                                            flushed[0] + FLUSH_BYTES,
                                            FLUSH_BYTES,
                                            rank.stream().handle()),
                                    "copying on the device")));
        }
        return fastest;
    }

    private Step step(CudaModelRunner runner, SamplingParams params, Choice choice, int buffer) {
        StepInputs in = runner.newInputs();
        in.clear();
        int perRow = Math.ceilDiv(CONTEXT, rank.kv().blockSize());
        for (int row = 0; row < rows; row++) {
            int first = row * perRow;
            in.beginRow(CONTEXT - 1, IntStream.range(first, first + perRow).toArray());
            in.addToken(row * 31 % spec().vocabularySize());
            in.endRow();
            in.sample(in.tokens() - 1, new SampleRequest(params, row, TokenHistory.NONE));
        }
        StepLayout layout = new StepLayout(rows, rows, rows);
        PendingStep pending = rank.pendingSteps().get(buffer);
        InputPacker packer = new InputPacker(spec().vocabularySize(), KvPages.of(16));
        rank.stream()
                .upload(
                        rank.buffers().inputs()[buffer],
                        pending.staging,
                        packer.pack(in, KernelRows.of(in), layout, 1, pending.staging));
        rank.stream()
                .upload(
                        rank.buffers().sampleInputs()[buffer],
                        pending.sampleStaging,
                        packer.packSamples(in, pending.sampleStaging));
        Step step = new Step(layout, runner.kernels().of(rows, rows, rows, rows), rows, choice, buffer);
        rank.forward().run(step);
        if (choice == Choice.DRAW) {
            rank.forward().draw(step, rows);
        }
        rank.stream().synchronize();
        return step;
    }

    private interface Launch {
        void of(int index);
    }

    private void add(String name, int launches, double floorMicros, Launch launch) {
        StepGraph graph = StepGraph.capture(rank.stream(), name, () -> {
            for (int i = 0; i < launches; i++) {
                launch.of(i % spec().layers());
            }
        });
        chains.add(new Chain(name, graph, launches, floorMicros));
    }

    private double floor(Part part) {
        Layer layer = rank.weights().layers().getFirst();
        return switch (part) {
            case QKV -> floor(layer.qkv());
            case ATTENTION -> {
                double tokenBytes =
                        2.0 * rank.shape().kvWidth() * rank.shape().type().bytes();
                yield rows * (CONTEXT + 1) * tokenBytes / bytesPerMicro;
            }
            case ATTENTION_OUTPUT -> floor(layer.attentionOutput());
            case MLP_INNER -> floor(layer.mlpInner());
            case MLP_OUTPUT -> floor(layer.mlpOutput());
            case HEAD -> floor(rank.weights().head());
        };
    }

    /** A product's floor: its weights and both activations moved once, or its arithmetic, whichever takes longer. */
    private double floor(Projection matrix) {
        double elements = (double) matrix.inputs() * matrix.outputs();
        double bytes = rank.shape().type().bytes() * (elements + rows * (matrix.inputs() + (double) matrix.outputs()));
        return Math.max(bytes / bytesPerMicro, 2 * elements * rows / FLOPS_PER_MICRO);
    }

    /** Runs every chain once and records its times. */
    void run() {
        for (Chain chain : chains) {
            rank.stream().fill(flushed[0], 0, FLUSH_BYTES);
            double micros = timer.micros(() -> chain.graph().replay(rank.stream()));
            DeviceTimes.add(chain.name(), micros / chain.launches());
            DeviceTimes.add(chain.name() + "_floor", chain.floorMicros());
        }
    }

    void close() {
        rank.stream().synchronize();
        chains.forEach(chain -> chain.graph().close());
        timer.close();
        Driver.free(flushed[0]);
    }
}

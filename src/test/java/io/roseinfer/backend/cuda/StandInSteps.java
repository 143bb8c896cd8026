package io.roseinfer.backend.cuda;

import io.roseinfer.backend.Precision;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.StepDriver;
import io.roseinfer.backend.StepDriver.Sequence;
import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException;
import io.roseinfer.base.RoseException.DeviceFailure;
import io.roseinfer.model.Activation;
import io.roseinfer.model.Gpt2Weights;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.RandomWeights;
import io.roseinfer.sampling.SamplingParams;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.List;
import java.util.Properties;
import java.util.stream.IntStream;

/**
 * A program that runs steps of every kind against {@code native/test/driver.c} in the driver's place, and prints what they asked of it.
 * A process of its own, because the stand-in has the name of the driver's library.
 */
@SuppressWarnings("restricted")
final class StandInSteps {
    /** Of so many layers that the launches of a step are more than go to the device in one call. */
    private static final ModelSpec SPEC = new ModelSpec(
            "small", 500, 1024, 128, 4, 2, 256, Activation.GELU_TANH, 1e-5f, true, false, true, List.of());
    /** Bytes of the resource {@code stand-in.sm_90a.ptx}, which the stand-in does not look at. */
    private static final String IMAGE = "stand-in.sm_90a.ptx";

    private static final String IMAGE_SHA256 = "e65ec199eac8a9a35e20f66c7aa4a8840c50eab49ba2048de022fe5266d4e97f";

    private final SymbolLookup driver = SymbolLookup.libraryLookup("libcuda.so.1", Arena.global());
    private final StepDriver steps;

    private StandInSteps(CudaOptions options) {
        CudaSystem system = CudaSystem.find();
        Properties manifest = new Properties();
        manifest.setProperty(IMAGE, IMAGE_SHA256);
        Gpt2Weights weights = Gpt2Weights.bind(SPEC, new RandomWeights(SPEC, 0));
        RunnerLimits limits = new RunnerLimits(8, 1024, 16, 512);
        this.steps = new StepDriver(RunnerLoader.load(
                weights, limits, options, Clock.system(), system, system.device(0), KernelImages.of(manifest)));
    }

    private MethodHandle function(String name, FunctionDescriptor type) {
        return Linker.nativeLinker().downcallHandle(driver.find(name).orElseThrow(), type);
    }

    private void remember() throws Throwable {
        function("rememberDriverLines", FunctionDescriptor.ofVoid()).invokeExact();
    }

    private String lines() throws Throwable {
        MemorySegment text = (MemorySegment) function("driverLines", FunctionDescriptor.of(ValueLayout.ADDRESS))
                .invokeExact();
        return text.reinterpret(1 << 24).getString(0);
    }

    private void failAfter(int calls, int code) throws Throwable {
        function("failDriverCall", FunctionDescriptor.ofVoid(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT))
                .invokeExact(calls, code);
    }

    private static Sequence prompt(int tokens) {
        return new Sequence(IntStream.range(0, tokens).map(i -> i * 7 % 500).toArray());
    }

    private void step(String name) throws Throwable {
        remember();
        System.out.println("== " + name + " -> "
                + steps.step().stream().map(s -> s.status() + " " + s.token()).toList());
        System.out.print(lines());
    }

    /** Steps with every way of launching: graphs of prompts and of decode steps, launches, launches equal to those before. */
    private void everyKind() throws Throwable {
        for (SamplingParams params : List.of(SamplingParams.greedy(), SamplingParams.random())) {
            steps.params = params;
            for (int tokens : new int[] {2, 16, 20, 512, 513}) {
                steps.add(prompt(tokens), tokens, true);
                step("prompt of " + tokens);
            }
            Sequence chunked = prompt(90);
            for (int chunk = 0; chunk < 3; chunk++) {
                steps.add(chunked, 30, chunk == 2);
                step("chunk " + chunk);
            }
            for (int turn = 0; turn < 4; turn++) {
                steps.add(prompt(40), 40, true).add(prompt(3), 3, true);
                step("two prompts, again " + turn);
            }
            steps.add(prompt(1), 1, true);
            step("a row");
            steps.add(prompt(1), 1, true).add(prompt(1), 1, true).add(prompt(1), 1, true);
            step("three rows");
            steps.add(prompt(1), 1, true).add(prompt(5), 5, true);
            step("a row and a prompt");
            steps.inputs.addCopy(3, 4);
            steps.add(prompt(1), 1, true);
            step("a copy and a row");
            steps.inputs.addCopy(3, 4);
            steps.add(prompt(600), 600, true);
            step("a copy and a prompt");
        }
    }

    /** A step whose call of this number is refused; what the runner says of it, then and later. */
    private void refused(int calls, int tokens) throws Throwable {
        steps.params = SamplingParams.greedy();
        failAfter(calls, 719);
        for (int attempt = 0; attempt < 2; attempt++) {
            try {
                steps.add(prompt(tokens), tokens, true).step();
                System.out.println("nothing failed");
            } catch (DeviceFailure e) {
                System.out.println(e.getMessage().replaceFirst("; .*", ""));
                steps.inputs.clear();
            }
        }
    }

    public static void main(String[] arguments) throws Throwable {
        CudaOptions options = CudaOptions.defaults().withPrecision(Precision.FP16);
        try {
            switch (arguments[0]) {
                case "every-kind" -> new StandInSteps(options).everyKind();
                case "without-graphs" -> new StandInSteps(options.withGraphs(false)).everyKind();
                case "refused" ->
                    new StandInSteps(options).refused(Integer.parseInt(arguments[1]), Integer.parseInt(arguments[2]));
                case "calls" -> {
                    System.out.println(NativeLibrary.instance().opensDriver());
                    System.out.println(CudaBackend.calls());
                }
                default -> throw new IllegalArgumentException(arguments[0]);
            }
        } catch (RoseException e) {
            System.out.println(e.getMessage());
        }
    }
}

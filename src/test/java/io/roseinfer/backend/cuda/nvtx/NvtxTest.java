package io.roseinfer.backend.cuda.nvtx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.sim.SimBackend;
import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException.BackendUnavailable;
import io.roseinfer.engine.Engine;
import io.roseinfer.engine.EngineLimits;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.metrics.StepRecords;
import io.roseinfer.metrics.WritableStep;
import io.roseinfer.model.files.ModelFiles;
import io.roseinfer.observe.StepEvent;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Ranges as received by a stand-in for a profiler, through the JNI library with NVTX's header and through {@link Nvtx}. Skipped without a C
 * compiler.
 */
class NvtxTest {
    @TempDir
    static Path folder;

    private static Path library = Path.of("");

    @BeforeAll
    static void compile() {
        library = CLibrary.compile(folder, "injection.c", "libinjection.so");
    }

    /** Returns all ranges received so far, with their depth. */
    @SuppressWarnings("restricted")
    private static List<String> received() throws Throwable {
        MemorySegment function = SymbolLookup.libraryLookup(library, Arena.global())
                .find("receivedRanges")
                .orElseThrow();
        MemorySegment text = (MemorySegment) Linker.nativeLinker()
                .downcallHandle(function, FunctionDescriptor.of(ValueLayout.ADDRESS))
                .invokeExact();
        return text.reinterpret(1 << 16).getString(0).lines().toList();
    }

    private static RangeStack attach(String binding) {
        if (binding.equals("Java")) {
            return Nvtx.attach(library);
        }
        assumeTrue(NativeLibrary.instance().hasNvtx(), "skipped: this build's JNI library lacks NVTX's header");
        RangeStack stack = NvtxRanges.attach(library, NativeLibrary.instance());
        assertThat(stack).isSameAs(RangeStack.HEADER);
        return stack;
    }

    @ParameterizedTest
    @ValueSource(strings = {"the header", "Java"})
    void ranges_reach_the_profiler_with_numbers_and_depth(String binding) throws Throwable {
        NvtxRanges ranges = new NvtxRanges(attach(binding));
        int before = received().size();
        ranges.on(StepEvent.ITERATION_STARTED, new WritableStep());
        launch(ranges, 3, 1024);
        launch(ranges, 10, 10);
        ranges.on(StepEvent.ITERATION_ENDED, new WritableStep());
        List<String> received = received();
        assertThat(received.subList(before, received.size()))
                .containsExactly(
                        "0 step",
                        "1 plan",
                        "1 pack",
                        "1 prefill, 3 rows, 1024 tokens",
                        "1 plan",
                        "1 pack",
                        "1 decode, 10 rows, 10 tokens");
    }

    private static void launch(NvtxRanges ranges, long rows, long tokens) {
        StepRecord step = StepRecords.step(Map.of(Fact.ROWS, rows, Fact.TOKENS, tokens));
        ranges.on(StepEvent.PLANNING, step);
        ranges.on(StepEvent.PLANNED, step);
        ranges.on(StepEvent.PACKED, step);
        ranges.on(StepEvent.SUBMITTED, step);
    }

    /** An iteration that fails between two events leaves no range open. */
    @Test
    void open_ranges_end_with_the_iteration() throws Throwable {
        NvtxRanges ranges = new NvtxRanges(Nvtx.attach(library));
        int before = received().size();
        ranges.on(StepEvent.ITERATION_STARTED, new WritableStep());
        ranges.on(StepEvent.PLANNING, new WritableStep());
        ranges.on(StepEvent.ADMITTING, new WritableStep());
        ranges.on(StepEvent.ITERATION_ENDED, new WritableStep());
        ranges.on(StepEvent.ITERATION_STARTED, new WritableStep());
        ranges.on(StepEvent.ITERATION_ENDED, new WritableStep());
        List<String> received = received();
        assertThat(received.subList(before, received.size())).containsExactly("0 step", "1 plan", "2 admit", "0 step");
    }

    @ParameterizedTest
    @ValueSource(strings = {"the header", "Java"})
    void engine_shows_every_part_of_its_steps(String binding) throws Throwable {
        NvtxRanges ranges = new NvtxRanges(attach(binding));
        int before = received().size();
        generate(ranges);
        List<String> received = received();
        List<String> names = received.subList(before, received.size()).stream()
                .map(line -> line.substring(line.indexOf(' ') + 1))
                .toList();
        assertThat(names)
                .contains("submit", "step", "plan", "admit", "pack", "sample", "emit")
                .contains("prefill, 1 rows, 3 tokens", "decode, 1 rows, 1 tokens");
    }

    /** One request, from its prompt of three tokens to its fourth new token. */
    private static void generate(NvtxRanges ranges) throws IOException {
        EngineOptions options = EngineOptions.defaults();
        try (ModelFiles files = ModelFiles.openBuiltin("tiny");
                SimBackend backend = new SimBackend(SimOptions.defaults());
                ModelRunner runner =
                        backend.load(files.spec(), files.weights(), EngineLimits.runnerLimits(options, files.spec()));
                Engine engine = Engine.open(runner, files.tokenizer(), options, Clock.system(), ranges.observers())) {
            engine.generate(
                    GenerationRequest.ofTokens(5, 6, 7).withMaxNewTokens(4).withIgnoreEndOfText(true));
        }
    }

    @Test
    void admissions_appear_in_the_plan_only_while_requests_wait() throws Throwable {
        int before = received().size();
        generate(new NvtxRanges(Nvtx.attach(library)));
        List<String> received = received();
        List<String> depths = received.subList(before, received.size()).stream()
                .filter(line -> line.endsWith(" plan") || line.endsWith(" admit"))
                .toList();
        assertThat(depths).containsSubsequence("1 plan", "2 admit", "1 plan").containsOnlyOnce("2 admit");
    }

    /** Another binding is independent of the one attached by the header. */
    @Test
    void attaching_another_library_uses_java() {
        assumeTrue(NativeLibrary.instance().hasNvtx(), "skipped: this build's JNI library lacks NVTX's header");
        attach("the header");
        Path other = CLibrary.compile(folder, "injection.c", "libother.so");
        assertThat(NvtxRanges.attach(other, NativeLibrary.instance())).isNotSameAs(RangeStack.HEADER);
    }

    @Test
    void attach_without_a_profiler_names_a_remedy() {
        assertThatThrownBy(() -> NvtxRanges.attach(Optional.empty()))
                .isInstanceOf(BackendUnavailable.class)
                .hasMessageContaining("NVTX_INJECTION64_PATH is not set")
                .hasMessageContaining("nsys profile");
    }

    @Test
    void attaching_a_file_that_is_not_a_library_is_reported() throws IOException {
        Path file = Files.writeString(folder.resolve("nothing.so"), "nothing");
        assertThatThrownBy(() -> NvtxRanges.attach(Optional.of(file)))
                .isInstanceOf(BackendUnavailable.class)
                .hasMessageContaining("nothing.so")
                .hasMessageContaining("cannot be loaded");
    }
}

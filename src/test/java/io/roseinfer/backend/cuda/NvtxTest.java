package io.roseinfer.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.ProfilerRanges;
import io.roseinfer.backend.ProfilerRanges.Range;
import io.roseinfer.backend.RangedRunner;
import io.roseinfer.backend.sim.SimBackend;
import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException.BackendUnavailable;
import io.roseinfer.engine.Engine;
import io.roseinfer.engine.EngineLimits;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.model.ModelFiles;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a profiler hears, told to a library that stands in for one. Skipped where there is no C compiler to make it with. */
class NvtxTest {
    @TempDir
    static Path folder;

    private static Path library = Path.of("");

    @BeforeAll
    static void compile() throws IOException, InterruptedException {
        Path source = folder.resolve("injection.c");
        try (InputStream in = NvtxTest.class.getResourceAsStream("/nvtx/injection.c")) {
            Files.write(source, in.readAllBytes());
        }
        library = folder.resolve("libinjection.so");
        boolean compiled;
        try {
            compiled = new ProcessBuilder("cc", "-shared", "-fPIC", "-o", library.toString(), source.toString())
                            .inheritIO()
                            .start()
                            .waitFor()
                    == 0;
        } catch (IOException e) {
            compiled = false;
        }
        assumeTrue(compiled, "skipped: no C compiler");
    }

    /** Everything the library has heard so far, with the depth at which it was. */
    @SuppressWarnings("restricted")
    private static List<String> heard() throws Throwable {
        MemorySegment function = SymbolLookup.libraryLookup(library, Arena.global())
                .find("heardRanges")
                .orElseThrow();
        MemorySegment text = (MemorySegment) Linker.nativeLinker()
                .downcallHandle(function, FunctionDescriptor.of(ValueLayout.ADDRESS))
                .invokeExact();
        return text.reinterpret(1 << 16).getString(0).lines().toList();
    }

    @Test
    void ranges_reachTheProfiler_withTheirNumbersAndDepth() throws Throwable {
        ProfilerRanges ranges = NvtxRanges.attach(Optional.of(library));
        int before = heard().size();
        ranges.begin(Range.STEP);
        ranges.begin(Range.PREFILL, 3, 1024);
        ranges.end();
        ranges.begin(Range.DECODE, 10, 0);
        ranges.end();
        ranges.end();
        List<String> heard = heard();
        assertThat(heard.subList(before, heard.size()))
                .containsExactly("0 step", "1 prefill, 3 rows, 1024 tokens", "1 decode, 10 rows, 0 tokens");
    }

    @Test
    void engine_showsEveryPartOfItsSteps() throws Throwable {
        ProfilerRanges ranges = NvtxRanges.attach(Optional.of(library));
        int before = heard().size();
        EngineOptions options = EngineOptions.defaults();
        try (ModelFiles files = ModelFiles.openBuiltin("tiny");
                SimBackend backend = new SimBackend(SimOptions.defaults());
                ModelRunner runner = new RangedRunner(
                        backend.load(files.weights(), EngineLimits.runnerLimits(options, files.spec())), ranges);
                Engine engine = Engine.open(runner, files.tokenizer(), options, Clock.system())) {
            engine.generate(
                    GenerationRequest.ofTokens(5, 6, 7).withMaxNewTokens(4).withIgnoreEndOfText(true));
        }
        List<String> heard = heard();
        List<String> names = heard.subList(before, heard.size()).stream()
                .map(line -> line.substring(line.indexOf(' ') + 1))
                .toList();
        assertThat(names)
                .contains("submit", "step", "plan", "pack", "sample", "emit")
                .contains("prefill, 1 rows, 3 tokens", "decode, 1 rows, 1 tokens");
    }

    @Test
    void attach_withoutAProfiler_saysHowToStartOne() {
        assertThatThrownBy(() -> NvtxRanges.attach(Optional.empty()))
                .isInstanceOf(BackendUnavailable.class)
                .hasMessageContaining("NVTX_INJECTION64_PATH is not set")
                .hasMessageContaining("nsys profile");
    }

    @Test
    void attach_fileThatIsNoLibrary_saysSo() throws IOException {
        Path file = Files.writeString(folder.resolve("nothing.so"), "nothing");
        assertThatThrownBy(() -> NvtxRanges.attach(Optional.of(file)))
                .isInstanceOf(BackendUnavailable.class)
                .hasMessageContaining("nothing.so")
                .hasMessageContaining("cannot be loaded");
    }
}

package io.roseinfer.backend.cpu;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.checkpoint.Checkpoint;
import io.roseinfer.golden.Golden;
import io.roseinfer.model.OtherSource;
import io.roseinfer.model.Weights;
import io.roseinfer.model.files.ModelFiles;
import io.roseinfer.tensor.Tensor;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

class WeightLoaderTest {
    @TempDir
    private Path directory;

    /** Truncates the file after a tensor was mapped and before it is read. */
    private record Truncating(Checkpoint checkpoint, Path file) implements Checkpoint {
        @Override
        public String description() {
            return checkpoint.description();
        }

        @Override
        public Set<String> names() {
            return checkpoint.names();
        }

        @Override
        public Optional<Info> info(String name) {
            return checkpoint.info(name);
        }

        @Override
        public Tensor read(String name, Arena arena) {
            Tensor mapped = checkpoint.read(name, arena);
            try (RandomAccessFile cut = new RandomAccessFile(file.toFile(), "rw")) {
                cut.setLength(0);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            return mapped;
        }

        @Override
        public void close() {
            checkpoint.close();
        }
    }

    @Test
    @DisabledOnOs(value = OS.WINDOWS, disabledReason = "a mapped file cannot be truncated there")
    void file_truncated_while_mapped_is_a_bad_model() throws IOException {
        Golden.copyFiles("relu", directory);
        try (ModelFiles files = ModelFiles.openDirectory("m", directory);
                CpuBackend backend = new CpuBackend(CpuOptions.defaults().withThreads(2))) {
            Checkpoint cut = new Truncating(files.source(), directory.resolve("model.safetensors"));
            Weights weights = OtherSource.of(files.weights(), cut);
            assertThatThrownBy(() -> backend.load(files.spec(), weights, new RunnerLimits(1, 8, 16, 0)))
                    .isInstanceOf(BadModel.class)
                    .hasMessageContaining("model.safetensors")
                    .hasMessageContaining("truncated or replaced while it was read");
        }
    }
}

package io.roseinfer.bench.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.abort;

import com.github.luben.zstd.ZstdInputStream;
import io.roseinfer.base.RoseException.BadInput;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class ResultFileTest {
    private record Document(int schema) implements BenchResult {
        @Override
        public List<Map<String, String>> table() {
            return List.of();
        }
    }

    private static final Document DOCUMENT = new Document(1);

    @TempDir
    Path folder;

    @Test
    void json_file_is_one_line_of_text() throws IOException {
        Path file = folder.resolve("run.json");
        ResultFile.at("--json", file).write(DOCUMENT);
        assertThat(file).hasContent("{\"schema\":1}\n");
    }

    @Test
    void zst_file_decompresses_to_the_same_text() throws IOException {
        Path file = folder.resolve("run.json.zst");
        ResultFile.at("--json", file).write(DOCUMENT);
        try (InputStream in = new ZstdInputStream(Files.newInputStream(file))) {
            assertThat(new String(in.readAllBytes(), StandardCharsets.UTF_8)).isEqualTo("{\"schema\":1}\n");
        }
    }

    @Test
    void missing_directory_is_rejected_before_the_run() {
        assertThatThrownBy(() -> ResultFile.at("--json", folder.resolve("none/run.json")))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("--json")
                .hasMessageContaining("create it first");
    }

    @Test
    void directory_is_rejected_before_the_run() {
        assertThatThrownBy(() -> ResultFile.at("--json", folder))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("is a directory");
    }

    @Test
    void gz_suffix_compresses_with_gzip() throws IOException {
        Path file = folder.resolve("run.json.gz");
        ResultFile.at("--json", file).write(DOCUMENT);
        try (InputStream in = new GZIPInputStream(Files.newInputStream(file))) {
            assertThat(new String(in.readAllBytes(), StandardCharsets.UTF_8)).isEqualTo("{\"schema\":1}\n");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"run.json.xz", "run.bz2", "run.json.gzip", "run.txt", "run.zip"})
    void unsupported_suffix_is_rejected_before_the_run(String name) {
        assertThatThrownBy(() -> ResultFile.at("--timeline", folder.resolve(name)))
                .isInstanceOf(BadInput.class)
                .hasMessageContainingAll("--timeline", name, ".json", ".gz", ".zst");
    }

    @ParameterizedTest
    @ValueSource(strings = {"run", "run.json", ".run", "RUN.JSON"})
    void file_without_a_compression_suffix_is_text(String name) throws IOException {
        Path file = folder.resolve(name);
        ResultFile.at("--json", file).write(DOCUMENT);
        assertThat(file).hasContent("{\"schema\":1}\n");
    }

    @Test
    void name_of_maximum_length_is_written() throws IOException {
        Path file = folder.resolve("r".repeat(255));
        ResultFile.at("--json", file).write(DOCUMENT);
        assertThat(file).hasContent("{\"schema\":1}\n");
    }

    @Test
    void name_beyond_maximum_length_is_rejected_before_the_run() {
        assertThatThrownBy(() -> ResultFile.at("--json", folder.resolve("r".repeat(256))))
                .isInstanceOf(BadInput.class)
                .hasMessageContainingAll("--json", "cannot be written", "too long");
    }

    @ParameterizedTest
    @ValueSource(strings = {"rw-------", "rw-rw-rw-", "rwxr-x---"})
    @DisabledOnOs(OS.WINDOWS)
    void replaced_file_keeps_its_permissions(String rights) throws IOException {
        Path file = Files.writeString(folder.resolve("run.json"), "an older result");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(rights));
        ResultFile.at("--json", file).write(DOCUMENT);
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                .isEqualTo(rights);
    }

    /** The new owner is a user id without a name; only root can change a file's owner. */
    @Test
    @EnabledOnOs(value = OS.LINUX, disabledReason = "needs numbered owners")
    void replaced_file_keeps_its_owner() throws IOException {
        Path file = Files.writeString(folder.resolve("run.json"), "an older result");
        try {
            Files.setAttribute(file, "unix:uid", 54321);
        } catch (FileSystemException refused) {
            abort("only root can give files away");
        }
        ResultFile.at("--json", file).write(DOCUMENT);
        assertThat(Files.getAttribute(file, "unix:uid")).isEqualTo(54321);
        assertThat(file).hasContent("{\"schema\":1}\n");
    }

    @Test
    void failed_write_keeps_the_old_file_and_removes_the_temporary_one() throws IOException {
        Path file = Files.writeString(folder.resolve("run.json"), "an older result");
        ResultFile result = ResultFile.at("--json", file);
        assertThatThrownBy(() -> result.write(generator -> {
                    generator.writeStartArray();
                    generator.flush();
                    throw new IllegalStateException("halfway");
                }))
                .hasMessage("halfway");
        assertThat(file).hasContent("an older result");
        try (Stream<Path> left = Files.list(folder)) {
            assertThat(left).containsExactly(file);
        }
    }

    @Test
    void open_reader_reads_the_complete_old_document() throws IOException {
        Path file = folder.resolve("run.json");
        ResultFile result = ResultFile.at("--json", file);
        result.write(DOCUMENT);
        try (InputStream reader = Files.newInputStream(file)) {
            result.write(generator -> generator.writeNumber(2));
            assertThat(new String(reader.readAllBytes(), StandardCharsets.UTF_8))
                    .isEqualTo("{\"schema\":1}\n");
        }
        assertThat(file).hasContent("2\n");
    }

    @Test
    void link_to_a_file_stays_a_link() throws IOException {
        Path file = Files.createFile(folder.resolve("run.json"));
        Path link = Files.createSymbolicLink(folder.resolve("newest.json"), file);
        ResultFile.at("--json", link).write(DOCUMENT);
        assertThat(link).isSymbolicLink();
        assertThat(file).hasContent("{\"schema\":1}\n");
    }

    @Test
    void pipe_or_device_is_written_in_place() {
        ResultFile.at("--json", Path.of("/dev/null")).write(DOCUMENT);
        assertThat(Files.isRegularFile(Path.of("/dev/null"))).isFalse();
    }

    /** A path of {@code run.json}; links are created if needed. */
    enum Spelling {
        SAME {
            @Override
            Path of(Path file) {
                return file;
            }
        },
        DOTTED {
            @Override
            Path of(Path file) {
                return file.resolveSibling("./run.json");
            }
        },
        RELATIVE {
            @Override
            Path of(Path file) {
                return Path.of("").toAbsolutePath().relativize(file);
            }
        },
        FOLDER_LINK {
            @Override
            Path of(Path file) throws IOException {
                return Files.createSymbolicLink(file.resolveSibling("folder"), file.resolveSibling("."))
                        .resolve("run.json");
            }
        },
        FILE_LINK {
            @Override
            Path of(Path file) throws IOException {
                Files.createFile(file);
                return Files.createSymbolicLink(file.resolveSibling("link.json"), file);
            }
        },
        HARD_LINK {
            @Override
            Path of(Path file) throws IOException {
                Files.createFile(file);
                return Files.createLink(file.resolveSibling("link.json"), file);
            }
        };

        abstract Path of(Path file) throws IOException;
    }

    @ParameterizedTest
    @EnumSource(Spelling.class)
    void every_path_of_a_file_is_recognized(Spelling spelling) throws IOException {
        Path file = folder.resolve("run.json");
        ResultFile other = ResultFile.at("--timeline", spelling.of(file));
        assertThat(other.isSameAs(ResultFile.at("--json", file))).isTrue();
    }

    @Test
    void files_of_one_directory_are_different() {
        ResultFile trace = ResultFile.at("--timeline", folder.resolve("trace.json"));
        assertThat(trace.isSameAs(ResultFile.at("--json", folder.resolve("run.json"))))
                .isFalse();
    }
}

package io.roseinfer.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.roseinfer.sampling.SampleRequest;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.sampling.SamplingParams.Parameter;
import io.roseinfer.sampling.TokenHistory;
import java.io.IOException;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Layouts of the structs exchanged with the device: in the engine, in structs.h and by a C compiler. */
class SampleStructsTest {
    private static final String HEADER = "structs.h";

    @TempDir
    Path folder;

    @BeforeEach
    void copyContract() throws IOException {
        Files.copy(Path.of("kernels/contract", HEADER), folder.resolve(HEADER));
    }

    private record Outcome(int code, String out) {}

    private Outcome run(String... command) throws IOException, InterruptedException {
        Path out = folder.resolve("out");
        Process process = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .redirectOutput(out.toFile())
                .start();
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        return new Outcome(process.exitValue(), Files.readString(out));
    }

    private Outcome compile(String program) throws IOException, InterruptedException {
        Files.writeString(folder.resolve("program.c"), "#include <stdio.h>\n#include \"structs.h\"\n" + program);
        return run("gcc", "-std=c11", "-o", "program", "program.c");
    }

    private void requireCompiler() throws InterruptedException {
        boolean there;
        try {
            there = run("gcc", "--version").code() == 0;
        } catch (IOException e) {
            there = false;
        }
        assumeTrue(there, "needs gcc");
    }

    private static String line(StructLayout struct, MemoryLayout field) {
        String name = field.name().orElseThrow();
        long offset = struct.byteOffset(PathElement.groupElement(name));
        return struct.name().orElseThrow() + " " + name + " " + offset + " " + field.byteSize();
    }

    private static byte[] written(SamplingParams params) {
        MemorySegment to = MemorySegment.ofArray(new long[SampleStructs.Request.BYTES / Long.BYTES]);
        SampleStructs.Request.write(new SampleRequest(params, 1, TokenHistory.NONE), 1, 1, to, 0);
        return to.toArray(ValueLayout.JAVA_BYTE);
    }

    @ParameterizedTest
    @EnumSource
    void every_sampling_parameter_reaches_the_device(Parameter parameter) {
        SamplingParams plain = SamplingParams.greedy().withTemperature(0.25f);
        assertThat(Arrays.equals(written(parameter.set(plain, 0.5)), written(plain)))
                .as("SampleStructs.Request.write omits %s", parameter)
                .isFalse();
    }

    @Test
    void c_compiler_and_engine_agree_on_struct_layouts() throws Exception {
        requireCompiler();
        StringBuilder program = new StringBuilder("int main(void) {\n");
        List<String> expected = new ArrayList<>();
        for (StructLayout struct : SampleStructs.all()) {
            String name = struct.name().orElseThrow();
            for (MemoryLayout field : struct.memberLayouts()) {
                String member = field.name().orElseThrow();
                program.append("printf(\"%s %s %zu %zu\\n\", \"S\", \"F\", offsetof(S, F), sizeof(((S*)0)->F));\n"
                        .replace("S*", name + "*")
                        .replace("(S,", "(" + name + ",")
                        .replace("\"S\"", "\"" + name + "\"")
                        .replace("\"F\"", "\"" + member + "\"")
                        .replace(" F)", " " + member + ")")
                        .replace("->F", "->" + member));
                expected.add(line(struct, field));
            }
            program.append("printf(\"%s %zu\\n\", \"")
                    .append(name)
                    .append("\", sizeof(")
                    .append(name)
                    .append("));\n");
            expected.add(name + " " + struct.byteSize());
        }
        Outcome compiled = compile(program.append("}\n").toString());
        assertThat(compiled.code()).as(compiled.out()).isZero();
        assertThat(run("./program").out().lines()).containsExactlyElementsOf(expected);
    }

    @Test
    void wrong_offset_in_the_table_does_not_compile() throws Exception {
        requireCompiler();
        Path header = folder.resolve(HEADER);
        Files.writeString(header, Files.readString(header).replace("minP, 20", "minP, 24"));
        Outcome compiled = compile("int main(void) { return 0; }\n");
        assertThat(compiled.code()).isNotZero();
        assertThat(compiled.out())
                .contains("SampleRequest.minP differs in offset or size from the table of contract/structs.h");
    }

    @Test
    void engine_structs_match_the_table() {
        List<String> expected = new ArrayList<>();
        for (StructLayout struct : SampleStructs.all()) {
            String name = struct.name().orElseThrow();
            expected.add("STRUCT(%s, %d)".formatted(name, struct.byteSize()));
            for (MemoryLayout field : struct.memberLayouts()) {
                String member = field.name().orElseThrow();
                long offset = struct.byteOffset(PathElement.groupElement(member));
                expected.add("FIELD(%s, %s, %d, %d)".formatted(name, member, offset, field.byteSize()));
            }
        }
        assertThat(Contract.lines(HEADER).stream()
                        .filter(line -> line.startsWith("STRUCT") || line.startsWith("FIELD")))
                .containsExactlyInAnyOrderElementsOf(expected);
    }

    @ParameterizedTest
    @EnumSource
    void kernel_reads_every_sampling_parameter(Parameter parameter) throws IOException {
        StringBuilder field = new StringBuilder();
        for (String word : parameter.field().split("_")) {
            field.append(field.isEmpty() ? word : Character.toUpperCase(word.charAt(0)) + word.substring(1));
        }
        assertThat(Pattern.compile("\\br\\." + field + "\\b")
                        .matcher(Files.readString(Path.of("kernels/sample.cu")))
                        .find())
                .as("kernels/sample.cu reads r.%s", field)
                .isTrue();
    }
}

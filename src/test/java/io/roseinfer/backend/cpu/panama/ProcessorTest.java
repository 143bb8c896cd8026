package io.roseinfer.backend.cpu.panama;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProcessorTest {
    @TempDir
    Path folder;

    @Test
    void vendor_is_read_from_the_first_processor() throws IOException {
        Path cpuinfo = Files.writeString(
                folder.resolve("cpuinfo"),
                "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nvendor_id\t: x\n");
        assertThat(Processor.vendor(cpuinfo)).isEqualTo("GenuineIntel");
    }

    @Test
    void missing_vendor_is_unknown() throws IOException {
        assertThat(Processor.vendor(folder.resolve("none"))).isEmpty();
        assertThat(Processor.vendor(
                        Files.writeString(folder.resolve("arm"), "processor : 0\nCPU implementer : 0x41\n")))
                .isEmpty();
    }
}

package io.roseinfer.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.DataInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class JavaVersionTest {
    private static final int OF_JAVA_17 = 61;

    @Test
    void old_java_is_reported_with_a_remedy() {
        assertThatThrownBy(() -> JavaVersion.require(24))
                .hasMessageStartingWith("roseinfer needs Java 25 or newer")
                .hasMessageContaining("is Java 24; start Spark's driver and executors with JAVA_HOME");
        JavaVersion.require(25);
    }

    /** Otherwise it could not report anything: a JVM loads no class of a newer version. */
    @Test
    void java_17_loads_the_classes_visible_to_spark() throws IOException {
        List<Path> classes;
        try (Stream<Path> files = Files.walk(Path.of("target/spark-classes"))) {
            classes = files.filter(file -> file.toString().endsWith(".class")).toList();
        }
        assertThat(classes).hasSizeGreaterThan(10).allSatisfy(file -> {
            try (DataInputStream in = new DataInputStream(Files.newInputStream(file))) {
                assertThat(in.readInt()).isEqualTo(0xCAFEBABE);
                assertThat(in.readUnsignedShort()).isZero();
                assertThat(in.readUnsignedShort()).isEqualTo(OF_JAVA_17);
            }
        });
    }
}

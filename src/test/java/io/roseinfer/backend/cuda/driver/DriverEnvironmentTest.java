package io.roseinfer.backend.cuda.driver;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

@EnabledOnOs(OS.LINUX)
class DriverEnvironmentTest {
    @SuppressWarnings("restricted")
    private static String getenv(String name) throws Throwable {
        Linker linker = Linker.nativeLinker();
        MethodHandle getenv = linker.downcallHandle(
                linker.defaultLookup().findOrThrow("getenv"),
                FunctionDescriptor.of(ValueLayout.ADDRESS, ValueLayout.ADDRESS));
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment value = (MemorySegment) getenv.invokeExact(arena.allocateFrom(name));
            return value.reinterpret(Long.MAX_VALUE).getString(0);
        }
    }

    @Test
    void set_if_absent_new_name_is_seen_by_native_code() throws Throwable {
        DriverEnvironment.setIfAbsent("ROSEINFER_TEST_NEW", "EAGER");
        assertThat(getenv("ROSEINFER_TEST_NEW")).isEqualTo("EAGER");
    }

    @Test
    void set_if_absent_what_the_user_has_said_stays() throws Throwable {
        String said = getenv("PATH");
        DriverEnvironment.setIfAbsent("PATH", "elsewhere");
        assertThat(getenv("PATH")).isEqualTo(said);
    }
}

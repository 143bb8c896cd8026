package io.roseinfer.cli.flags;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.Settings;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ChoicesTest {
    @ParameterizedTest
    @CsvSource({"cuda, CUDA, 0, cuda", "cuda:0, CUDA, 0, cuda", "cuda:7, CUDA, 7, cuda:7", "cpu, CPU, 0, cpu"})
    void device_mayNameOneGpuOfSeveral(String text, Settings.Device kind, int index, String spelled) {
        Choices.Place place = new Choices.Device().convert(text);
        assertThat(place).isEqualTo(new Choices.Place(kind, index));
        assertThat(place).hasToString(spelled);
    }
}

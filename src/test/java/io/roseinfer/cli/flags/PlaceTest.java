package io.roseinfer.cli.flags;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.Settings;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.TypeConversionException;

class PlaceTest {
    @ParameterizedTest
    @CsvSource({"cuda, CUDA, 0, cuda", "cuda:0, CUDA, 0, cuda", "cuda:7, CUDA, 7, cuda:7", "cpu, CPU, 0, cpu"})
    void device_may_name_one_gpu_of_several(String text, Settings.Device kind, int index, String spelled) {
        Place place = new Place.Parser().convert(text);
        assertThat(place.kind()).isEqualTo(kind);
        assertThat(place.index()).isEqualTo(index);
        assertThat(place).hasToString(spelled);
    }

    @Test
    void device_may_name_several_gpus() {
        Place place = new Place.Parser().convert("cuda:2,cuda:0");
        assertThat(place).isEqualTo(new Place(Settings.Device.CUDA, List.of(2, 0)));
        assertThat(place).hasToString("cuda:2,cuda:0");
    }

    @ParameterizedTest
    @ValueSource(strings = {"cuda:0,cuda:0", "cuda:0,cpu", "cuda:0,", "cuda,cuda"})
    void device_with_a_repeated_gpu_is_rejected(String text) {
        assertThatThrownBy(() -> new Place.Parser().convert(text))
                .isInstanceOf(TypeConversionException.class)
                .hasMessageContaining(text);
    }

    @ParameterizedTest
    @ValueSource(strings = {"Slow.java", "/tmp/my.java/Slow.java:12", "com.example.Slow", "com.example.Fast$Slow:a:b"})
    void class_or_source_file_is_a_custom_device(String text) {
        Place place = new Place.Parser().convert(text);
        assertThat(place.kind()).isEqualTo(Settings.Device.CUSTOM);
        assertThat(place).hasToString(text);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "cdua | 'cdua' is not one of auto, cpu, cuda, sim, FILE.java, CLASS; did you mean cuda?",
                "cuda:x | 'cuda:x' is not one of auto, cpu, cuda, sim, FILE.java, CLASS",
                "gpu | 'gpu' is not one of auto, cpu, cuda, sim, FILE.java, CLASS",
                "custom | 'custom' is not one of auto, cpu, cuda, sim, FILE.java, CLASS"
            })
    void other_words_are_rejected_with_the_built_in_devices(String text, String message) {
        assertThatThrownBy(() -> new Place.Parser().convert(text))
                .isInstanceOf(TypeConversionException.class)
                .hasMessage(message);
    }
}

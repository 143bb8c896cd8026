package io.roseinfer.safetensors;

import static org.assertj.core.api.Assertions.fail;

import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.checkpoint.Checkpoint;
import io.roseinfer.tensor.Tensor;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Damaged headers are either accepted or rejected as a bad model. */
class SafetensorsFuzzTest {
    private static final long SEED = Long.getLong("roseinfer.seed", 20260);
    private static final int ITERATIONS = Integer.getInteger("roseinfer.iters", 1500);

    /** Mutations of a header: every kind of token, numbers at the limits, keywords and broken bytes. */
    private static final List<String> FRAGMENTS = List.of(
            "{",
            "}",
            "[",
            "]",
            ",",
            ":",
            "\"",
            "\\",
            "\\u0000",
            "\\ud800",
            "\\u0061",
            "null",
            "true",
            "-1",
            "-0",
            "0",
            "1e3",
            "2.0",
            "04",
            "NaN",
            "2147483648",
            "4294967296",
            "9223372036854775807",
            "9223372036854775808",
            "18446744073709551616",
            "\"__metadata__\"",
            "\"dtype\"",
            "\"shape\"",
            "\"data_offsets\"",
            "F4",
            "F32",
            "C64",
            " ",
            "\n",
            "\0",
            "\u00ff",
            "[[[[[[[[",
            "{\"a\":{\"a\":",
            "/*",
            "//");

    @TempDir
    private Path directory;

    @Test
    void bit_flips_are_accepted_or_rejected() throws IOException {
        RandomGenerator random = random(1);
        for (int i = 0; i < ITERATIONS; i++) {
            byte[] file = valid(random);
            int headerEnd = 8
                    + (int) ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN).getLong();
            for (int flips = 1 + random.nextInt(3); flips > 0; flips--) {
                file[random.nextInt(headerEnd)] ^= (byte) (1 << random.nextInt(8));
            }
            acceptOrRefuse(file, i);
        }
    }

    @Test
    void structural_mutations_are_accepted_or_rejected() throws IOException {
        RandomGenerator random = random(2);
        for (int i = 0; i < ITERATIONS; i++) {
            byte[] file = valid(random);
            int length =
                    (int) ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN).getLong();
            String json = new String(file, 8, length, StandardCharsets.ISO_8859_1);
            for (int edits = 1 + random.nextInt(3); edits > 0; edits--) {
                json = mutate(json, random);
            }
            byte[] data = Arrays.copyOfRange(file, 8 + length, file.length);
            acceptOrRefuse(RawSafetensors.file(json.getBytes(StandardCharsets.ISO_8859_1), data), i);
        }
    }

    @Test
    void truncation_at_every_byte_is_rejected() throws IOException {
        byte[] file = valid(random(3));
        for (int bytes = 0; bytes < file.length; bytes++) {
            if (accepts(Arrays.copyOf(file, bytes))) {
                fail("accepted the first %d of %d bytes", bytes, file.length);
            }
        }
    }

    private static RandomGenerator random(int stream) {
        return RandomGeneratorFactory.of("L64X128MixRandom").create(SEED + stream);
    }

    private static byte[] valid(RandomGenerator random) {
        List<String> names = new ArrayList<>();
        for (int i = 0; i <= random.nextInt(4); i++) {
            names.add("h." + i + ".weight");
        }
        return RawSafetensors.floats(names, 1 + random.nextInt(4));
    }

    private static String mutate(String json, RandomGenerator random) {
        int from = random.nextInt(json.length() + 1);
        int to = Math.min(json.length(), from + random.nextInt(12));
        String fragment = FRAGMENTS.get(random.nextInt(FRAGMENTS.size()));
        return switch (random.nextInt(4)) {
            case 0 -> json.substring(0, from) + json.substring(to);
            case 1 -> json.substring(0, from) + fragment + json.substring(from);
            case 2 -> json.substring(0, from) + fragment + json.substring(to);
            default -> json.substring(0, to) + json.substring(from);
        };
    }

    private void acceptOrRefuse(byte[] file, int iteration) throws IOException {
        try {
            accepts(file);
        } catch (RuntimeException | Error e) {
            throw new AssertionError(
                    "seed %d, iteration %d, file %s"
                            .formatted(SEED, iteration, HexFormat.of().formatHex(file)),
                    e);
        }
    }

    private boolean accepts(byte[] bytes) throws IOException {
        Path file = Files.write(Files.createTempFile(directory, "x", ".safetensors"), bytes);
        try (Checkpoint source = SafetensorsFile.open(file);
                Arena arena = Arena.ofConfined()) {
            for (String name : source.names()) {
                if (source.info(name).orElseThrow().dtype().isWeightType()) {
                    touch(source.read(name, arena));
                }
            }
            return true;
        } catch (BadModel refused) {
            return false;
        } finally {
            Files.delete(file);
        }
    }

    private static void touch(Tensor tensor) {
        if (tensor.elements() > 0) {
            tensor.get(0);
            tensor.get(tensor.elements() - 1);
        }
    }
}

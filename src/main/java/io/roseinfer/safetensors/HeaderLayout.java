package io.roseinfer.safetensors;

import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.checkpoint.Checkpoint;
import io.roseinfer.tensor.DType;
import java.util.Comparator;
import java.util.List;

/**
 * The arithmetic of a safetensors header: every tensor is as long as its type and shape say, and in file order each begins
 * where the one before it ended, the first at 0. So nothing overlaps, nothing hides in a hole, and the length of the data is
 * known.
 */
final class HeaderLayout {
    private HeaderLayout() {}

    /** The entries in file order, checked; {@code entries} itself is left alone. */
    static List<TensorEntry> inFileOrder(String file, List<TensorEntry> entries) {
        List<TensorEntry> sorted = entries.stream()
                .sorted(Comparator.comparingLong(TensorEntry::begin).thenComparingLong(TensorEntry::end))
                .toList();
        sorted.forEach(entry -> requireSize(file, entry));
        long end = 0;
        for (int i = 0; i < sorted.size(); i++) {
            TensorEntry entry = sorted.get(i);
            if (entry.begin() != end) {
                String fault = entry.begin() < end ? "overlaps" : "leaves a hole after";
                String neighbour =
                        i == 0 ? "the start of the data, 0" : sorted.get(i - 1).toString();
                throw new BadModel(file + ": invalid offset: " + entry + " " + fault + " " + neighbour
                        + "; tensors must follow each other without gaps; the file was written wrongly");
            }
            end = entry.end();
        }
        return sorted;
    }

    private static void requireSize(String file, TensorEntry entry) {
        if (entry.end() < entry.begin()) {
            throw new BadModel(file + ": invalid offset: " + entry + " ends before it begins");
        }
        Checkpoint.Info info = entry.info();
        long elements = elements(file, entry);
        if (elements % info.dtype().blockElements() != 0) {
            throw new BadModel(file + ": " + entry + ": misaligned: " + info + " is not a whole number of bytes");
        }
        if (info.dtype().bytes(elements) != entry.bytes()) {
            throw new BadModel(file + ": " + entry + ": has " + entry.bytes() + " bytes, but " + info + " needs "
                    + info.dtype().bytes(elements));
        }
    }

    /** Dimensions are multiplied in their order, so a zero hides only an overflow that would come after it. */
    private static long elements(String file, TensorEntry entry) {
        long elements = 1;
        for (long dimension : entry.info().shape()) {
            if (Math.unsignedMultiplyHigh(elements, dimension) != 0) {
                throw overflow(file, entry);
            }
            elements *= dimension;
        }
        DType type = entry.info().dtype();
        if (elements < 0 || elements / type.blockElements() > Long.MAX_VALUE / Byte.SIZE / type.blockBytes()) {
            throw overflow(file, entry);
        }
        return elements;
    }

    private static BadModel overflow(String file, TensorEntry entry) {
        return new BadModel(file + ": " + entry + ": size of " + entry.info() + " overflows 2^63 bits");
    }
}

package io.roseinfer.safetensors;

import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.checkpoint.Checkpoint;
import io.roseinfer.tensor.DType;
import java.util.Comparator;
import java.util.List;

/**
 * Checks the layout of a safetensors header. Every tensor has the length of its type and shape, and tensors follow each
 * other from offset 0 without gaps. So tensors do not overlap, there are no unused bytes, and the length of the data is
 * known.
 */
final class HeaderLayout {
    private HeaderLayout() {}

    /** Returns the checked entries in file order; {@code entries} is not modified. */
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
                String neighbor =
                        i == 0 ? "the start of the data, 0" : sorted.get(i - 1).toString();
                throw new BadModel(file + ": invalid offset: " + entry + " " + fault + " " + neighbor
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
            throw new BadModel(file + ": " + entry + ": misaligned: " + info + " does not end at a byte boundary");
        }
        if (info.dtype().bytes(elements) != entry.bytes()) {
            throw new BadModel(file + ": " + entry + ": has " + entry.bytes() + " bytes, but " + info + " needs "
                    + info.dtype().bytes(elements));
        }
    }

    /**
     * Returns the number of elements. Dimensions are multiplied in order, so a zero hides an overflow only if it comes
     * first.
     */
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

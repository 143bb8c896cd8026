package io.roseinfer.backend.cpu.panama;

import static io.roseinfer.backend.cpu.kernel.PackedMatrix.ROW_BYTES;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The prefetch of the next block of weights by register tiles while they multiply by those of their own: a word here and there, for
 * the sake of its cache line, in several streams at once. One stream does not suffice: the processor's own prefetcher stops at the
 * end of a page, and the load that enters the next one waits for memory, and everything behind it too.
 *
 * <p>The first tiles of a block share the work. A tile's streams advance by one row of words divided by the prefetchers in the
 * time the tile takes for a row of words, so when the last of them is through, the next block has been read once.
 *
 * <p>Four streams, visited by turns in loops that take several turns for a row of words: a processor gets no further than its reorder
 * buffer past a load that waits for memory, and on one stream finds but one such load there.
 *
 * <p>Speed against tiles that do not prefetch, Xeon with AVX-512, 2 threads. GPT-2's head from memory, by rows 1, 2, 4, 8, 16, 24,
 * 32: fp32 0.9, 1.1, 1.2, 1.3, 1.2, 1.3, 1.3; bf16, then of two streams from four rows on, 1.1, 1.2, 1.2, 1.2, 1.2, 1.1, 1.2. Decode steps of
 * GPT-2: fp32 8 and 32 rows 1.27; bf16 1, 8, 32 rows 1.17, 1.13, 1.10; int8 1 and 32 rows 1.42, 1.03. A matrix that a cache holds
 * loses, 768×3072 and 8 rows of fp32 a fifth; but a step meets each matrix once, and a model is larger than caches.
 *
 * <p>Fewer streams against four, decode steps of a model of 28 layers of 1,024, best of two runs in turns: int8 with one stream 8 rows 94.1 and
 * 73.0 ms, with none 3 rows 58.6 and 45.5, 5 rows 69.4 and 60.8, 16 rows 143 and 122; bf16 with two 8 rows 97.3 and 90.7, 16 rows 160 and
 * 147, 32 rows 274 and 262. Eight streams took 71 ms for 8 rows of int8 and sixteen 99 where four took 68. Int8 keeps one stream where three
 * tiles share the work: a third of its block is so small that two of four streams fall in one page, and 24 rows took 254 ms, not 181.
 *
 * <p>On an AMD Zen 5, 2 threads, it loses: decode steps of 1, 2, 8, 32 rows by {@code bench model}, bf16 0.75, 0.79, 0.63, 0.84, int8
 * 0.91, 0.84, 1.06, 1.0, fp32 1.08, 0.86, 1.02, 1.0. So it is left to the processors where it was seen to pay ({@link Processor}).
 *
 * <p>Every number of prefetchers is a copy of the tiles, compiled when a batch first needs it: until then some steps take several
 * times as long, and allocate.
 */
final class BlockPrefetch {
    /** Most tiles that share the work: three tall ones take about as long as the memory for one block of fp32. */
    static final int MAX_PREFETCHERS = 3;

    private static final int STREAMS = 4;

    private BlockPrefetch() {}

    /** Streams per turn of a tile whose loop takes {@code iterationsPerWord} turns for a row of words. */
    static int streams(int iterationsPerWord) {
        return STREAMS / iterationsPerWord;
    }

    /** Turns after which a tile whose loop takes {@code iterationsPerWord} turns for a row of words is at its first streams again. */
    static int iterations(int iterationsPerWord, int prefetchers) {
        return iterationsPerWord == STREAMS && prefetchers > 1 ? 1 : iterationsPerWord;
    }

    /** Bytes by which a stream of one of the {@code prefetchers} advances in a turn; 0 where there are none. */
    static long stride(int prefetchers) {
        return prefetchers == 0 ? 0 : ROW_BYTES / STREAMS / prefetchers;
    }

    /** Reads a word of each stream, {@code apart} bytes from each other; the sum has no meaning. */
    static int read(MemorySegment w, long at, long apart, int streams) {
        int sum = w.get(ValueLayout.JAVA_INT, at);
        if (streams > 1) {
            sum += w.get(ValueLayout.JAVA_INT, at + apart);
        }
        if (streams > 2) {
            sum += w.get(ValueLayout.JAVA_INT, at + 2 * apart) + w.get(ValueLayout.JAVA_INT, at + 3 * apart);
        }
        return sum;
    }
}

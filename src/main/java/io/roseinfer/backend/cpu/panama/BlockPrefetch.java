package io.roseinfer.backend.cpu.panama;

import static io.roseinfer.backend.cpu.kernel.PackedMatrix.ROW_BYTES;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Prefetch of the next weight block by register tiles while they multiply the current one: they read one word per cache line, in several
 * streams. One stream is not enough: the hardware prefetcher stops at the page boundary, and the load that enters the next page stalls
 * everything after it.
 *
 * <p>The first tiles of a block share the work. A tile's streams advance by one row of words divided by the prefetchers in the time of a
 * row of words, so when the last of them ends, the next block has been read once.
 *
 * <p>Four streams: past a load that misses, a core runs ahead only as far as its reorder buffer, and finds only one such load per stream.
 * Loops with several iterations per row of words visit the streams round-robin. Int8 keeps one stream if three tiles share the work: a
 * third of its block is so small that two of four streams fall in one page.
 *
 * <p>Used only on processors where it was measured to pay ({@link Processor}); the measurements are in {@code numbers.md}. Every number of
 * prefetchers is a copy of the tiles, compiled when a batch first needs it.
 */
final class BlockPrefetch {
    /** Maximum tiles that share the work: three tall ones take as long as memory does for a block of fp32. */
    static final int MAX_PREFETCHERS = 3;

    private static final int STREAMS = 4;

    private BlockPrefetch() {}

    /** Returns the streams read per iteration of a loop with {@code iterationsPerWord} iterations per row of words. */
    static int streams(int iterationsPerWord) {
        return STREAMS / iterationsPerWord;
    }

    /** Returns the iterations in a round over all streams, for a loop with {@code iterationsPerWord} iterations per row of words. */
    static int iterations(int iterationsPerWord, int prefetchers) {
        return iterationsPerWord == STREAMS && prefetchers > 1 ? 1 : iterationsPerWord;
    }

    /** Returns the bytes by which a stream advances per round; 0 without prefetchers. */
    static long stride(int prefetchers) {
        return prefetchers == 0 ? 0 : ROW_BYTES / STREAMS / prefetchers;
    }

    /** Reads a word of each stream, {@code apart} bytes apart; the result only keeps the loads alive. */
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

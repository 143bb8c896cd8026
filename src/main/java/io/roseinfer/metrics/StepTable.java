package io.roseinfer.metrics;

import io.roseinfer.metrics.StepRecord.Fact;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.RandomAccess;

/**
 * An immutable list of steps, stored by fact. For each {@value #CHUNK_STEPS} steps, a fact is stored as its minimum and
 * the differences from it, in as few bytes as the largest difference needs: about 30 bytes for all facts of a step.
 * Records are created on access; {@link #get(int, Fact)} and {@link #sum} create none.
 */
public final class StepTable extends AbstractList<StepRecord> implements RandomAccess {
    /** The table without steps. */
    public static final StepTable EMPTY = new StepTable(new Column[0][], 0);

    private static final int CHUNK_STEPS = 1024;
    private static final Fact[] FACTS = Fact.values();

    private final Column[][] chunks;
    private final int size;

    private StepTable(Column[][] chunks, int size) {
        this.chunks = chunks;
        this.size = size;
    }

    /** Returns a table of these steps; the same object if they are a table. */
    public static StepTable copyOf(List<StepRecord> steps) {
        if (steps instanceof StepTable table) {
            return table;
        }
        Builder builder = new Builder();
        steps.forEach(builder::add);
        return builder.build();
    }

    @Override
    public int size() {
        return size;
    }

    @Override
    public StepRecord get(int index) {
        Objects.checkIndex(index, size);
        WritableStep step = new WritableStep();
        for (Fact fact : FACTS) {
            step.set(fact, get(index, fact));
        }
        return step;
    }

    /** Returns a fact of a step. */
    public long get(int index, Fact fact) {
        Objects.checkIndex(index, size);
        return chunks[index / CHUNK_STEPS][fact.ordinal()].get(index % CHUNK_STEPS);
    }

    /** Returns the sum of a fact over all steps. */
    public long sum(Fact fact) {
        long sum = 0;
        for (int chunk = 0; chunk < chunks.length; chunk++) {
            sum += chunks[chunk][fact.ordinal()].sum(Math.min(CHUNK_STEPS, size - chunk * CHUNK_STEPS));
        }
        return sum;
    }

    /** Adds a fact of each step to the step's element of an array. */
    private void addTo(long[] sums, Fact fact) {
        for (int chunk = 0; chunk < chunks.length; chunk++) {
            int from = chunk * CHUNK_STEPS;
            chunks[chunk][fact.ordinal()].addTo(sums, from, Math.min(CHUNK_STEPS, size - from));
        }
    }

    /** Returns the {@link StepRecord#endNanos} of each step. */
    public long[] endNanos() {
        long[] ends = new long[size];
        for (Fact fact : StepRecord.UNTIL_END) {
            addTo(ends, fact);
        }
        return ends;
    }

    /** Returns the {@link StepRecord#awaitedNanos} of a step. */
    public long awaitedNanos(int index) {
        long nanos = 0;
        for (Fact fact : StepRecord.UNTIL_AWAITED) {
            nanos += get(index, fact);
        }
        return nanos;
    }

    /**
     * A fact of consecutive steps.
     *
     * @param min the minimum
     * @param width bytes per step: 0 if all are equal, else 1, 2, 4 or 8
     * @param bytes the unsigned differences from the minimum
     */
    private record Column(long min, int width, byte[] bytes) {
        private static final VarHandle SHORTS =
                MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.nativeOrder());
        private static final VarHandle INTS =
                MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.nativeOrder());
        private static final VarHandle LONGS =
                MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());

        private static final byte[] NONE = {};

        /** Stores values {@code from}, {@code from + FACTS} and so on. */
        private static Column of(long[] values, int from, int count) {
            long min = Long.MAX_VALUE;
            long max = Long.MIN_VALUE;
            for (int i = 0, at = from; i < count; i++, at += StepRecord.FACTS) {
                min = Math.min(min, values[at]);
                max = Math.max(max, values[at]);
            }
            int width = width(max - min);
            Column column = new Column(min, width, width == 0 ? NONE : new byte[count * width]);
            for (int i = 0, at = from; width > 0 && i < count; i++, at += StepRecord.FACTS) {
                column.set(i, values[at] - min);
            }
            return column;
        }

        private static int width(long range) {
            if (range == 0) {
                return 0;
            } else if (range >>> Byte.SIZE == 0) {
                return Byte.BYTES;
            } else if (range >>> Short.SIZE == 0) {
                return Short.BYTES;
            }
            return range >>> Integer.SIZE == 0 ? Integer.BYTES : Long.BYTES;
        }

        private void set(int index, long difference) {
            switch (width) {
                case Byte.BYTES -> bytes[index] = (byte) difference;
                case Short.BYTES -> SHORTS.set(bytes, index * Short.BYTES, (short) difference);
                case Integer.BYTES -> INTS.set(bytes, index * Integer.BYTES, (int) difference);
                default -> LONGS.set(bytes, index * Long.BYTES, difference);
            }
        }

        private long sum(int count) {
            if (width == 0) {
                return min * count;
            }
            long sum = 0;
            for (int i = 0; i < count; i++) {
                sum += get(i);
            }
            return sum;
        }

        private void addTo(long[] sums, int from, int count) {
            if (width == 0) {
                for (int i = 0; min != 0 && i < count; i++) {
                    sums[from + i] += min;
                }
                return;
            }
            for (int i = 0; i < count; i++) {
                sums[from + i] += get(i);
            }
        }

        private long get(int index) {
            return switch (width) {
                case 0 -> min;
                case Byte.BYTES -> min + Byte.toUnsignedLong(bytes[index]);
                case Short.BYTES -> min + Short.toUnsignedLong((short) SHORTS.get(bytes, index * Short.BYTES));
                case Integer.BYTES -> min + Integer.toUnsignedLong((int) INTS.get(bytes, index * Integer.BYTES));
                default -> min + (long) LONGS.get(bytes, index * Long.BYTES);
            };
        }
    }

    /** Collects the steps of a table. Not thread-safe. */
    public static final class Builder {
        private final List<Column[]> chunks = new ArrayList<>();
        private final long[] open = new long[CHUNK_STEPS * StepRecord.FACTS];
        private int openSteps;

        /** Adds a step, which may be reused afterwards. */
        public void add(StepRecord step) {
            step.copyTo(open, openSteps * StepRecord.FACTS);
            openSteps++;
            if (openSteps == CHUNK_STEPS) {
                chunks.add(columns());
                openSteps = 0;
            }
        }

        private Column[] columns() {
            Column[] columns = new Column[StepRecord.FACTS];
            for (int fact = 0; fact < columns.length; fact++) {
                columns[fact] = Column.of(open, fact, openSteps);
            }
            return columns;
        }

        /** Returns the table of the steps added so far. */
        public StepTable build() {
            List<Column[]> all = new ArrayList<>(chunks);
            if (openSteps > 0) {
                all.add(columns());
            }
            return new StepTable(all.toArray(Column[][]::new), chunks.size() * CHUNK_STEPS + openSteps);
        }
    }
}

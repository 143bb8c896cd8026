package io.roseinfer.backend.cuda.nvtx;

import java.lang.foreign.MemorySegment;

/** A profiler's ranges, by way of one native binding or the other. */
interface RangeStack {

    /** Begins a range of the calling thread; the name ends with a zero byte. */
    void push(MemorySegment name);

    /** Ends the range that the thread began last. */
    void pop();

    /** By the JNI library, which has NVTX's own header in it. */
    RangeStack HEADER = new RangeStack() {
        @Override
        public void push(MemorySegment name) {
            NativeCalls.push(name.address());
        }

        @Override
        public void pop() {
            NativeCalls.pop();
        }
    };
}

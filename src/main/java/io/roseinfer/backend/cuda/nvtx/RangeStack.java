package io.roseinfer.backend.cuda.nvtx;

import java.lang.foreign.MemorySegment;

/** Push and pop of profiler ranges, through one of the native bindings. */
interface RangeStack {

    /** Begins a range on the calling thread; the name is zero-terminated. */
    void push(MemorySegment name);

    /** Ends the thread's innermost range. */
    void pop();

    /** Ranges through NVTX's header in the JNI library. */
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

package io.roseinfer.backend.cuda;

import java.lang.foreign.MemorySegment;
import org.bytedeco.javacpp.Pointer;

/** Memory that somebody else owns, as the presets want to be told of it. */
final class Address extends Pointer {
    Address(MemorySegment memory) {
        super((Pointer) null);
        this.address = memory.address();
    }
}

package io.roseinfer.backend.cuda.driver;

import java.lang.foreign.MemorySegment;
import org.bytedeco.javacpp.Pointer;

/** Memory that somebody else owns, as the presets want to be told of it. */
public final class Address extends Pointer {
    public Address(MemorySegment memory) {
        super((Pointer) null);
        this.address = memory.address();
    }
}

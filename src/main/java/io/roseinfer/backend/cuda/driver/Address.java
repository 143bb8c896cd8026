package io.roseinfer.backend.cuda.driver;

import java.lang.foreign.MemorySegment;
import org.bytedeco.javacpp.Pointer;

/** Non-owning JavaCPP pointer for CUDA calls. */
public final class Address extends Pointer {
    public Address(MemorySegment memory) {
        super((Pointer) null);
        this.address = memory.address();
    }
}

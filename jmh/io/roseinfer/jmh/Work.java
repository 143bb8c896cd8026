package io.roseinfer.jmh;

import org.openjdk.jmh.annotations.AuxCounters;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** Work of all threads per second in units of 10⁹: useful floating-point operations, and bytes that must be read. */
@State(Scope.Thread)
@AuxCounters(AuxCounters.Type.OPERATIONS)
public class Work {
    public double gflop;
    public double gbyte;

    @Setup(Level.Iteration)
    public void clear() {
        gflop = 0;
        gbyte = 0;
    }
}

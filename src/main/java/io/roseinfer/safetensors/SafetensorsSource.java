package io.roseinfer.safetensors;

import io.roseinfer.base.Quoted;
import io.roseinfer.checkpoint.Checkpoint;
import io.roseinfer.tensor.Tensor;
import java.lang.foreign.Arena;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;

/** A checkpoint of a checked safetensors header and the data after it. */
final class SafetensorsSource implements Checkpoint {
    private final String description;
    private final SafetensorsHeader header;
    private final TensorBytes bytes;
    private final AtomicBoolean closed = new AtomicBoolean();

    /** Takes ownership of {@code bytes}. */
    SafetensorsSource(String description, SafetensorsHeader header, TensorBytes bytes) {
        this.description = description;
        this.header = header;
        this.bytes = bytes;
    }

    @Override
    public String description() {
        return description;
    }

    @Override
    public Set<String> names() {
        return header.tensors().keySet();
    }

    @Override
    public Optional<Info> info(String name) {
        return Optional.ofNullable(header.tensors().get(name)).map(TensorEntry::info);
    }

    @Override
    public Tensor read(String name, Arena arena) {
        TensorEntry entry = header.tensors().get(name);
        if (entry == null) {
            throw new NoSuchElementException(description + " has no tensor " + Quoted.name(name));
        }
        Info info = entry.info();
        return new Tensor(info.dtype(), info.shape(), bytes.slice(entry.begin(), entry.bytes(), arena));
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            bytes.close();
        }
    }
}

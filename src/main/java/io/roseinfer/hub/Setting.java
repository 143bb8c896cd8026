package io.roseinfer.hub;

import io.roseinfer.base.RoseException.BadInput;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * A value out of the environment, or why it cannot be used. The refusal is kept until somebody needs the value: what is in the cache
 * needs neither a hub nor a token.
 */
record Setting<T>(Optional<T> value, Optional<BadInput> refusal) {

    static <T> Setting<T> of(T value) {
        return new Setting<>(Optional.of(value), Optional.empty());
    }

    /** Reads a value; what the reader refuses is kept. */
    static <T> Setting<T> read(Supplier<T> reader) {
        try {
            return of(reader.get());
        } catch (BadInput e) {
            return new Setting<>(Optional.empty(), Optional.of(e));
        }
    }

    /**
     * The value.
     *
     * @throws BadInput if there is none
     */
    T get() {
        refusal.ifPresent(why -> {
            throw new BadInput(why.getMessage(), why);
        });
        return value.orElseThrow();
    }
}

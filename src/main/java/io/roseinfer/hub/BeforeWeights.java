package io.roseinfer.hub;

import java.nio.file.Path;

/** Looks at a model before its weights are downloaded; an exception ends the download. */
public interface BeforeWeights {
    /** Looks at {@code config.json}, the first file of a model. */
    void config(Path file);

    /** Looks at the directory with all files but the weights. */
    void smallFiles(Path directory);
}

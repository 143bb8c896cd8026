package io.roseinfer.hub;

import java.nio.file.Path;

/** Checks a model before its weights are downloaded; an exception cancels the download. */
public interface BeforeWeights {
    /** Checks {@code config.json}, the first file of a model. */
    void config(Path file);

    /** Checks the directory with all files except the weights. */
    void smallFiles(Path directory);
}

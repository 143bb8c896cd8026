package io.roseinfer.batch;

import io.roseinfer.Settings;
import io.roseinfer.base.RoseException.BadInput;
import java.util.Objects;
import java.util.ServiceLoader;

/**
 * Runs batches on many machines. Implementations are services in separate jars, so that this package does not depend on
 * a cluster's jars.
 */
public interface BatchCluster {
    /**
     * A batch for a cluster.
     *
     * @param master the address of the cluster, in the cluster's format
     * @param input an uncompressed file that all machines can read, in the format of {@link BatchInput}
     * @param output a folder that all machines can write to
     * @param resume whether the folder may exist; lines that it has responses to are skipped
     * @param settings the model and the engine of each machine
     * @param servedName the name that requests may give the model
     * @param modelDefaults whether the model's recommended sampling parameters are the defaults
     * @param seed combined with a request's key, the seed of a request without one
     */
    record Job(
            String master,
            String input,
            String output,
            boolean resume,
            Settings settings,
            String servedName,
            boolean modelDefaults,
            long seed) {
        public Job {
            Objects.requireNonNull(master, "master");
            Objects.requireNonNull(input, "input");
            Objects.requireNonNull(output, "output");
            Objects.requireNonNull(settings, "settings");
            Objects.requireNonNull(servedName, "servedName");
        }
    }

    /** Returns the name of the flag for the master, without dashes. */
    String name();

    /**
     * Runs a batch.
     *
     * @throws BadInput if a file cannot be read or written
     * @throws io.roseinfer.base.RoseException if the cluster fails
     */
    BatchTotals run(Job job);

    /**
     * Returns the cluster for a flag.
     *
     * @throws BadInput if no jar on the class path has one
     */
    static BatchCluster named(String name) {
        return ServiceLoader.load(BatchCluster.class).stream()
                .map(ServiceLoader.Provider::get)
                .filter(cluster -> cluster.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new BadInput("--" + name + " needs roseinfer-" + name
                        + ".jar and the cluster's jars on the class path; see src/site/markdown/how-to/"
                        + name
                        + ".md"));
    }
}

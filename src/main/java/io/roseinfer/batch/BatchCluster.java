package io.roseinfer.batch;

import io.roseinfer.Settings;
import io.roseinfer.base.RoseException.BadInput;
import java.util.Objects;
import java.util.ServiceLoader;

/**
 * Runs batches on many machines. An implementation is in a jar of its own and is found as a service, so nothing here depends on the cluster,
 * and nobody without one downloads its jars.
 */
public interface BatchCluster {
    /**
     * A batch for a cluster.
     *
     * @param master the address of the cluster, in its own terms
     * @param input a file that all machines see, as {@link BatchInput} reads it, not compressed
     * @param output a folder that all machines see, for files of answers
     * @param resume whether the folder may exist; lines that it has answers to are skipped
     * @param settings the model and the engine of each machine
     * @param servedName the name that requests may give the model
     * @param modelDefaults whether requests that set no sampling parameters get those that the model's authors recommend
     * @param seed with a request's key, the seed of a request that has none
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

    /** The name of the flag that gives the master, without its dashes. */
    String name();

    /**
     * Runs a batch.
     *
     * @throws BadInput if a file cannot be read or written
     * @throws io.roseinfer.base.RoseException if the cluster gives up
     */
    BatchTotals run(Job job);

    /**
     * The cluster of a flag.
     *
     * @throws BadInput if no jar on the class path has one
     */
    static BatchCluster named(String name) {
        return ServiceLoader.load(BatchCluster.class).stream()
                .map(ServiceLoader.Provider::get)
                .filter(cluster -> cluster.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new BadInput("--" + name + " needs roseinfer-" + name
                        + ".jar and the cluster's own jars on the class path, where they are not; src/site/markdown/"
                        + name
                        + ".md says how to add them"));
    }
}

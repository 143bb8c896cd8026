package io.roseinfer.batch;

import io.roseinfer.Settings;
import io.roseinfer.base.RoseException.BadInput;
import java.util.Objects;
import java.util.ServiceLoader;

/**
 * Works batches off on many machines. Who can is in a jar of its own, which names it as a service: so nothing here knows the cluster, and who
 * has none downloads nothing of it.
 */
public interface BatchCluster {
    /**
     * A batch for a cluster.
     *
     * @param master the cluster, as it is called there
     * @param input a file that all machines see, as {@link BatchInput} reads it, not compressed
     * @param output a folder that all machines see, of files of answers
     * @param resume whether the folder may be there, and lines that it answers are skipped
     * @param settings the model, and what engines of it are opened with
     * @param servedName what requests may call the model
     * @param modelDefaults whether what the model's authors recommend counts where a request says nothing
     * @param seed of requests that have none, together with their key
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

    /** What the flag is called that names its master. */
    String name();

    /**
     * Works a batch off.
     *
     * @throws BadInput if a file cannot be read or written
     * @throws io.roseinfer.base.RoseException if the cluster gives up
     */
    BatchTotals run(Job job);

    /**
     * The cluster of a name.
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

package io.roseinfer.spark;

/**
 * Checks the version of Java. Spark also runs on older ones, which cannot load the engine's classes; the classes that Spark loads first are
 * compiled for those, mention no class of the engine that the verifier would load, and call this before all else.
 */
final class JavaVersion {
    private static final int LEAST = 25;

    private JavaVersion() {}

    /** Fails on a JVM that cannot load the engine. */
    static void require() {
        require(Runtime.version().feature());
    }

    static void require(int version) {
        if (version < LEAST) {
            throw new UnsupportedOperationException("roseinfer needs Java " + LEAST + " or newer, and this JVM, of "
                    + System.getProperty("java.home") + ", is Java " + version
                    + "; start Spark's driver and executors with JAVA_HOME and"
                    + " spark.executorEnv.JAVA_HOME at a JDK " + LEAST);
        }
    }
}

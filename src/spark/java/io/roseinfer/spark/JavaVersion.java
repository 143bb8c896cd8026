package io.roseinfer.spark;

/**
 * Checks the version of Java. Spark also runs on older versions, which cannot load the engine's classes. The classes
 * that Spark loads first are compiled for those versions, refer to no engine class that the verifier would load, and
 * call this method first.
 */
final class JavaVersion {
    private static final int MIN_VERSION = 25;

    private JavaVersion() {}

    /** Throws on a JVM that cannot load the engine. */
    static void require() {
        require(Runtime.version().feature());
    }

    static void require(int version) {
        if (version < MIN_VERSION) {
            throw new UnsupportedOperationException("roseinfer needs Java " + MIN_VERSION + " or newer, but the JVM at "
                    + System.getProperty("java.home") + " is Java " + version
                    + "; start Spark's driver and executors with JAVA_HOME and"
                    + " spark.executorEnv.JAVA_HOME set to a JDK " + MIN_VERSION);
        }
    }
}

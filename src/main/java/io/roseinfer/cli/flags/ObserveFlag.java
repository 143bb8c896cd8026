package io.roseinfer.cli.flags;

import io.roseinfer.observe.EngineObserver;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Option;

/** The flag for custom observers. */
@Heading("Observers")
public final class ObserveFlag {
    private static final String FLAG = "--observe";

    @Option(
            names = FLAG,
            paramLabel = "<CLASS|FILE.java[:ARG]>",
            description =
                    "Notify a StepObserver or RequestObserver, by class name or source file, of all replicas except in"
                            + " warm-ups, and close it at the end if it is AutoCloseable; ARG goes to its constructor. Can be repeated.",
            showDefaultValue = Visibility.NEVER)
    private List<String> names = new ArrayList<>();

    /** Returns whether there are observers. */
    public boolean isGiven() {
        return !names.isEmpty();
    }

    /**
     * Creates the observers.
     *
     * @throws io.roseinfer.base.RoseException.BadInput if there is no such observer, or its constructor fails
     */
    public CustomObservers open() {
        ExtensionChoice<EngineObserver> choice = ExtensionChoice.of(FLAG, EngineObserver.class);
        return new CustomObservers(names.stream().map(choice::make).toList());
    }
}

package io.roseinfer.cli.bench;

import io.roseinfer.bench.http.LoadResult;
import io.roseinfer.bench.load.OfferedLoad;
import io.roseinfer.bench.report.Environment;
import io.roseinfer.cli.terminal.Terminal;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What answers a load: a server, an engine in this process, or one on simulated time. Made ready once for any number of runs. */
sealed interface SystemUnderTest extends AutoCloseable permits ServerUnderTest, EngineUnderTest, SimulationUnderTest {

    /** Makes ready what flags name. */
    static SystemUnderTest open(ServeCommandLine line, Terminal terminal) {
        return switch (line.flags().endpoint().backend()) {
            case HTTP -> ServerUnderTest.elsewhere(line, terminal);
            case NULL -> ServerUnderTest.onlyWriting(line, terminal);
            case ENGINE -> EngineUnderTest.load(line, terminal);
            case SIM -> SimulationUnderTest.load(line, terminal);
        };
    }

    /** Offers a load, behind a warm-up, with the bounds that flags have for the client. */
    LoadResult run(ServeFlags flags, OfferedLoad load);

    /** What it calls its model. */
    String model();

    /** The values in force of all flags that mean something to it. */
    Map<String, @Nullable Object> settings();

    Environment environment();

    @Override
    void close();
}

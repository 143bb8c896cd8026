package io.roseinfer.cli.flags;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.bench.load.Arrivals;
import io.roseinfer.bench.load.OfferedLoad;
import io.roseinfer.bench.load.OfferedRequest;
import java.util.List;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

/** When requests arrive. */
public final class ArrivalFlags {
    @Option(
            names = "--request-rate",
            paramLabel = "<R|inf>",
            converter = Ranges.PositiveOrInfinite.class,
            description = "Requests per second; inf sends them all at once.")
    private double requestRate = Double.POSITIVE_INFINITY;

    @Option(
            names = "--burstiness",
            paramLabel = "<B|inf>",
            converter = Ranges.PositiveOrInfinite.class,
            description =
                    "Shape of the gamma distribution of the gaps: 1 is a Poisson process, less has more bursts, inf is one request every"
                            + " 1/R s.")
    private double burstiness = 1;

    /** Requests per second; infinite without the flag. */
    public double requestRate() {
        return requestRate;
    }

    public double burstiness() {
        return burstiness;
    }

    /** The requests at times of their own. */
    public OfferedLoad load(List<OfferedRequest> requests, long seed, CommandSpec command) {
        if (Double.isInfinite(requestRate) && GivenFlags.has(command, "--burstiness")) {
            throw new BadInput("--burstiness shapes the gaps of --request-rate, which is inf; give a rate");
        }
        return OfferedLoad.of(requests, new Arrivals(requestRate, burstiness, seed));
    }
}

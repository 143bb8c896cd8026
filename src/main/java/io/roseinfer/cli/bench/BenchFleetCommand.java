package io.roseinfer.cli.bench;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.cli.flags.BenchServeOutputFlags;
import io.roseinfer.cli.flags.Choices;
import io.roseinfer.cli.flags.EndpointFlags.Kind;
import io.roseinfer.cli.flags.ExplicitFlags;
import io.roseinfer.cli.flags.ObserveFlag;
import io.roseinfer.cli.flags.ReportFlags;
import io.roseinfer.cli.terminal.Command;
import io.roseinfer.cli.terminal.Terminal;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;

@picocli.CommandLine.Command(
        name = "fleet",
        description = {
            "Simulate several engines with routing, failures and scaling: bench serve --backend sim under its own name.",
            "Set the number of engines with --engines."
        },
        abbreviateSynopsis = true,
        showDefaultValues = true,
        sortOptions = false,
        footer = "%nThe exit code is 8 if the run is invalid, for example because too many requests failed.")
public final class BenchFleetCommand implements Command {
    @Mixin
    private BenchServeFlags flags = new BenchServeFlags();

    @Mixin
    private BenchServeOutputFlags results = new BenchServeOutputFlags();

    @Mixin
    private ReportFlags pages = new ReportFlags();

    @Mixin
    private ObserveFlag observe = new ObserveFlag();

    @Override
    public int run(CommandSpec command, Terminal terminal) {
        Kind backend = flags.endpoint().backend();
        if (ExplicitFlags.has(command, "--backend") && backend != Kind.SIM) {
            throw new BadInput("--backend is " + Choices.word(backend)
                    + ", but bench fleet is simulated; leave it out, or use bench serve");
        }
        List<String> arguments = new ArrayList<>(Arguments.of(command));
        arguments.add("--backend=sim");
        return new ServeRun(ServeCommandLine.parse("bench fleet", arguments), results, pages, observe).run(terminal);
    }
}

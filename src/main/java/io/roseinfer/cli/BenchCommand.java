package io.roseinfer.cli;

import picocli.CommandLine.Command;

@Command(
        name = "bench",
        description = "Measure: streaming (the default) is the whole engine under load, scheduler its core alone.",
        synopsisSubcommandLabel = "[streaming|scheduler]")
final class BenchCommand {}

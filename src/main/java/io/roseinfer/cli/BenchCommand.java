package io.roseinfer.cli;

import picocli.CommandLine.Command;

@Command(
        name = "bench",
        description =
                "Measure: streaming (the default) is the whole engine under load, scheduler its core alone, model the device alone.",
        synopsisSubcommandLabel = "[streaming|scheduler|model]")
final class BenchCommand {}

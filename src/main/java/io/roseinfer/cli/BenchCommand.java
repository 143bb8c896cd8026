package io.roseinfer.cli;

import picocli.CommandLine.Command;

@Command(
        name = "bench",
        description =
                "Measure: streaming (the default) is the whole engine under load, scheduler its core alone, model the device alone,"
                        + " serve a server over HTTP.",
        synopsisSubcommandLabel = "[streaming|scheduler|model|serve]")
final class BenchCommand {}

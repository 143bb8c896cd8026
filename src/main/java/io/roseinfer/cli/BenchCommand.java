package io.roseinfer.cli;

import picocli.CommandLine.Command;

@Command(
        name = "bench",
        description =
                "Benchmark the whole engine under load (streaming, the default), its scheduler, its model steps, or a server over"
                        + " HTTP (serve); sweep, ab and replay vary, compare and repeat runs of serve.",
        synopsisSubcommandLabel = "[streaming|scheduler|model|serve|sweep|ab|replay]",
        commandListHeading = "%nCommands:%n")
final class BenchCommand {}

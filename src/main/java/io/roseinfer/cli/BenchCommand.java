package io.roseinfer.cli;

import picocli.CommandLine.Command;

@Command(
        name = "bench",
        description =
                "Measure: streaming (the default) is the whole engine under load, scheduler its core alone, model the device alone,"
                        + " serve a server over HTTP; sweep, ab and replay run serve over settings, in pairs, and again.",
        synopsisSubcommandLabel = "[streaming|scheduler|model|serve|sweep|ab|replay]",
        commandListHeading = "%nCommands:%n")
final class BenchCommand {}

package io.roseinfer.cli.flags;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.scheduler.policy.Drafter;
import picocli.CommandLine.Option;

/** The flag for speculative decoding. */
@Heading("Scheduling")
public final class SpeculateFlag {
    private static final String FLAG = "--speculate";
    private static final int NGRAM_TOKENS = 8;

    @Option(
            names = FLAG,
            paramLabel = "<none|ngram[:N]|CLASS|FILE.java[:ARG]>",
            description = "Draft tokens that a step verifies; no token changes, on CUDA given --batch-invariant: none,"
                    + " ngram (up to N, by default " + NGRAM_TOKENS
                    + ", that followed the latest three tokens before), or the proposals of a"
                    + " Drafter by class name or source file.")
    private String drafter = "none";

    /**
     * Returns the drafter.
     *
     * @throws BadInput if there is no such drafter
     */
    public Drafter drafter() {
        return PolicyChoice.of(FLAG, Drafter.class)
                .or("none", Drafter::none)
                .or("ngram", () -> Drafter.ngram(NGRAM_TOKENS))
                .orWithArgument("ngram", argument -> Drafter.ngram(tokens(argument)))
                .make(drafter);
    }

    private int tokens(String argument) {
        try {
            return Integer.parseInt(argument);
        } catch (NumberFormatException e) {
            throw new BadInput(FLAG + " is '" + drafter + "', but N must be 1 to " + (Drafter.MAX_ROW_TOKENS - 1), e);
        }
    }
}

package io.roseinfer.cli.flags;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.bench.SyntheticDrafter;
import io.roseinfer.scheduler.policy.Drafter;
import picocli.CommandLine.Option;

/** The flag for speculative decoding. */
@Heading("Scheduling")
public final class SpeculateFlag {
    private static final String FLAG = "--speculate";
    private static final String SHARED = ":shared";
    private static final int DEFAULT_TOKENS = 8;

    @Option(
            names = FLAG,
            paramLabel = "<none|ngram[:N]|suffix[:N[:shared]]|synthetic:RATES|CLASS|FILE.java[:ARG]>",
            description =
                    "Draft tokens that a step verifies. Output is unchanged (on CUDA only with --batch-invariant): none,"
                            + " ngram (up to N, by default " + DEFAULT_TOKENS
                            + ", tokens after an earlier occurrence of the last three), suffix (the tokens after the earlier"
                            + " occurrence of the longest repeated suffix of the text; shared also searches completions of other"
                            + " requests, which response times can reveal), synthetic (the request's own tokens, some"
                            + " made wrong, so that drafts are accepted at RATES such as 0.8/0.6; except in simulated time, the prompt"
                            + " must have run before), or a Drafter by class name or source file.")
    private String drafter = "none";

    /**
     * Returns the drafter.
     *
     * @throws BadInput if there is no such drafter
     */
    public Drafter drafter() {
        return ExtensionChoice.of(FLAG, Drafter.class)
                .or("none", Drafter::none)
                .or("ngram", () -> Drafter.ngram(DEFAULT_TOKENS))
                .orWithArgument("ngram", "N", argument -> Drafter.ngram(tokens(argument)))
                .or("suffix", () -> Drafter.suffix(DEFAULT_TOKENS, false))
                .orWithArgument("suffix", "N[:shared]", this::suffix)
                .orWithArgument("synthetic", "RATES", SyntheticDrafter::new)
                .make(drafter);
    }

    /** Returns the drafter as a user named it. */
    public String name() {
        return drafter;
    }

    private Drafter suffix(String argument) {
        boolean shared = argument.endsWith(SHARED);
        String number = shared ? argument.substring(0, argument.length() - SHARED.length()) : argument;
        return Drafter.suffix(tokens(number), shared);
    }

    private int tokens(String argument) {
        try {
            return Integer.parseInt(argument);
        } catch (NumberFormatException e) {
            throw new BadInput(FLAG + " is '" + drafter + "', but N must be 1 to " + (Drafter.MAX_ROW_TOKENS - 1), e);
        }
    }
}

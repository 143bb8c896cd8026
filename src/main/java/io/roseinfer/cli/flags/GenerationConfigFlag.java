package io.roseinfer.cli.flags;

import io.roseinfer.LoadedModel;
import io.roseinfer.sampling.SamplingDefaults;
import picocli.CommandLine.Option;

/** Whether what the model's authors recommend counts where a request says nothing. */
@Heading("Sampling")
public final class GenerationConfigFlag {
    /** Where defaults come from. */
    public enum Source {
        /** {@code generation_config.json}. */
        AUTO,
        /** Nowhere. */
        NONE
    }

    @Option(
            names = "--generation-config",
            paramLabel = "<auto|none>",
            defaultValue = "auto",
            description =
                    "Default sampling parameters and maximum length: auto takes them from the model's generation_config.json,"
                            + " none does not.")
    private Source source = Source.AUTO;

    /** The defaults in force. */
    public SamplingDefaults of(LoadedModel model) {
        return ofModel() ? model.samplingDefaults() : SamplingDefaults.NONE;
    }

    /** Whether the model's recommendations are in force. */
    public boolean ofModel() {
        return source == Source.AUTO;
    }
}

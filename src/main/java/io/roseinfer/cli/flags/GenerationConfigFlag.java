package io.roseinfer.cli.flags;

import io.roseinfer.LoadedModel;
import io.roseinfer.sampling.SamplingDefaults;
import picocli.CommandLine.Option;

/** The flag that selects the defaults of requests that omit sampling parameters. */
@Heading("Sampling")
public final class GenerationConfigFlag {
    /** The source of defaults. */
    public enum Source {
        /** {@code generation_config.json}. */
        AUTO,
        /** The defaults of roseinfer. */
        NONE
    }

    @Option(
            names = "--generation-config",
            paramLabel = "<auto|none>",
            defaultValue = "auto",
            description =
                    "Default sampling parameters and maximum length: auto takes them from the model's generation_config.json,"
                            + " none ignores that file.")
    private Source source = Source.AUTO;

    /** Returns the defaults in effect. */
    public SamplingDefaults of(LoadedModel model) {
        return ofModel() ? model.samplingDefaults() : SamplingDefaults.NONE;
    }

    /** Returns whether the model's {@code generation_config.json} is in effect. */
    public boolean ofModel() {
        return source == Source.AUTO;
    }
}

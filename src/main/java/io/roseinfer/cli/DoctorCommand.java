package io.roseinfer.cli;

import io.roseinfer.LoadedModel;
import io.roseinfer.Roseinfer;
import io.roseinfer.backend.cpu.AvailableMemory;
import io.roseinfer.backend.cpu.CpuBackend;
import io.roseinfer.backend.cpu.CpuFeatures;
import io.roseinfer.backend.cpu.CpuOptions;
import io.roseinfer.backend.cuda.CudaBackend;
import io.roseinfer.backend.cuda.CudaOptions;
import io.roseinfer.backend.cuda.KernelImages;
import io.roseinfer.backend.cuda.nvtx.NvtxRanges;
import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException;
import io.roseinfer.cli.flags.Choices;
import io.roseinfer.cli.flags.ModelFlags;
import io.roseinfer.cli.terminal.Downloads;
import io.roseinfer.cli.terminal.Machine;
import io.roseinfer.cli.terminal.MemoryTable;
import io.roseinfer.cli.terminal.Terminal;
import io.roseinfer.hub.HubSettings;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;

@Command(
        name = "doctor",
        description = {
            "Report what roseinfer finds on this machine, and how to fix what is missing.",
            "Loads a model to report its memory use. The exit code is that of the first problem."
        },
        abbreviateSynopsis = true,
        showDefaultValues = true,
        sortOptions = false)
final class DoctorCommand implements io.roseinfer.cli.terminal.Command {
    private static final double GIB = 1L << 30;

    @Mixin
    private ModelFlags model = new ModelFlags();

    @Override
    public int run(CommandSpec spec, Terminal terminal) {
        DoctorReport report = new DoctorReport();
        Machine machine = Machine.here();
        report.line("roseinfer", RootCommand.VERSION);
        report.line("Java", Machine.jdk() + ", " + System.getProperty("java.home"));
        cpu(report, machine);
        report.find("Memory", () -> memory(AvailableMemory.here()));
        gpu(report, machine);
        hub(report, terminal.environment());
        model(report, terminal);
        terminal.print(report.text());
        return report.exitCode();
    }

    private static void cpu(DoctorReport report, Machine machine) {
        CpuFeatures features = CpuFeatures.detect();
        report.line("CPU", machine.cpu() + ", " + features.processors() + " cores");
        report.line("Vector API", features.moduleEnabled() ? features.vectorBits() + "-bit vectors" : "not enabled");
        report.find("CPU kernels", () -> {
            try (CpuBackend backend = new CpuBackend(CpuOptions.defaults())) {
                backend.warnings().forEach(report::advise);
                return backend.description();
            }
        });
    }

    static String memory(AvailableMemory available) {
        var system = (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        return String.format(
                Locale.ROOT,
                "%.1f GiB, %.1f GiB of it available; Java heap up to %.1f GiB, weights and KV cache outside of it",
                system.getTotalMemorySize() / GIB,
                available.bytes() / GIB,
                Runtime.getRuntime().maxMemory() / GIB);
    }

    private static void gpu(DoctorReport report, Machine machine) {
        report.line("GPU", machine.gpu().orElse("no NVIDIA GPU found"));
        report.line("CUDA driver", machine.driver().orElse("not found"));
        report.find(
                "CUDA kernels",
                () -> KernelImages.find().map(KernelImages::description).orElse("none: built without nvcc"));
        report.find("NVTX ranges", NvtxRanges::binding);
        try (CudaBackend cuda = CudaBackend.open(CudaOptions.defaults(), Clock.system())) {
            report.line("CUDA backend", cuda.description());
            report.line("CUDA versions", cuda.versions());
        } catch (RoseException | LinkageError refusal) {
            tellUnusable(report, refusal, machine.gpu().isPresent() || CudaBackend.hasDriver());
        }
    }

    /**
     * Reports why CUDA is not usable, as advice if a GPU or a driver was found. Under WSL a GPU can exist that the kernel does not list,
     * so a driver suffices.
     */
    static void tellUnusable(DoctorReport report, Throwable refusal, boolean gpuExpected) {
        String message = refusal instanceof RoseException known ? Terminal.shown(known) : refusal.getMessage();
        report.line("CUDA backend", "not usable, --device auto uses the CPU: " + message);
        if (gpuExpected) {
            report.advise(String.valueOf(message));
        }
    }

    private static void hub(DoctorReport report, Map<String, String> environment) {
        HubSettings hub = HubSettings.from(environment);
        report.find("Model cache", () -> {
            Path cache = hub.cacheDirectory();
            return cache + (Files.isDirectory(cache) ? "" : " (created by the first download)");
        });
        report.find(
                "Model hub",
                () -> hub.offline()
                        ? "not used: downloads are disabled (HF_HUB_OFFLINE or TRANSFORMERS_OFFLINE)"
                        : hub.endpoint() + " (not contacted by this report)");
        report.find("Hub token", () -> hub.token().isPresent() ? "set" : "none; public models need none");
        hub.tokenWarning().ifPresent(report::advise);
    }

    private void model(DoctorReport report, Terminal terminal) {
        try (Downloads downloads = new Downloads(terminal);
                LoadedModel loaded = Roseinfer.load(model.settings(terminal), downloads)) {
            String dtype = loaded.precision().map(Choices::word).orElse("none");
            report.line("Model", model.model() + ", dtype " + dtype + ", on " + loaded.deviceDescription());
            List<String> plan = MemoryTable.lines(loaded.runner().memory());
            for (int i = 0; i < plan.size(); i++) {
                report.line(i == 0 ? "Memory plan" : "", plan.get(i));
            }
        } catch (RoseException refused) {
            report.line("Model", model.model() + " cannot be loaded, see below");
            report.fail(refused);
        }
    }
}

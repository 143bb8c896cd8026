package io.roseinfer.cli;

import io.roseinfer.backend.cpu.CpuBackend;
import io.roseinfer.backend.cpu.CpuFeatures;
import io.roseinfer.backend.cpu.CpuOptions;
import io.roseinfer.backend.cuda.CudaBackend;
import io.roseinfer.backend.cuda.CudaOptions;
import io.roseinfer.backend.cuda.KernelImages;
import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException.BackendUnavailable;
import io.roseinfer.format.HubSettings;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Formatter;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;

@Command(
        name = "doctor",
        description = "Say what roseinfer finds on this machine, and what to do about what it does not find.")
final class DoctorCommand implements io.roseinfer.cli.Command {
    private static final double GIB = 1L << 30;

    @Override
    public int run(CommandSpec spec, Terminal terminal) {
        terminal.print(examine(Machine.here(), terminal.environment()));
        return 0;
    }

    private static String examine(Machine machine, Map<String, String> environment) {
        Formatter out = new Formatter(Locale.ROOT);
        List<String> advice = new ArrayList<>();
        line(out, "roseinfer", RootCommand.VERSION);
        line(out, "Java", Machine.jdk() + ", " + System.getProperty("java.home"));
        cpu(out, machine, advice);
        memory(out);
        gpu(out, machine, advice);
        modelFiles(out, environment);
        if (advice.isEmpty()) {
            line(out, "To do", "nothing");
        }
        advice.forEach(what -> line(out, "To do", what));
        return out.toString();
    }

    private static void cpu(Formatter out, Machine machine, List<String> advice) {
        CpuFeatures features = CpuFeatures.detect();
        line(out, "CPU", machine.cpu() + ", " + features.processors() + " cores");
        line(out, "Vector API", features.moduleEnabled() ? features.vectorBits() + "-bit vectors" : "not enabled");
        try (CpuBackend backend = new CpuBackend(CpuOptions.defaults())) {
            line(out, "CPU kernels", backend.description());
            advice.addAll(backend.warnings());
        }
    }

    private static void memory(Formatter out) {
        var system = (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        line(
                out,
                "Memory",
                String.format(
                        Locale.ROOT,
                        "%.1f GiB, %.1f GiB of it free; Java heap up to %.1f GiB, weights and KV cache outside of it",
                        system.getTotalMemorySize() / GIB,
                        system.getFreeMemorySize() / GIB,
                        Runtime.getRuntime().maxMemory() / GIB));
    }

    private static void gpu(Formatter out, Machine machine, List<String> advice) {
        line(out, "GPU", machine.gpu().orElse("no NVIDIA GPU found"));
        line(out, "CUDA driver", machine.driver().orElse("not found"));
        line(
                out,
                "CUDA kernels",
                KernelImages.find()
                        .map(KernelImages::description)
                        .orElse("none in this build: there was no nvcc that could compile them"));
        line(out, "CUDA calls", CudaBackend.calls());
        try (CudaBackend cuda = CudaBackend.open(CudaOptions.defaults(), Clock.system())) {
            line(out, "CUDA backend", cuda.description());
            line(out, "CUDA versions", cuda.versions());
        } catch (BackendUnavailable refusal) {
            line(out, "CUDA backend", "not usable, --device auto takes the CPU");
            if (machine.gpu().isPresent()) {
                advice.add(refusal.getMessage());
            }
        }
    }

    private static void modelFiles(Formatter out, Map<String, String> environment) {
        HubSettings hub = HubSettings.from(environment);
        boolean exists = Files.isDirectory(hub.cacheDirectory());
        line(out, "Model cache", hub.cacheDirectory() + (exists ? "" : ", which the first download makes"));
        line(
                out,
                "Model hub",
                hub.offline()
                        ? "not used, HF_HUB_OFFLINE is set"
                        : hub.endpoint().toString());
    }

    private static void line(Formatter out, String label, String value) {
        out.format("%-14s %s%n", label, value);
    }
}

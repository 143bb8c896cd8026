package io.roseinfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.engine.Engine;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The records of the logger {@code io.roseinfer}. */
class LoggedWarningsTest {

    private static final class Records extends Handler {
        private final List<LogRecord> records = new ArrayList<>();

        @Override
        public void publish(LogRecord logged) {
            records.add(logged);
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    }

    @Test
    void retry_of_a_download_is_logged_with_its_reason(@TempDir Path cache) throws Exception {
        HttpServer hub = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        hub.createContext("/", exchange -> {
            exchange.getResponseHeaders().set("Retry-After", "0");
            exchange.sendResponseHeaders(503, -1);
            exchange.close();
        });
        hub.start();
        Records records = new Records();
        Logger logger = Logger.getLogger("io.roseinfer");
        logger.addHandler(records);
        Settings settings = Settings.of("owner/name")
                .withEnvironment(Map.of(
                        "HF_HOME",
                        cache.toString(),
                        "HF_ENDPOINT",
                        "http://127.0.0.1:" + hub.getAddress().getPort()));
        try {
            assertThatThrownBy(() -> Roseinfer.load(settings)).isInstanceOf(BadModel.class);
        } finally {
            logger.removeHandler(records);
            hub.stop(0);
        }
        String prefix = "trying again to download config.json of owner/name, attempt ";
        assertThat(records.records)
                .extracting(LogRecord::getMessage)
                .containsExactly(
                        prefix + "2 of 5: the server returned 503",
                        prefix + "3 of 5: the server returned 503",
                        prefix + "4 of 5: the server returned 503",
                        prefix + "5 of 5: the server returned 503");
    }

    @Test
    void model_warning_states_its_source(@TempDir Path folder) throws Exception {
        for (String file : List.of("config.json", "model.safetensors")) {
            Files.copy(Path.of("src/test/resources/golden/relu", file), folder.resolve(file));
        }
        Files.writeString(folder.resolve("tekken.json"), "{}");
        Records records = new Records();
        Logger logger = Logger.getLogger("io.roseinfer");
        logger.addHandler(records);
        try (Engine engine = Roseinfer.open(
                Settings.of(folder.toString()).withDevice(Settings.Device.SIM).withTokenIdsOnly(true))) {
            assertThat(engine.replicas()).isOne();
        } finally {
            logger.removeHandler(records);
        }
        assertThat(records.records).singleElement().satisfies(logged -> {
            assertThat(logged.getMessage()).contains("tekken.json", "no tokenizer");
            assertThat(logged.getLoggerName()).isEqualTo("io.roseinfer");
            assertThat(logged.getSourceClassName()).isEqualTo(Roseinfer.class.getName());
            assertThat(logged.getSourceMethodName()).isEqualTo("warn");
        });
    }
}

package io.roseinfer.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.Manifests;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** Checks the Kubernetes example: kinds, fields, matching names, and existing flags. */
class KubernetesManifestsTest {
    private static final String POOL_GROUP = "inference.networking.k8s.io";

    /** API versions by kind, as of InferencePool v1 and release 0.9 of llm-d's router. */
    private static final Map<String, String> API_VERSIONS = Map.ofEntries(
            Map.entry("Deployment", "apps/v1"),
            Map.entry("Service", "v1"),
            Map.entry("ConfigMap", "v1"),
            Map.entry("ServiceAccount", "v1"),
            Map.entry("Role", "rbac.authorization.k8s.io/v1"),
            Map.entry("RoleBinding", "rbac.authorization.k8s.io/v1"),
            Map.entry("NetworkPolicy", "networking.k8s.io/v1"),
            Map.entry("PodMonitor", "monitoring.coreos.com/v1"),
            Map.entry("PrometheusRule", "monitoring.coreos.com/v1"),
            Map.entry("HTTPRoute", "gateway.networking.k8s.io/v1"),
            Map.entry("InferencePool", POOL_GROUP + "/v1"),
            Map.entry("InferenceObjective", "llm-d.ai/v1alpha2"));

    private final Manifests manifests = Manifests.read();

    private static Set<String> fields(JsonNode object) {
        return new TreeSet<>(object.propertyNames());
    }

    private static List<String> texts(JsonNode list) {
        return list.valueStream().map(JsonNode::stringValue).toList();
    }

    @Test
    void every_object_has_a_known_kind_a_version_and_a_name() {
        assertThat(manifests.objects()).hasSizeGreaterThan(10).allSatisfy(object -> {
            String kind = object.get("kind").stringValue();
            assertThat(object.get("apiVersion").stringValue()).as(kind).isEqualTo(API_VERSIONS.get(kind));
            assertThat(object.at("/metadata/name").stringValue()).matches("[a-z]([-a-z0-9]*[a-z0-9])?");
        });
        assertThat(manifests.objects().stream().map(object -> object.get("kind") + " " + object.at("/metadata/name")))
                .doesNotHaveDuplicates();
    }

    @Test
    void server_arguments_parse() {
        JsonNode container = manifests.container("roseinfer");
        assertThat(texts(container.get("command"))).singleElement().asString().endsWith("/bin/roseinfer");
        CliRunner.parse(texts(container.get("args")).toArray(String[]::new));
    }

    private static int number(List<String> args, String flag) {
        return args.stream()
                .filter(arg -> arg.startsWith(flag + "="))
                .map(arg -> Integer.parseInt(arg.substring(flag.length() + 1)))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no " + flag));
    }

    @Test
    void all_objects_use_the_port_of_the_server() {
        JsonNode container = manifests.container("roseinfer");
        int port = number(texts(container.get("args")), "--port");
        assertThat(container.at("/ports/0/containerPort").intValue()).isEqualTo(port);
        assertThat(manifests
                        .one("InferencePool", "roseinfer")
                        .at("/spec/targetPorts/0/number")
                        .intValue())
                .isEqualTo(port);
        String name = container.at("/ports/0/name").stringValue();
        assertThat(Stream.of("startupProbe", "readinessProbe", "livenessProbe")
                        .map(probe -> container.get(probe).at("/httpGet/port").stringValue()))
                .containsOnly(name);
        assertThat(manifests
                        .one("Service", "roseinfer")
                        .at("/spec/ports/0/targetPort")
                        .stringValue())
                .isEqualTo(name);
        assertThat(manifests
                        .one("PodMonitor", "roseinfer")
                        .at("/spec/podMetricsEndpoints/0/port")
                        .stringValue())
                .isEqualTo(name);
        assertThat(manifests
                        .one("NetworkPolicy", "roseinfer")
                        .at("/spec/ingress/0/ports/0/port")
                        .intValue())
                .isEqualTo(port);
        assertThat(texts(container.get("args"))).contains("--host=0.0.0.0");
    }

    @Test
    void pod_has_a_longer_grace_period_than_its_requests() {
        JsonNode container = manifests.container("roseinfer");
        int drain = number(texts(container.get("args")), "--drain-seconds");
        int before = container.at("/lifecycle/preStop/sleep/seconds").intValue();
        int grace = manifests
                .one("Deployment", "roseinfer")
                .at("/spec/template/spec/terminationGracePeriodSeconds")
                .intValue();
        assertThat(grace).isGreaterThanOrEqualTo(before + drain + 10);
        JsonNode readiness = container.get("readinessProbe");
        assertThat(before)
                .as("seconds until no more requests arrive")
                .isGreaterThan(readiness.get("periodSeconds").intValue()
                        * readiness.get("failureThreshold").intValue());
        assertThat(manifests
                        .one("Deployment", "roseinfer-epp")
                        .at("/spec/template/spec/terminationGracePeriodSeconds")
                        .intValue())
                .isGreaterThanOrEqualTo(grace);
    }

    @Test
    void selectors_match_their_pods() {
        for (String name : List.of("roseinfer", "roseinfer-epp")) {
            JsonNode deployment = manifests.one("Deployment", name);
            JsonNode labels = deployment.at("/spec/template/metadata/labels");
            JsonNode wanted = deployment.at("/spec/selector/matchLabels");
            assertThat(wanted.properties()).isNotEmpty().isSubsetOf(labels.properties());
            assertThat(manifests.one("Service", name).at("/spec/selector")).isEqualTo(wanted);
        }
        JsonNode pods = manifests.one("Deployment", "roseinfer").at("/spec/selector/matchLabels");
        assertThat(manifests.one("InferencePool", "roseinfer").at("/spec/selector/matchLabels"))
                .isEqualTo(pods);
        assertThat(manifests.one("PodMonitor", "roseinfer").at("/spec/selector/matchLabels"))
                .isEqualTo(pods);
        JsonNode policy = manifests.one("NetworkPolicy", "roseinfer").get("spec");
        assertThat(policy.at("/podSelector/matchLabels")).isEqualTo(pods);
        assertThat(policy.at("/ingress/0/from/0/podSelector/matchLabels"))
                .isEqualTo(manifests.one("Deployment", "roseinfer-epp").at("/spec/selector/matchLabels"));
    }

    @Test
    void no_request_lasts_longer_than_the_drain_or_the_route() {
        List<String> args = texts(manifests.container("roseinfer").get("args"));
        int timeout = number(args, "--request-timeout");
        assertThat(number(args, "--drain-seconds")).isGreaterThanOrEqualTo(timeout);
        String route = manifests
                .one("HTTPRoute", "roseinfer")
                .at("/spec/rules/0/timeouts/request")
                .stringValue();
        assertThat(route).matches("\\d+s");
        assertThat(Integer.parseInt(route.replace("s", ""))).isGreaterThan(timeout);
    }

    /** Else requests in flight decode in turns, none wait, and the alert on waiting requests cannot fire. */
    @Test
    void requests_beyond_the_batch_wait() {
        List<String> args = texts(manifests.container("roseinfer").get("args"));
        assertThat(number(args, "--max-active-requests"))
                .isEqualTo(number(args, "--max-batch-size"))
                .isLessThan(number(args, "--max-inflight-requests"));
    }

    @Test
    void server_and_monitor_read_the_key_of_one_secret() {
        JsonNode pod = manifests.one("Deployment", "roseinfer").at("/spec/template/spec");
        JsonNode mount = named(pod.at("/containers/0/volumeMounts"), "key");
        JsonNode credentials =
                manifests.one("PodMonitor", "roseinfer").at("/spec/podMetricsEndpoints/0/authorization/credentials");
        assertThat(texts(pod.at("/containers/0/args")))
                .contains("--api-key-file=" + mount.get("mountPath").stringValue() + "/"
                        + credentials.get("key").stringValue());
        assertThat(named(pod.get("volumes"), "key").at("/secret/secretName")).isEqualTo(credentials.get("name"));
    }

    /** vLLM's pods export metrics of the same names, and pods of two namespaces can have the same name. */
    @Test
    void alerts_concern_pods_of_the_monitor_only() {
        JsonNode monitor = manifests.one("PodMonitor", "roseinfer");
        String job = monitor.at("/spec/selector/matchLabels")
                .get(monitor.at("/spec/jobLabel").stringValue())
                .stringValue();
        Pattern series = Pattern.compile("\\b((?:vllm|roseinfer):|http_requests|up\\b)\\w*(\\{[^}]*})?");
        List<String> alerts = manifests.one("PrometheusRule", "roseinfer").findValuesAsString("expr");
        assertThat(alerts.stream().flatMap(alert -> series.matcher(alert).results()))
                .hasSizeGreaterThan(10)
                .allSatisfy(each -> assertThat(each.group()).contains("{job=\"" + job + "\""));
        assertThat(alerts).noneSatisfy(alert -> assertThat(alert).contains("by (pod"));
    }

    @Test
    void container_is_restricted_and_its_volumes_exist() throws IOException {
        JsonNode pod = manifests.one("Deployment", "roseinfer").at("/spec/template/spec");
        String user = pod.at("/securityContext/runAsUser").asString();
        assertThat(Files.readString(Path.of("tools/docker/Dockerfile"))).contains("USER " + user + ":");
        JsonNode container = pod.at("/containers/0");
        assertThat(container.at("/securityContext/readOnlyRootFilesystem").booleanValue())
                .isTrue();
        assertThat(container.at("/securityContext/allowPrivilegeEscalation").booleanValue())
                .isFalse();
        assertThat(fields(container.at("/resources/requests"))).contains("cpu", "memory");
        assertThat(container.get("volumeMounts").valueStream())
                .anySatisfy(mount ->
                        assertThat(mount.get("mountPath").stringValue()).isEqualTo("/tmp"))
                .allSatisfy(mount -> named(pod.get("volumes"), mount.get("name").stringValue()));
    }

    private static JsonNode named(JsonNode list, String name) {
        return list.valueStream()
                .filter(each -> each.get("name").stringValue().equals(name))
                .findFirst()
                .orElseThrow(() -> new AssertionError("there is no " + name));
    }

    /** The fields of the CRD include those it requires. */
    @Test
    void pool_has_the_fields_of_its_definition() {
        JsonNode spec = manifests.one("InferencePool", "roseinfer").get("spec");
        assertThat(fields(spec)).containsExactly("endpointPickerRef", "selector", "targetPorts");
        assertThat(fields(spec.get("selector"))).containsExactly("matchLabels");
        assertThat(spec.get("targetPorts").valueStream())
                .hasSizeBetween(1, 8)
                .allSatisfy(port -> assertThat(fields(port)).containsExactly("number"));
        JsonNode picker = spec.get("endpointPickerRef");
        assertThat(fields(picker)).containsExactly("failureMode", "name", "port");
        assertThat(picker.get("failureMode").stringValue()).isIn("FailOpen", "FailClose");
        JsonNode service = manifests.one("Service", picker.get("name").stringValue());
        assertThat(service.at("/spec/ports/0/port")).isEqualTo(picker.at("/port/number"));
    }

    @Test
    void objectives_and_route_reference_the_pool() {
        JsonNode route = manifests.one("HTTPRoute", "roseinfer");
        List<JsonNode> references = Stream.concat(
                        manifests.all("InferenceObjective").stream().map(each -> each.at("/spec/poolRef")),
                        route.at("/spec/rules/0/backendRefs").valueStream())
                .toList();
        assertThat(references).hasSize(3).allSatisfy(reference -> {
            assertThat(fields(reference)).containsExactly("group", "kind", "name");
            assertThat(reference.get("group").stringValue()).isEqualTo(POOL_GROUP);
            JsonNode pool = manifests.one(
                    reference.get("kind").stringValue(), reference.get("name").stringValue());
            assertThat(pool.get("apiVersion").stringValue()).startsWith(POOL_GROUP + "/");
        });
        assertThat(manifests.all("InferenceObjective"))
                .allSatisfy(each -> assertThat(fields(each.get("spec"))).containsExactly("poolRef", "priority"))
                .allSatisfy(
                        each -> assertThat(each.at("/spec/priority").isInt()).isTrue());
    }

    @Test
    void endpoint_picker_config_names_existing_plugins_and_the_engine() {
        JsonNode picker = manifests.container("roseinfer-epp");
        JsonNode map = manifests.one("ConfigMap", "roseinfer-epp");
        String file = fields(map.get("data")).iterator().next();
        assertThat(texts(picker.get("args")))
                .contains("--config-file="
                        + picker.at("/volumeMounts/0/mountPath").stringValue() + "/" + file)
                .contains("--pool-name="
                        + manifests
                                .one("InferencePool", "roseinfer")
                                .at("/metadata/name")
                                .stringValue())
                .contains("--pool-group=" + POOL_GROUP);
        JsonNode config =
                Manifests.documents(map.get("data").get(file).stringValue()).getFirst();
        assertThat(config.get("kind").stringValue()).isEqualTo("EndpointPickerConfig");
        assertThat(config.get("apiVersion").stringValue()).isEqualTo("llm-d.ai/v1alpha1");
        List<String> types = config.get("plugins")
                .valueStream()
                .map(plugin -> plugin.get("type").stringValue())
                .toList();
        assertThat(config.at("/schedulingProfiles/0/plugins").valueStream())
                .isNotEmpty()
                .allSatisfy(plugin ->
                        assertThat(types).contains(plugin.get("pluginRef").stringValue()));
        JsonNode extractor = config.get("plugins")
                .get(types.indexOf("core-metrics-extractor"))
                .get("parameters");
        assertThat(extractor.at("/engineConfigs/0/name"))
                .isEqualTo(extractor.get("defaultEngine"))
                .isEqualTo(manifests
                        .one("Deployment", "roseinfer")
                        .at("/spec/template/metadata/labels")
                        .get("llm-d.ai/engine-type"));
    }
}

package io.roseinfer.bench.report;

import com.fasterxml.jackson.annotation.JsonAutoDetect.Visibility;
import com.fasterxml.jackson.annotation.JsonSetter;
import com.fasterxml.jackson.annotation.Nulls;
import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.StrictJson;
import io.roseinfer.metrics.Summary;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.databind.BeanDescription;
import tools.jackson.databind.DeserializationConfig;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.SerializationContext;
import tools.jackson.databind.ValueSerializer;
import tools.jackson.databind.cfg.CoercionAction;
import tools.jackson.databind.cfg.CoercionInputShape;
import tools.jackson.databind.cfg.EnumFeature;
import tools.jackson.databind.cfg.MutableConfigOverride;
import tools.jackson.databind.deser.SettableBeanProperty;
import tools.jackson.databind.deser.ValueInstantiator;
import tools.jackson.databind.deser.bean.PropertyValueBuffer;
import tools.jackson.databind.deser.std.StdValueInstantiator;
import tools.jackson.databind.exc.MismatchedInputException;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.module.SimpleModule;
import tools.jackson.databind.module.SimpleValueInstantiators;
import tools.jackson.databind.type.LogicalType;

/**
 * The binding of result records to JSON, for writing and reading.
 *
 * <pre>
 * names      snake case with abbreviated units: stepNanos is step_ns, ttftMillis is ttft_ms, planMicros is plan_us
 * order      as the record's components
 * absent     null, unless the component says otherwise; missing values are read as empty or 0, also within a missing record;
 *            null for a whole number or boolean is an error
 * Summary    {count, p50, p95, p99, mean, max}, null if count is 0
 * enums      in lower case
 * </pre>
 */
public final class ResultJson {
    private static final JsonMapper MAPPER = StrictJson.mapper()
            .rebuild()
            .propertyNamingStrategy(new Units())
            .disable(MapperFeature.SORT_PROPERTIES_ALPHABETICALLY)
            .enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
            .disable(DeserializationFeature.ACCEPT_FLOAT_AS_INT)
            .disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
            .withCoercionConfig(
                    LogicalType.Textual,
                    text -> text.setCoercion(CoercionInputShape.Integer, CoercionAction.Fail)
                            .setCoercion(CoercionInputShape.Float, CoercionAction.Fail)
                            .setCoercion(CoercionInputShape.Boolean, CoercionAction.Fail))
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .enable(EnumFeature.WRITE_ENUMS_TO_LOWERCASE)
            .enable(MapperFeature.ACCEPT_CASE_INSENSITIVE_ENUMS)
            .changeDefaultVisibility(checker -> checker.withIsGetterVisibility(Visibility.NONE))
            .changeDefaultNullHandling(nulls -> JsonSetter.Value.forValueNulls(Nulls.AS_EMPTY))
            .withConfigOverride(int.class, ResultJson::refuseNull)
            .withConfigOverride(long.class, ResultJson::refuseNull)
            .withConfigOverride(boolean.class, ResultJson::refuseNull)
            .addModule(new SimpleModule()
                    .addSerializer(Summary.class, new Percentiles())
                    .setValueInstantiators(new EmptyRecords()))
            .build();

    private ResultJson() {}

    private static void refuseNull(MutableConfigOverride primitive) {
        primitive.setNullHandling(JsonSetter.Value.forValueNulls(Nulls.SET));
    }

    /** Returns the mapper for results. */
    static JsonMapper mapper() {
        return MAPPER;
    }

    /** Returns a result as a tree. */
    public static JsonNode tree(Object result) {
        return MAPPER.valueToTree(result);
    }

    /**
     * Reads the result in a document.
     *
     * @param name name of the document, for messages
     * @throws BadInput if the document has a later schema or an invalid value
     */
    public static <T> T read(String name, JsonNode document, Class<T> type) {
        int highest = ResultKind.of(document).map(ResultKind::schema).orElse(1);
        int schema = Math.max(
                document.path("schema").asInt(0),
                document.at("/roseinfer/schema").asInt(0));
        if (schema > highest) {
            throw new BadInput(name + " has schema " + schema + "; this version reads up to " + highest
                    + "; use the version that wrote it");
        }
        try {
            return MAPPER.treeToValue(document, type);
        } catch (JacksonException wrong) {
            String pointer = wrong.getPath().stream()
                    .map(step -> step.getPropertyName() == null ? "/" + step.getIndex() : "/" + step.getPropertyName())
                    .collect(Collectors.joining());
            Class<?> wanted = wrong instanceof MismatchedInputException mismatch ? mismatch.getTargetType() : null;
            throw wrong(
                    name,
                    document,
                    pointer,
                    wanted == null ? "another value (" + StrictJson.reason(wrong) + ")" : word(wanted));
        }
    }

    private static String word(Class<?> type) {
        if (type.isEnum()) {
            String words = Arrays.stream(type.getEnumConstants())
                    .map(constant -> ((Enum<?>) constant).name().toLowerCase(Locale.ROOT))
                    .collect(Collectors.joining(", "));
            return words.replaceFirst(", (\\w+)$", " or $1");
        } else if (type == int.class || type == long.class || type == Integer.class || type == Long.class) {
            return "a whole number";
        } else if (type == double.class || type == Double.class) {
            return "a number";
        } else if (type == String.class) {
            return "a string";
        }
        return Collection.class.isAssignableFrom(type) || type.isArray() ? "a list" : "an object";
    }

    /**
     * Returns the exception for an invalid value.
     *
     * @param pointer path of the value, as in {@code /roseinfer/requests/2/id}
     */
    public static BadInput wrong(String name, JsonNode document, String pointer, String wanted) {
        JsonNode value = document.at(pointer);
        String seen = value.isMissingNode()
                ? "missing"
                : value.isString() ? Quoted.name(value.stringValue()) : Quoted.value(value.toString());
        String place = pointer.replaceAll("/(\\d+)", "[$1]").replace('/', '.').replaceFirst("^\\.", "");
        return new BadInput(name + ": " + place + " is " + seen + ", but "
                + ResultKind.of(document).map(ResultKind::command).orElse("a benchmark") + " writes " + wanted
                + "; undo the change, or record the run again");
    }

    /**
     * Returns the values of a record or map by name, without absent values and arrays. Values of nested objects have both names, as in
     * {@code step_ms_median}.
     */
    public static Map<String, String> flat(Object values) {
        Map<String, String> flat = new LinkedHashMap<>();
        tree(values).forEachEntry((name, value) -> {
            if (value.isObject()) {
                value.forEachEntry((part, number) -> flat.put(name + "_" + part, number.asString("")));
            } else if (!value.isArray() && !value.isNull()) {
                flat.put(name, value.asString(""));
            }
        });
        return flat;
    }

    private static final class Units extends PropertyNamingStrategies.SnakeCaseStrategy {
        @Override
        public @Nullable String translate(@Nullable String component) {
            String name = super.translate(component);
            return name == null
                    ? null
                    : name.replaceFirst("_nanos$", "_ns")
                            .replaceFirst("_micros$", "_us")
                            .replaceFirst("_millis$", "_ms");
        }
    }

    private static final class Percentiles extends ValueSerializer<Summary> {
        @Override
        public void serialize(Summary summary, JsonGenerator out, SerializationContext context) {
            out.writeStartObject();
            out.writeNumberProperty("count", summary.count());
            write(out, summary, "p50", summary.p50());
            write(out, summary, "p95", summary.p95());
            write(out, summary, "p99", summary.p99());
            write(out, summary, "mean", summary.mean());
            write(out, summary, "max", summary.max());
            out.writeEndObject();
        }

        private static void write(JsonGenerator out, Summary summary, String name, double value) {
            if (summary.count() == 0) {
                out.writeNullProperty(name);
            } else {
                out.writeNumberProperty(name, value);
            }
        }
    }

    /** Reads missing components as empty, and missing records as records of empty components. */
    private static final class EmptyRecords extends SimpleValueInstantiators {
        @Override
        public ValueInstantiator modifyValueInstantiator(
                DeserializationConfig config, BeanDescription.Supplier type, ValueInstantiator instantiator) {
            return type.getBeanClass().isRecord() && instantiator instanceof StdValueInstantiator standard
                    ? new EmptyRecord(standard)
                    : instantiator;
        }
    }

    private static final class EmptyRecord extends StdValueInstantiator {
        private EmptyRecord(StdValueInstantiator instantiator) {
            super(instantiator);
        }

        @Override
        public Object createFromObjectWith(
                DeserializationContext context, SettableBeanProperty[] components, PropertyValueBuffer values) {
            for (SettableBeanProperty component : components) {
                if (!values.hasParameter(component)) {
                    values.assignParameter(
                            component, component.getValueDeserializer().getEmptyValue(context));
                }
            }
            return super.createFromObjectWith(context, components, values);
        }

        @Override
        public Object createUsingDefaultOrWithoutArguments(DeserializationContext context) {
            return context.readTreeAsValue(context.getNodeFactory().objectNode(), getValueClass());
        }
    }
}

package io.roseinfer.spark;

import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.spark.GenerateSpec.Columns;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/** Checks the columns of the input and returns those of the result, before any job runs. */
final class GenerateSchema {
    private static final DataType IDS = DataTypes.createArrayType(DataTypes.IntegerType, false);

    private static final StructType USAGE = new StructType()
            .add("prompt", DataTypes.IntegerType, false)
            .add("completion", DataTypes.IntegerType, false)
            .add("cached", DataTypes.IntegerType, false);

    /** The fields of the output column. */
    static final StructType OUTPUT = new StructType()
            .add("text", DataTypes.StringType, true)
            .add("ids", IDS, false)
            .add("finish_reason", DataTypes.StringType, false)
            .add("usage", USAGE, false)
            .add("ttft_ns", DataTypes.LongType, false);

    /** The fields of the metrics column. */
    static final StructType METRICS = new StructType()
            .add("queued_ns", DataTypes.LongType, false)
            .add("ttft_ns", DataTypes.LongType, false)
            .add("duration_ns", DataTypes.LongType, false);

    private static final List<DataType> INTEGERS =
            List.of(DataTypes.ByteType, DataTypes.ShortType, DataTypes.IntegerType, DataTypes.LongType);

    private GenerateSchema() {}

    /**
     * Returns the columns of a result: those of the input, then the new ones.
     *
     * @throws BadInput if the input lacks a column, has one of a wrong type, or has one with the name of a new one, or
     *     if a number of the spec is out of range
     */
    static StructType result(StructType input, GenerateSpec spec) {
        checkNumbers(spec);
        Columns columns = spec.columns();
        StructField prompt = input.apply(index(input, "input", columns.input()));
        boolean ids = prompt.dataType() instanceof ArrayType array
                && array.elementType().equals(DataTypes.IntegerType);
        if (!ids && !(prompt.dataType() instanceof StringType)) {
            throw new BadInput("the input column " + Quoted.name(columns.input()) + " is of type "
                    + prompt.dataType().simpleString() + "; it must be a string, or token ids as array<int>");
        }
        if (!columns.key().isEmpty()) {
            checkKey(input.apply(index(input, "key", columns.key())));
        }
        StructType result = with(input, "output", columns.output(), OUTPUT);
        result = with(result, "error", columns.error(), DataTypes.StringType);
        return columns.metrics().isEmpty() ? result : with(result, "metrics", columns.metrics(), METRICS);
    }

    /** Rejects numbers for which the engine would reject every row, with the engine's checks. */
    private static void checkNumbers(GenerateSpec spec) {
        sampling(spec);
        GenerationRequest unused = GenerationRequest.ofTokens(0).withMaxNewTokens(spec.maxNewTokens());
        if (spec.maxInFlight() < 0) {
            throw new BadInput(
                    "max_in_flight is " + spec.maxInFlight() + "; it must be positive, or 0 to share them among tasks");
        }
        EngineSettings.of(spec.engine(), List.of());
    }

    static SamplingParams sampling(GenerateSpec spec) {
        return SamplingParams.random()
                .withTemperature(spec.sampling().temperature())
                .withTopK(spec.sampling().topK())
                .withTopP(spec.sampling().topP());
    }

    private static void checkKey(StructField key) {
        if (!(key.dataType() instanceof StringType) && !INTEGERS.contains(key.dataType())) {
            throw new BadInput("the key column " + Quoted.name(key.name()) + " is of type "
                    + key.dataType().simpleString() + "; it must be a string or an integer, so cast it to string");
        }
    }

    /** Returns the index of a column; Spark's names are not case-sensitive. */
    static int index(StructType schema, String role, String name) {
        String[] names = schema.fieldNames();
        List<Integer> found = Stream.iterate(0, i -> i < names.length, i -> i + 1)
                .filter(i -> names[i].equalsIgnoreCase(name))
                .toList();
        if (found.size() != 1) {
            throw new BadInput("the " + role + " column is " + Quoted.name(name) + ", of which the data frame has "
                    + (found.isEmpty() ? "none" : found.size()) + "; its columns are "
                    + Quoted.names(Arrays.asList(names)));
        }
        return found.get(0);
    }

    private static StructType with(StructType schema, String role, String name, DataType type) {
        if (name.isEmpty()) {
            throw new BadInput("the " + role + " column has no name; set one");
        }
        if (Arrays.stream(schema.fieldNames()).anyMatch(name::equalsIgnoreCase)) {
            throw new BadInput("the " + role + " column would be " + Quoted.name(name)
                    + ", which already exists; choose another name, or drop that column");
        }
        return schema.add(name, type, true);
    }
}

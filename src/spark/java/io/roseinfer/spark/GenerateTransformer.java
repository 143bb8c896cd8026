package io.roseinfer.spark;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.spark.GenerateSpec.Columns;
import io.roseinfer.spark.GenerateSpec.Sampling;
import org.apache.spark.ml.param.BooleanParam;
import org.apache.spark.ml.param.FloatParam;
import org.apache.spark.ml.param.IntParam;
import org.apache.spark.ml.param.LongParam;
import org.apache.spark.ml.param.Param;
import org.apache.spark.ml.param.ParamMap;
import org.apache.spark.ml.util.DefaultParamsReader;
import org.apache.spark.ml.util.DefaultParamsWritable;
import org.apache.spark.ml.util.Identifiable$;
import org.apache.spark.ml.util.MLReader;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.StructType;

/**
 * {@link RoseinferSpark#generate} as a stage of a {@code spark.ml} pipeline. Its parameters are the fields of {@link GenerateSpec},
 * {@link Columns}, {@link Sampling} and {@link EngineSpec}, with their defaults.
 *
 * {@snippet :
 * new GenerateTransformer().setModelRef("builtin:tiny").setMaxNewTokens(32).transform(prompts).show();
 * }
 */
public final class GenerateTransformer extends UidTransformer implements DefaultParamsWritable {
    private static final long serialVersionUID = 1;

    private final Param<String> modelRef = new Param<>(
            this, "modelRef", "a directory that every executor can read, a hub id, builtin:tiny or random:NAME");
    private final Param<String> device = new Param<>(
            this,
            "device",
            "auto, cpu, cuda, cuda:N or cuda:N,cuda:M, or sim; auto and cuda use the GPUs assigned by Spark");
    private final Param<String> dtype =
            new Param<>(this, "dtype", "format of the weights: auto, fp32, bf16, fp16, int8 or int4");
    private final IntParam threads = new IntParam(this, "threads", "CPU threads; 0 is one per core");
    private final IntParam maxBatchSize = new IntParam(this, "maxBatchSize", "maximum rows in a decode step");
    private final IntParam kvBlocks = new IntParam(this, "kvBlocks", "KV blocks in the pool; 0 lets the device choose");
    private final BooleanParam batchInvariant = new BooleanParam(
            this, "batchInvariant", "whether a GPU's results are bit-identical regardless of the batch");
    private final BooleanParam offline = new BooleanParam(this, "offline", "whether downloads are forbidden");
    private final Param<String> inputCol =
            new Param<>(this, "inputCol", "the prompt: a string, or token ids as array<int>");
    private final Param<String> outputCol =
            new Param<>(this, "outputCol", "the completion: text, ids, finish_reason, usage and ttft_ns");
    private final Param<String> errorCol = new Param<>(this, "errorCol", "why a row has no output");
    private final Param<String> metricsCol =
            new Param<>(this, "metricsCol", "timings of a row; empty omits the column");
    private final Param<String> keyCol =
            new Param<>(this, "keyCol", "identifies a row, for its seed; empty uses the prompt");
    private final IntParam maxNewTokens = new IntParam(this, "maxNewTokens", "maximum tokens to generate per row");
    private final FloatParam temperature = new FloatParam(this, "temperature", "0 is greedy");
    private final IntParam topK = new IntParam(this, "topK", "keep the k most likely tokens; 0 keeps all");
    private final FloatParam topP =
            new FloatParam(this, "topP", "keep the smallest set of most likely tokens whose probability reaches p");
    private final LongParam seed = new LongParam(this, "seed", "combined with a row's key, the seed of its sampling");
    private final IntParam maxInFlight =
            new IntParam(this, "maxInFlight", "maximum rows of a task in the engine; 0 shares them among tasks");

    /** Creates a transformer that needs only a model. */
    public GenerateTransformer() {
        this(Identifiable$.MODULE$.randomUID("generate"));
    }

    /** Creates a transformer with a uid; used by Spark. */
    public GenerateTransformer(String uid) {
        super(uid);
        JavaVersion.require();
        GenerateSpec spec = GenerateSpec.of("");
        setDefault(device, spec.engine().device());
        setDefault(dtype, spec.engine().dtype());
        setDefault(threads, spec.engine().threads());
        setDefault(maxBatchSize, spec.engine().maxBatchSize());
        setDefault(kvBlocks, spec.engine().kvBlocks());
        setDefault(batchInvariant, spec.engine().batchInvariant());
        setDefault(offline, spec.engine().offline());
        setDefault(inputCol, spec.columns().input());
        setDefault(outputCol, spec.columns().output());
        setDefault(errorCol, spec.columns().error());
        setDefault(metricsCol, spec.columns().metrics());
        setDefault(keyCol, spec.columns().key());
        setDefault(maxNewTokens, spec.maxNewTokens());
        setDefault(temperature, spec.sampling().temperature());
        setDefault(topK, spec.sampling().topK());
        setDefault(topP, spec.sampling().topP());
        setDefault(seed, spec.seed());
        setDefault(maxInFlight, spec.maxInFlight());
    }

    /** Loads a saved transformer. */
    public static GenerateTransformer load(String path) {
        return read().load(path);
    }

    /** Returns the reader that Spark uses to load a transformer, alone or as a stage. */
    public static MLReader<GenerateTransformer> read() {
        return new DefaultParamsReader<>();
    }

    /**
     * Returns the parameters as a spec for {@link RoseinferSpark}.
     *
     * @throws BadInput if there is no modelRef
     */
    public GenerateSpec spec() {
        if (!isDefined(modelRef)) {
            throw new BadInput("modelRef is not set; call setModelRef with a model");
        }
        EngineSpec engine = new EngineSpec(
                getOrDefault(modelRef),
                getOrDefault(device),
                getOrDefault(dtype),
                (int) getOrDefault(threads),
                (int) getOrDefault(maxBatchSize),
                (int) getOrDefault(kvBlocks),
                (boolean) getOrDefault(batchInvariant),
                (boolean) getOrDefault(offline));
        Columns columns = new Columns(
                getOrDefault(inputCol),
                getOrDefault(outputCol),
                getOrDefault(errorCol),
                getOrDefault(metricsCol),
                getOrDefault(keyCol));
        Sampling sampling =
                new Sampling((float) getOrDefault(temperature), (int) getOrDefault(topK), (float) getOrDefault(topP));
        return new GenerateSpec(
                engine, columns, (int) getOrDefault(maxNewTokens), sampling, (long) getOrDefault(seed), (int)
                        getOrDefault(maxInFlight));
    }

    @Override
    public Dataset<Row> transform(Dataset<?> rows) {
        return RoseinferSpark.generate(rows, spec());
    }

    /** @throws BadInput if a column is missing or of a wrong type, or a parameter is out of its range */
    @Override
    public StructType transformSchema(StructType schema) {
        return GenerateSchema.result(schema, spec());
    }

    @Override
    public GenerateTransformer copy(ParamMap extra) {
        return defaultCopy(extra);
    }

    public Param<String> modelRef() {
        return modelRef;
    }

    public GenerateTransformer setModelRef(String value) {
        return with(modelRef, value);
    }

    public Param<String> device() {
        return device;
    }

    public GenerateTransformer setDevice(String value) {
        return with(device, value);
    }

    public Param<String> dtype() {
        return dtype;
    }

    public GenerateTransformer setDtype(String value) {
        return with(dtype, value);
    }

    public IntParam threads() {
        return threads;
    }

    public GenerateTransformer setThreads(int value) {
        return with(threads, value);
    }

    public IntParam maxBatchSize() {
        return maxBatchSize;
    }

    public GenerateTransformer setMaxBatchSize(int value) {
        return with(maxBatchSize, value);
    }

    public IntParam kvBlocks() {
        return kvBlocks;
    }

    public GenerateTransformer setKvBlocks(int value) {
        return with(kvBlocks, value);
    }

    public BooleanParam batchInvariant() {
        return batchInvariant;
    }

    public GenerateTransformer setBatchInvariant(boolean value) {
        return with(batchInvariant, value);
    }

    public BooleanParam offline() {
        return offline;
    }

    public GenerateTransformer setOffline(boolean value) {
        return with(offline, value);
    }

    public Param<String> inputCol() {
        return inputCol;
    }

    public GenerateTransformer setInputCol(String value) {
        return with(inputCol, value);
    }

    public Param<String> outputCol() {
        return outputCol;
    }

    public GenerateTransformer setOutputCol(String value) {
        return with(outputCol, value);
    }

    public Param<String> errorCol() {
        return errorCol;
    }

    public GenerateTransformer setErrorCol(String value) {
        return with(errorCol, value);
    }

    public Param<String> metricsCol() {
        return metricsCol;
    }

    public GenerateTransformer setMetricsCol(String value) {
        return with(metricsCol, value);
    }

    public Param<String> keyCol() {
        return keyCol;
    }

    public GenerateTransformer setKeyCol(String value) {
        return with(keyCol, value);
    }

    public IntParam maxNewTokens() {
        return maxNewTokens;
    }

    public GenerateTransformer setMaxNewTokens(int value) {
        return with(maxNewTokens, value);
    }

    public FloatParam temperature() {
        return temperature;
    }

    public GenerateTransformer setTemperature(float value) {
        return with(temperature, value);
    }

    public IntParam topK() {
        return topK;
    }

    public GenerateTransformer setTopK(int value) {
        return with(topK, value);
    }

    public FloatParam topP() {
        return topP;
    }

    public GenerateTransformer setTopP(float value) {
        return with(topP, value);
    }

    public LongParam seed() {
        return seed;
    }

    public GenerateTransformer setSeed(long value) {
        return with(seed, value);
    }

    public IntParam maxInFlight() {
        return maxInFlight;
    }

    public GenerateTransformer setMaxInFlight(int value) {
        return with(maxInFlight, value);
    }

    private <T> GenerateTransformer with(Param<T> parameter, T value) {
        set(parameter, value);
        return this;
    }
}

package io.roseinfer.spark;

import java.util.Iterator;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.StructType;

/**
 * The function of a task, which Spark sends to an executor.
 *
 * @param schema the columns of the input
 */
record GenerateRows(StructType schema, GenerateSpec spec) implements MapPartitionsFunction<Row, Row> {
    @Override
    public Iterator<Row> call(Iterator<Row> rows) {
        JavaVersion.require();
        return GenerateIterator.open(rows, schema, spec);
    }
}

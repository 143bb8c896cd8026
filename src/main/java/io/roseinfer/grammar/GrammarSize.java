package io.roseinfer.grammar;

import io.roseinfer.base.Limits;
import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException.BadInput;

/** Limits on the sources of grammars: schemas, patterns and grammar texts. */
final class GrammarSize {
    private GrammarSize() {}

    /** Maximum characters of the text of a grammar or a schema. */
    static final int TEXT_CHARS = 1 << 20;

    /** Maximum characters of the names and constants of a schema, and of the strings of a grammar. */
    static final int LITERAL_CHARS = 400_000;

    /** Maximum characters of a regular expression. */
    static final int PATTERN_CHARS = 20_000;

    /** Maximum nesting of groups in a regular expression and of expressions in a grammar's text. */
    static final int NESTING = 200;

    /** Maximum count in a quantifier of a regular expression. */
    static final int REPETITIONS = 1 << 20;

    /** Maximum size of one regular expression, in nodes. */
    static final int REGEX_NODES = 200_000;

    /** Maximum states explored to decide whether a regular language is empty. */
    static final int SOLVER_STATES = 1_000;

    /** Maximum digits of a numeric bound on each side of the point. */
    static final int NUMBER_DIGITS = 400;

    /** Maximum states of the automaton of one number. */
    static final int NUMBER_STATES = 200_000;

    /** Maximum states of the automaton of {@code multipleOf}. */
    static final int MULTIPLE_STATES = 20_000;

    /** Maximum digits of {@code multipleOf} after the point. */
    static final int MULTIPLE_SCALE = 100;

    /** Maximum schemas of a document, and after combination. */
    static final int SCHEMAS = 10_000;

    /** Maximum elements of a keyword whose elements are read one by one, such as {@code properties}. */
    static final int KEYWORD_SIZE = 2_000;

    /** Maximum branches of {@code oneOf}, which are compared in pairs. */
    static final int ONE_OF = 100;

    /** Maximum patterns of {@code patternProperties}, which divide each other. */
    static final int NAME_PATTERNS = 50;

    /** Maximum values of an {@code enum}. */
    static final int ENUM_VALUES = 20_000;

    /** Maximum numbers, arrays and objects of an {@code enum}, which are combined with each other. */
    static final int COMBINED_VALUES = 1_000;

    /** Maximum alternatives of one value's arrays or objects. */
    static final int ALTERNATIVES = 1_000;

    /** Maximum nesting of schemas that apply to the same value; JSON cannot be nested deeper. */
    static final int SCHEMA_DEPTH = Limits.JSON_DEPTH;

    /** Maximum rules that count elements or properties of one value. */
    static final int COUNTERS = 10_000;

    /** Maximum classes of undeclared property names of one object. */
    static final int NAME_CLASSES = 64;

    /** Maximum undeclared properties that must exist in one object. */
    static final int NEEDED_NAMES = 4;

    /** Maximum elements of an array with {@code uniqueItems}. */
    static final int UNIQUE_VALUES = 8;

    /** Maximum expressions of a schema's grammar. */
    static final int EXPRESSIONS = 300_000;

    static BadInput exceeded(String what, Object seen, String range) {
        return new BadInput(what + " is " + Quoted.value(String.valueOf(seen)) + "; it must be " + range);
    }

    static void require(boolean allowed, String what, Object seen, String range) {
        if (!allowed) {
            throw exceeded(what, seen, range);
        }
    }
}

/**
 * The subset of Jinja used by chat templates, with Python's values. {@code Lexer} splits a source into tokens and applies whitespace
 * control; {@code Parser} and {@code ExpressionParser} build a tree of {@code Statement} and {@code Expression}; {@code Interpreter}
 * and {@code Evaluator} evaluate the tree over {@code Value}s. {@code Filters}, {@code ListFilters}, {@code ValueTests},
 * {@code Methods} and {@code Globals} are tables of the supported names; other names and statements are rejected when the template is
 * parsed.
 *
 * <p>Invariants:
 * <ul>
 *   <li>The output equals Jinja2's, as {@code transformers} configures it. Tests compare it with Jinja2's output.
 *   <li>Steps, depth, and the size of every string and list are limited ({@code Budget}). An interrupt ends a rendering. A template
 *       can only access the values it was given: no reflection, no files, no clock.
 *   <li>A {@link io.roseinfer.tokenizer.chat.jinja.Template} is immutable and thread-safe.
 * </ul>
 */
@NullMarked
package io.roseinfer.tokenizer.chat.jinja;

import org.jspecify.annotations.NullMarked;

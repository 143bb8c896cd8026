package io.roseinfer.tokenizer.chat.jinja;

import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.RoseException.BadModel;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import tools.jackson.databind.JsonNode;

/** A parsed template. Immutable. */
public final class Template {
    private final String description;
    private final List<Statement> statements;

    private Template(String description, List<Statement> statements) {
        this.description = description;
        this.statements = statements;
    }

    /**
     * Parses a template.
     *
     * @param description its name in messages, such as its file
     * @throws BadModel if it has an error or an unsupported feature; the message names it and its line
     */
    public static Template parse(String source, String description) {
        try {
            return new Template(description, Parser.parse(source));
        } catch (TemplateError error) {
            throw new BadModel(description + ", line " + error.line() + ": " + Quoted.escape(error.message()), error);
        }
    }

    /**
     * Renders the template.
     *
     * @param variables by name
     * @param strftime formats the current time like C's {@code strftime}
     * @throws BadInput if the template rejects its variables, fails, or exceeds its limits
     * @throws java.util.concurrent.CancellationException if the thread is interrupted; the interrupt status remains set
     */
    public String render(Map<String, JsonNode> variables, UnaryOperator<String> strftime) {
        Interpreter interpreter = new Interpreter();
        try {
            Scope scope = new Scope(Optional.empty());
            Globals.define(scope, strftime);
            variables.forEach((name, value) -> scope.set(name, PythonJson.read(value)));
            return interpreter.run(statements, scope.inner());
        } catch (Globals.Raised raised) {
            throw new BadInput(
                    "the chat template rejects this conversation: " + Quoted.escape(raised.message()), raised);
        } catch (TemplateError | ArithmeticException error) {
            String reason = error instanceof TemplateError known ? known.message() : "a number exceeds 64 bits";
            throw new BadInput(
                    description + " failed for this conversation in line " + interpreter.line() + ": "
                            + Quoted.escape(reason),
                    error);
        }
    }
}

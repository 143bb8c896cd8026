package io.roseinfer.tokenizer.chat.jinja;

import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.RoseException.BadModel;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import tools.jackson.databind.JsonNode;

/** A template, parsed. Immutable. */
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
     * @param description what messages call it, such as the file it came from
     * @throws BadModel if it is not understood to the last; the message names what and in which line
     */
    public static Template parse(String source, String description) {
        try {
            return new Template(description, Parser.parse(source));
        } catch (TemplateError error) {
            throw new BadModel(description + ", line " + error.line() + ": " + Quoted.escape(error.message()), error);
        }
    }

    /**
     * The template's text.
     *
     * @param variables by their names
     * @param strftime the time of now in a format of C's {@code strftime}, which a template may ask for
     * @throws BadInput if the template refuses its variables, cannot be carried out with them, or takes too much
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
                    "the chat template refuses this conversation: " + Quoted.escape(raised.message()), raised);
        } catch (TemplateError | ArithmeticException error) {
            String reason = error instanceof TemplateError known ? known.message() : "a number is beyond 64 bits";
            throw new BadInput(
                    description + " cannot be carried out with this conversation, in line " + interpreter.line() + ": "
                            + Quoted.escape(reason),
                    error);
        }
    }
}

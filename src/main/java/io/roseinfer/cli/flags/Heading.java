package io.roseinfer.cli.flags;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** The section of the help that lists the flags of a class, or a single flag. Flags with equal headings share a section. */
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.TYPE, ElementType.FIELD})
public @interface Heading {
    /** The heading of flags such as {@code --help} that are common to all commands. */
    String GENERAL = "General";

    /** Returns the heading. */
    String value();
}

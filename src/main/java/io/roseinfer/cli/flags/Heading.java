package io.roseinfer.cli.flags;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** The heading that help shows a class's flags under, or a single flag of another class. Flags of equal headings form one section. */
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.TYPE, ElementType.FIELD})
public @interface Heading {
    /** The heading of flags that control the program rather than its work. */
    String GENERAL = "General";

    /** The heading. */
    String value();
}

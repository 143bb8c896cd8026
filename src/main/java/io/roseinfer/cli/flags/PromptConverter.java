package io.roseinfer.cli.flags;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Text that is not empty; {@code @file} is text like any other. */
public final class PromptConverter implements ITypeConverter<String> {
    @Override
    public String convert(String text) {
        if (text.isEmpty()) {
            throw new TypeConversionException("the text is empty; it must have at least one token");
        }
        return text;
    }
}

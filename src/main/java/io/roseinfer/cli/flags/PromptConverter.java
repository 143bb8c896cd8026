package io.roseinfer.cli.flags;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Converter that rejects empty text; {@code @file} is not expanded. */
public final class PromptConverter implements ITypeConverter<String> {
    @Override
    public String convert(String text) {
        if (text.isEmpty()) {
            throw new TypeConversionException("the text is empty; it must have at least one token");
        }
        return text;
    }
}

package io.roseinfer.safetensors;

import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Optional;

/** Other formats often found in files named {@code .safetensors}, recognized by their first bytes. */
enum ForeignFormat {
    LFS_POINTER("a git-LFS pointer, not the file it points to; run `git lfs pull` where it was cloned"),
    HTML("an HTML page, probably a login or error page saved by a download; download the file itself"),
    XML("an XML document, probably a storage service's error; download the file again"),
    JSON("a JSON document, probably a server's error message or an index; download the weights themselves"),
    GZIP("gzip data; gunzip it first"),
    ZSTD("zstd data; name it .safetensors.zst or decompress it with `zstd -d`"),
    ZIP("a zip archive, such as PyTorch's .bin and .pt files; convert it to safetensors first"),
    PICKLE("a Python pickle, such as older PyTorch files; convert it to safetensors first"),
    GGUF("a GGUF file; roseinfer reads safetensors");

    /** Bytes of a file that suffice to recognize a format. */
    static final int PREFIX_BYTES = 64;

    private final String description;

    ForeignFormat(String description) {
        this.description = description;
    }

    /** Returns the format and its remedy, to follow "is" in a message. */
    String description() {
        return description;
    }

    static Optional<ForeignFormat> of(byte[] prefix) {
        String text = new String(prefix, StandardCharsets.ISO_8859_1);
        if (text.startsWith("\u001f\u008b")) {
            return Optional.of(GZIP);
        }
        if (text.startsWith("(\u00b5/\u00fd")) {
            return Optional.of(ZSTD);
        }
        if (text.startsWith("PK\u0003\u0004")) {
            return Optional.of(ZIP);
        }
        if (text.startsWith("\u0080\u0002") || text.startsWith("\u0080\u0004")) {
            return Optional.of(PICKLE);
        }
        return text.startsWith("GGUF") ? Optional.of(GGUF) : ofText(text.strip().toLowerCase(Locale.ROOT));
    }

    private static Optional<ForeignFormat> ofText(String text) {
        if (text.startsWith("version https://git-lfs")) {
            return Optional.of(LFS_POINTER);
        }
        if (text.startsWith("<!doctype html") || text.startsWith("<html")) {
            return Optional.of(HTML);
        }
        if (text.startsWith("<?xml")) {
            return Optional.of(XML);
        }
        return text.startsWith("{\"") || text.startsWith("{\n") ? Optional.of(JSON) : Optional.empty();
    }
}

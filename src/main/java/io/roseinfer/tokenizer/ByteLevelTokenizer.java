package io.roseinfer.tokenizer;

import io.roseinfer.base.Limits;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.tokenizer.bpe.BytePairMerger;
import io.roseinfer.tokenizer.bpe.IdList;
import io.roseinfer.tokenizer.bpe.MergeTable;
import io.roseinfer.tokenizer.bpe.WordSplitter;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalInt;

/** Byte-level BPE over one vocabulary. */
final class ByteLevelTokenizer implements Tokenizer {
    private final String description;
    private final Vocabulary vocabulary;
    private final int[] byteIds;
    private final MergeTable merges;
    private final List<AddedToken> addedTokens;

    /** Tokens looked for in the text as given, and after them those looked for in what is left. */
    private final AddedTokenMatcher asGiven;

    private final AddedTokenMatcher normalized;
    private final boolean addPrefixSpace;
    private final WordSplitter splitter;
    private final OptionalInt endOfText;
    private final List<String> warnings;

    /**
     * Holds the parts against each other.
     *
     * @throws io.roseinfer.base.RoseException.BadModel if they contradict each other
     */
    ByteLevelTokenizer(ByteLevelModel model) {
        description = model.description();
        vocabulary = model.vocabulary();
        byteIds = model.byteIds();
        merges = model.merges();
        addedTokens = model.addedTokens().stream()
                .sorted(Comparator.comparingInt(AddedToken::id))
                .toList();
        asGiven = new AddedTokenMatcher(
                addedTokens.stream().filter(token -> !token.normalized()).toList());
        normalized = new AddedTokenMatcher(
                addedTokens.stream().filter(AddedToken::normalized).toList());
        addPrefixSpace = model.addPrefixSpace();
        splitter = model.splitter();
        endOfText = model.endOfTextId();
        warnings = List.copyOf(model.warnings());
    }

    @Override
    public int[] encode(String text) {
        return encode(text, false);
    }

    @Override
    public int[] encodeOrdinary(String text) {
        return encode(text, true);
    }

    private int[] encode(String text, boolean ordinary) {
        requireEncodable(text);
        Encoding encoding = new Encoding(ordinary, text.length() / 3);
        asGiven.split(text, 0, text.length(), ordinary, encoding);
        return encoding.ids.toArray();
    }

    private static void requireEncodable(String text) {
        if (text.length() > Limits.PROMPT_CHARS) {
            throw new BadInput("the text has " + text.length() + " characters, at most " + Limits.PROMPT_CHARS
                    + " are allowed; shorten it");
        }
        int unpaired = Utf16.unpairedSurrogate(text);
        if (unpaired >= 0) {
            throw new BadInput(String.format(
                    "the text has the unpaired surrogate U+%04X at character %d, which no UTF-8 text can hold; remove it",
                    (int) text.charAt(unpaired), unpaired));
        }
    }

    @Override
    public Vocabulary vocabulary() {
        return vocabulary;
    }

    @Override
    public List<AddedToken> addedTokens() {
        return addedTokens;
    }

    @Override
    public OptionalInt endOfText() {
        return endOfText;
    }

    @Override
    public List<String> warnings() {
        return warnings;
    }

    @Override
    public String description() {
        return description;
    }

    /** One call of {@code encode}: what the first matcher leaves over goes to the second, what that leaves over is words. */
    private final class Encoding implements AddedTokenMatcher.Parts {
        private final boolean ordinary;
        private final IdList ids;
        private final BytePairMerger merger = new BytePairMerger(merges);
        private final AddedTokenMatcher.Parts words = new AddedTokenMatcher.Parts() {
            @Override
            public void plain(String text, int from, int to) {
                encodeWords(text, from, to);
            }

            @Override
            public void added(AddedToken token) {
                ids.add(token.id());
            }
        };

        Encoding(boolean ordinary, int expectedIds) {
            this.ordinary = ordinary;
            this.ids = new IdList(expectedIds);
        }

        @Override
        public void plain(String text, int from, int to) {
            normalized.split(text, from, to, ordinary, words);
        }

        @Override
        public void added(AddedToken token) {
            ids.add(token.id());
        }

        private void encodeWords(String text, int from, int to) {
            if (addPrefixSpace && text.charAt(from) != ' ') {
                String prefixed = " " + text.substring(from, to);
                encodeWords(prefixed, 0, prefixed.length());
                return;
            }
            int start = from;
            while (start < to) {
                int end = splitter.wordEnd(text, start, to);
                addBytes(text, start, end);
                merger.merge(ids);
                start = end;
            }
        }

        private void addBytes(String text, int start, int end) {
            int i = start;
            while (i < end) {
                int codePoint = text.codePointAt(i);
                i += Character.charCount(codePoint);
                if (codePoint < 0x80) {
                    merger.add(byteIds[codePoint]);
                    continue;
                }
                if (codePoint < 0x800) {
                    merger.add(byteIds[0xc0 | codePoint >> 6]);
                } else {
                    if (codePoint < 0x10000) {
                        merger.add(byteIds[0xe0 | codePoint >> 12]);
                    } else {
                        merger.add(byteIds[0xf0 | codePoint >> 18]);
                        merger.add(byteIds[0x80 | (codePoint >> 12 & 0x3f)]);
                    }
                    merger.add(byteIds[0x80 | (codePoint >> 6 & 0x3f)]);
                }
                merger.add(byteIds[0x80 | (codePoint & 0x3f)]);
            }
        }
    }
}

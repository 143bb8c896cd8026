package io.roseinfer.tokenizer;

import io.roseinfer.base.Limits;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.Utf16;
import io.roseinfer.base.WorkCounter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;

/** BPE over a vocabulary of bytes or of code points. */
final class BpeTokenizer implements Tokenizer {
    private final String description;
    private final Vocabulary vocabulary;
    private final Symbols symbols;
    private final WordTable words;
    private final MergeTable merges;
    private final List<AddedToken> addedTokens;

    /**
     * Matches added tokens in the given text; {@link #normalized} matches the others in the remaining text, normalized.
     */
    private final AddedTokenMatcher unnormalized;

    private final AddedTokenMatcher normalized;
    private final Normalizer normalizer;
    private final PreTokenizer preTokenizer;
    private final PostProcessor postProcessor;
    private final OptionalInt endOfText;
    private final Map<String, String> specialTokens;
    private final List<String> warnings;

    /**
     * Checks that the parts are consistent.
     *
     * @throws io.roseinfer.base.RoseException.BadModel if they are not
     */
    BpeTokenizer(BpeModel model) {
        List<String> found = new ArrayList<>(model.warnings());
        description = model.description();
        vocabulary = model.vocabulary();
        symbols = model.symbols(found);
        words = model.words();
        merges = model.merges();
        normalizer = model.pipeline().normalizer();
        preTokenizer = model.pipeline().preTokenizer();
        postProcessor = model.pipeline().postProcessor().in(vocabulary, description);
        addedTokens = model.addedTokens().stream()
                .sorted(Comparator.comparingInt(AddedToken::id))
                .toList();
        unnormalized = new AddedTokenMatcher(
                addedTokens.stream().filter(token -> !token.normalized()).toList(), Normalizer.NONE);
        normalized = new AddedTokenMatcher(
                addedTokens.stream().filter(AddedToken::normalized).toList(), normalizer);
        endOfText = model.endOfTextId();
        specialTokens = Map.copyOf(model.roles());
        warnings = List.copyOf(found);
    }

    @Override
    public int[] encode(String text) {
        return encode(text, false, PostProcessor.NONE, new WorkCounter());
    }

    @Override
    public int[] encodePrompt(String text) {
        return encode(text, false, postProcessor, new WorkCounter());
    }

    @Override
    public int[] encodeOrdinary(String text) {
        return encode(text, true, PostProcessor.NONE, new WorkCounter());
    }

    /**
     * Encodes a text.
     *
     * @param work counts the work, to within a constant factor
     */
    int[] encode(String text, boolean ordinary, PostProcessor around, WorkCounter work) {
        requireEncodable(text);
        Encoding encoding = new Encoding(ordinary, text.length() / 3, work);
        around.before().forEach(encoding.ids::add);
        unnormalized.split(text, 0, text.length(), ordinary, encoding, work);
        around.after().forEach(encoding.ids::add);
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
                    "the text has the unpaired surrogate U+%04X at character %d, which UTF-8 cannot encode; remove it",
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
    public Map<String, String> specialTokens() {
        return specialTokens;
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

    /**
     * The state of one {@code encode} call. The first matcher's remaining text is normalized and passed to the second;
     * the rest is split into words.
     */
    private final class Encoding implements AddedTokenMatcher.Parts {
        private final boolean ordinary;
        private final IdList ids;
        private final WorkCounter work;
        private final BytePairMerger merger;

        /** Whether the current part is the beginning of the whole text. */
        private boolean first;

        private final AddedTokenMatcher.Parts plainWords = new AddedTokenMatcher.Parts() {
            @Override
            public void plain(String text, int from, int to) {
                encodeWords(text, from, to, first && from == 0);
            }

            @Override
            public void added(AddedToken token) {
                ids.add(token.id());
            }
        };

        Encoding(boolean ordinary, int expectedIds, WorkCounter work) {
            this.ordinary = ordinary;
            this.ids = new IdList(expectedIds);
            this.work = work;
            this.merger = new BytePairMerger(merges, work);
        }

        @Override
        public void plain(String text, int from, int to) {
            first = from == 0;
            if (normalizer.isNone()) {
                normalized.split(text, from, to, ordinary, plainWords, work);
            } else {
                String part = normalizer.apply(text.substring(from, to), work);
                normalized.split(part, 0, part.length(), ordinary, plainWords, work);
            }
        }

        @Override
        public void added(AddedToken token) {
            ids.add(token.id());
        }

        private void encodeWords(String text, int from, int to, boolean isFirst) {
            if (preTokenizer.keeps(text, from, isFirst)) {
                encodePrepared(text, from, to);
            } else {
                String prepared = preTokenizer.prepared(text.substring(from, to), isFirst);
                encodePrepared(prepared, 0, prepared.length());
            }
        }

        private void encodePrepared(String text, int from, int to) {
            int start = from;
            while (start < to) {
                int end = preTokenizer.splitter().wordEnd(text, start, to);
                work.add(end - start);
                int whole = words.find(text, start, end);
                if (whole == Symbols.MISSING) {
                    symbols.add(text, start, end, merger);
                    merger.merge(ids);
                } else {
                    ids.add(whole);
                }
                start = end;
            }
        }
    }
}

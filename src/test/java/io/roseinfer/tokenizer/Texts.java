package io.roseinfer.tokenizer;

import java.util.Random;

/** Seeded random Unicode text of all kinds; never an unpaired surrogate. */
public final class Texts {
    /** Every code point with the property White_Space, and some that only look like it. */
    static final String SPACES =
            "\t\n\u000b\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008"
                    + "\u2009\u200a\u2028\u2029\u202f\u205f\u3000" + "\u180e\u200b\ufeff\u2060\u001c\u001f";

    private static final String[] CONTRACTIONS = {
        "'s", "'t", "'re", "'ve", "'m", "'ll", "'d", "'S", "'LL", "'r", "'v", "'l", "'", "''s", "’s", "don't", " 've",
        "'\u017f"
    };

    private static final String[] EMOJI = {
        "👍🏽", "👩‍👩‍👧‍👦", "🏳️‍🌈", "🇩🇪🇯🇵", "1️⃣", "❤️", "🧑🏿‍🚀", "☺", "🫠", "🇩", "\u200d", "\ufe0f"
    };

    /** First and last code points: scripts, digits of several kinds, marks, controls, punctuation, planes. */
    private static final int[][] RANGES = {
        {'a', 'z'},
        {'A', 'Z'},
        {'0', '9'},
        {'!', '/'},
        {0xc0, 0x24f},
        {0x250, 0x2ff},
        {0x300, 0x36f},
        {0x370, 0x3ff},
        {0x400, 0x52f},
        {0x590, 0x5ff},
        {0x600, 0x6ff},
        {0x900, 0x97f},
        {0xe00, 0xe7f},
        {0x10a0, 0x10ff},
        {0x1100, 0x11ff},
        {0x1e00, 0x1fff},
        {0x2000, 0x206f},
        {0x2070, 0x209f},
        {0x2150, 0x218f},
        {0x2190, 0x23ff},
        {0x2460, 0x24ff},
        {0x3040, 0x30ff},
        {0x3400, 0x4dbf},
        {0x4e00, 0x9fff},
        {0xac00, 0xd7a3},
        {0xe000, 0xf8ff},
        {0xfb50, 0xfdff},
        {0xff00, 0xffef},
        {0, 0x1f},
        {0x7f, 0xa0},
        {0x10330, 0x1034f},
        {0x10d40, 0x10d8f},
        {0x1d400, 0x1d7ff},
        {0x1f300, 0x1faff},
        {0x20000, 0x2a6df},
        {0xe0000, 0xe007f},
        {0xfff0, 0xffff},
        {0x10fff0, 0x10ffff}
    };

    private final Random random;
    private final String[] extras;

    /** Text of this seed, with the given strings inserted. */
    public Texts(long seed, String... extras) {
        this.random = new Random(seed);
        this.extras = extras;
    }

    /** The next text, of up to some 30 fragments. */
    public String next() {
        StringBuilder text = new StringBuilder();
        for (int fragments = random.nextInt(12); fragments > 0; fragments--) {
            append(text);
        }
        return text.toString();
    }

    private void append(StringBuilder text) {
        switch (random.nextInt(extras.length == 0 ? 9 : 12)) {
            case 0 -> run(text, RANGES[random.nextInt(4)], 12);
            case 1 -> text.append(' ');
            case 2 -> spaces(text);
            case 3 -> text.append(CONTRACTIONS[random.nextInt(CONTRACTIONS.length)]);
            case 4 -> text.append(EMOJI[random.nextInt(EMOJI.length)]);
            case 5, 6 -> run(text, RANGES[random.nextInt(RANGES.length)], 6);
            case 7 -> text.append(' ').append("the quick brown fox jumps".split(" ")[random.nextInt(5)]);
            case 8 -> anything(text);
            default -> text.append(extras[random.nextInt(extras.length)]);
        }
    }

    private void run(StringBuilder text, int[] range, int longest) {
        for (int length = 1 + random.nextInt(longest); length > 0; length--) {
            text.appendCodePoint(random.nextInt(range[0], range[1] + 1));
        }
    }

    private void spaces(StringBuilder text) {
        for (int length = 1 + random.nextInt(4); length > 0; length--) {
            text.append(SPACES.charAt(random.nextInt(SPACES.length())));
        }
    }

    private void anything(StringBuilder text) {
        int codePoint = random.nextInt(Character.MAX_CODE_POINT + 1);
        text.appendCodePoint(codePoint >= 0xd800 && codePoint < 0xe000 ? codePoint - 0x800 : codePoint);
    }
}

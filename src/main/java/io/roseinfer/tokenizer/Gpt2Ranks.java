package io.roseinfer.tokenizer;

import com.knuddels.jtokkit.Encodings;
import io.roseinfer.base.Check;
import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.base.WorkCounter;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads GPT-2's vocabulary from jtokkit's {@code r50k_base}, a list of tokens in order of training; its ids are those
 * of GPT-2's {@code vocab.json}.
 *
 * <p>The list has no merges, but they can be derived: the merges before token t reduce t's bytes to the pair that
 * became t. They give the same ids as tiktoken's ranks alone. Suppose two adjacent symbols form a token t, which has
 * the lowest rank of all adjacent pairs. Then no merge has crossed the ends of t's bytes, so within them only the
 * merges of t's bytes alone have happened, and these two symbols are t's pair.
 */
final class Gpt2Ranks {
    private static final String DESCRIPTION = "the built-in GPT-2 vocabulary";
    private static final String RESOURCE = "r50k_base.tiktoken";
    private static final int TOKENS = 50256;

    private Gpt2Ranks() {}

    static BpeModel read() {
        List<byte[]> tokens = tokens();
        Map<String, Integer> ids = LinkedHashMap.newLinkedHashMap(TOKENS + 1);
        for (byte[] token : tokens) {
            ids.put(ByteAlphabet.symbols(token), ids.size());
        }
        ids.put(BpeModel.END_OF_TEXT, TOKENS);
        return new BpeModel(
                DESCRIPTION,
                ids,
                merges(tokens),
                List.of(AddedToken.special(TOKENS, BpeModel.END_OF_TEXT)),
                BpeModel.Pipeline.ofGpt2(false),
                BpeModel.Options.NONE,
                TokenizerConfig.GPT2.roles(),
                List.of());
    }

    private static List<byte[]> tokens() {
        List<byte[]> tokens = new ArrayList<>(TOKENS);
        try (InputStream resource = Encodings.class.getResourceAsStream(RESOURCE)) {
            if (resource == null) {
                throw new IOException("jtokkit has no " + RESOURCE);
            }
            var lines = new BufferedReader(new InputStreamReader(resource, StandardCharsets.ISO_8859_1));
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                int space = line.indexOf(' ');
                Check.that(Integer.parseInt(line.substring(space + 1)) == tokens.size(), "ranks are not in order");
                tokens.add(Base64.getDecoder().decode(line.substring(0, space)));
            }
        } catch (IOException e) {
            throw new BadModel(DESCRIPTION + " cannot be read from the class path: " + e + "; reinstall roseinfer", e);
        }
        Check.that(tokens.size() == TOKENS, "r50k_base has %d tokens, not %d", tokens.size(), TOKENS);
        return tokens;
    }

    private static MergeTable merges(List<byte[]> tokens) {
        int[] byteIds = new int[ByteAlphabet.SIZE];
        for (int id = 0; id < byteIds.length; id++) {
            Check.that(tokens.get(id).length == 1, "the first 256 tokens are the bytes");
            byteIds[tokens.get(id)[0] & 0xff] = id;
        }
        MergeTable merges = new MergeTable(TOKENS - byteIds.length);
        BytePairMerger merger = new BytePairMerger(merges, WorkCounter.uninterruptible());
        IdList pair = new IdList(2);
        for (int id = byteIds.length; id < TOKENS; id++) {
            for (byte value : tokens.get(id)) {
                merger.add(byteIds[value & 0xff]);
            }
            pair.clear();
            merger.merge(pair);
            Check.that(pair.size() == 2, "the merges before token %d leave it in %d parts", id, pair.size());
            merges.add(pair.get(0), pair.get(1), id);
        }
        return merges;
    }
}

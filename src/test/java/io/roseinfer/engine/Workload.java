package io.roseinfer.engine;

import io.roseinfer.sampling.SamplingParams;

/**
 * Requests with common prefixes and lengths around block boundaries. The families are long random prompts; a request
 * takes part of one and continues with its own tokens.
 */
final class Workload {
    private final SimulationSettings settings;
    private final Dice dice;
    private final int[][] families;
    private int made;

    Workload(SimulationSettings settings) {
        this.settings = settings;
        this.dice = new Dice(settings.seed(), "workload");
        families = new int[settings.families()][settings.contextLength()];
        for (int[] family : families) {
            for (int i = 0; i < family.length; i++) {
                family[i] = dice.below(settings.vocabularySize());
            }
        }
    }

    GenerationRequest next() {
        int room = settings.room();
        if (settings.flood()) {
            return made++ % 50 == 25 ? random(room * 2 / 3, dice.between(1, 3)) : random(1, dice.between(1, 8));
        }
        if (settings.isLong() && made++ == 0) {
            return random(dice.between(1, 3), room);
        }
        int[] prompt = new int[Math.clamp(length(), 1, room - 1)];
        int shared = dice.coin() ? prompt.length : Math.min(prompt.length, Math.max(0, length()));
        System.arraycopy(families[dice.below(families.length)], 0, prompt, 0, shared);
        for (int i = shared; i < prompt.length; i++) {
            prompt[i] = dice.below(settings.vocabularySize());
        }
        int newTokens = dice.chance(0.15) ? 1 : dice.between(1, dice.oneOf(4, 20, room));
        boolean contextBounds = room == settings.contextLength();
        GenerationRequest request = GenerationRequest.ofTokens(prompt)
                .withMaxNewTokens(contextBounds ? newTokens : Math.min(newTokens, room - prompt.length))
                .withIgnoreEndOfText(!dice.chance(settings.endOfTextRate()))
                .withSeed(dice.below(3));
        return dice.coin()
                ? request
                : request.withSampling(SamplingParams.random().withLogprobs(dice.between(-1, 2)));
    }

    /** Returns a random prompt without a common prefix. */
    private GenerationRequest random(int promptLength, int newTokens) {
        int[] prompt = new int[promptLength];
        for (int i = 0; i < promptLength; i++) {
            prompt[i] = dice.below(settings.vocabularySize());
        }
        return GenerationRequest.ofTokens(prompt)
                .withMaxNewTokens(Math.min(newTokens, settings.room() - promptLength))
                .withIgnoreEndOfText(true)
                .withSeed(0);
    }

    /** Returns a length around a multiple of the block size, or any. */
    private int length() {
        return switch (dice.below(4)) {
            case 0 -> dice.between(1, settings.room());
            case 1 -> dice.between(1, 3);
            default -> settings.engine().blockSize() * dice.between(1, 5) + dice.between(-1, 1);
        };
    }
}

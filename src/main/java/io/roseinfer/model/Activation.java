package io.roseinfer.model;

/** The nonlinearity between the two matrices of an MLP. */
public enum Activation {
    /** 0.5·x·(1 + tanh(√(2/π)·(x + 0.044715·x³))), {@code gelu_new} and {@code gelu_pytorch_tanh} in configurations. */
    GELU_TANH,
    /** x·Φ(x) with the exact Gaussian distribution function; {@code gelu} in configurations. */
    GELU_ERF,
    /** max(0, x). */
    RELU,
    /** x / (1 + exp(-x)); {@code silu} and {@code swish} in configurations. */
    SILU
}

// The numbers by which kernels get an MLP's activation function: constants of model.Activation, passed by backend.cuda.ForwardPass.
// A test compares both.
enum Activation { GELU_TANH = 0, GELU_ERF = 1, RELU = 2, SILU = 3 };

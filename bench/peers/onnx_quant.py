"""What PyTorch writes to ONNX for helpers' functions on quantised values: the nodes of
QDQ models, and products of integers where ranges are found in each run."""

import torch

import helpers


class Quantize(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale, zero, axis):
        return helpers.quantize(x, scale, zero, axis, None)

    @staticmethod
    def symbolic(g, x, scale, zero, axis):
        return g.op("QuantizeLinear", x, scale, zero, axis_i=axis)


class Dequantize(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, scale, zero, axis):
        return helpers.dequantize(q, scale, zero, axis)

    @staticmethod
    def symbolic(g, q, scale, zero, axis):
        return g.op("DequantizeLinear", q, scale, zero, axis_i=axis)


class DequantizeSums(torch.autograd.Function):
    """Sums of 32 bits have no zero point."""

    @staticmethod
    def forward(ctx, q, scale, axis):
        return helpers.dequantize(q, scale, None, axis)

    @staticmethod
    def symbolic(g, q, scale, axis):
        return g.op("DequantizeLinear", q, scale, axis_i=axis)


class DynamicQuantize(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return helpers.dynamic_quantize(x)

    @staticmethod
    def symbolic(g, x):
        return g.op("DynamicQuantizeLinear", x, outputs=3)


class LinearOfIntegers(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, x_scale, x_zero, weight, weight_scale):
        return helpers.q_linear(x, x_scale, x_zero, weight, weight_scale, None, None, None, None, None, (None, None, None), torch.float32, False, 0)

    @staticmethod
    def symbolic(g, x, x_scale, x_zero, weight, weight_scale):
        sums = g.op("MatMulInteger", x, g.op("Transpose", weight, perm_i=[1, 0]), x_zero)
        return g.op("Mul", g.op("Cast", sums, to_i=1), g.op("Mul", x_scale, weight_scale))


def zeros(scale, dtype):
    """An absent zero point, as a constant: without one, nodes are of u8."""
    return torch.zeros([int(n) for n in scale.shape], dtype=dtype)


def quantize(x, scale, zero, axis, dtype):
    return Quantize.apply(x, scale, zeros(scale, helpers.given(dtype, torch.uint8)) if zero is None else zero, axis)


def dequantize(q, scale, zero, axis):
    if q.dtype == torch.int32 and zero is None:
        return DequantizeSums.apply(q, scale, axis)
    return Dequantize.apply(q, scale, zeros(scale, q.dtype) if zero is None else zero, axis)


def q_linear(x, x_scale, x_zero, weight, weight_scale, weight_zero, y_scale, y_zero, bias, table, residual, dtype, relu, most):
    if dtype != torch.float32 or weight_zero is not None or bias is not None and bias.dtype != torch.float32:
        raise ValueError("q_linear with a quantised result has no QDQ form; export the form before it was lowered")
    y = LinearOfIntegers.apply(x, x_scale, x_zero, weight, weight_scale)
    return y if bias is None else y + bias


INSTEAD = {"quantize": quantize, "dequantize": dequantize, "dynamic_quantize": DynamicQuantize.apply, "q_linear": q_linear}

package std

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
)

var elementwiseOps = []*op.Op{Add, Sub, Mul, Div, FloorDivide, Remainder, Fmod, Pow, Maximum, Minimum,
	Neg, Abs, Square, Sign, Reciprocal, Exp, Expm1, Log, Log1p, Log2, Sqrt, Rsqrt, Erf, Sin, Cos, Tan, Atan,
	Floor, Ceil, Round, Trunc, Isnan, Isinf, Isfinite, Clamp, Cast, Full, ZerosLike, OnesLike, FullLike, Arange, Linspace, Eye, Tril, Triu,
	Rand, Randn, Randint, Bernoulli, Dropout, FoldIn, RandomSplit,
	Eq, Ne, Lt, Le, Gt, Ge, LogicalAnd, LogicalOr, LogicalXor, LogicalNot,
	BitwiseAnd, BitwiseOr, BitwiseXor, BitwiseLeftShift, BitwiseRightShift, BitwiseNot, Where, MaskedFill,
	Relu, Relu6, Gelu, Silu, Hardswish, Hardsigmoid, Sigmoid, Tanh, Logsigmoid, Selu, Softsign, Mish,
	Hardtanh, Elu, Celu, LeakyRelu, Softplus, Threshold}

func TestElementwiseTypes(t *testing.T) {
	for _, o := range elementwiseOps {
		checkSamples(t, o, func(*testing.T, op.Sample, *array.Array) {})
		checkBad(t, o)
		require.Equal(t, op.Elementwise, o.Class)
	}
}

package std

import (
	"math"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/expr"
	"github.com/gofx-dev/gofx/shape"
)

// The third words of the counters that make keys; see the package comment.
const (
	domainFold  = 1
	domainSplit = 2
)

// keyWords returns the halves of a key.
func keyWords(b *expr.Builder, key expr.Value) (lo, hi expr.Value) {
	k := b.Cast(key, array.U64)
	return b.Cast(k, array.U32), b.Cast(b.Shr(k, b.ConstInt(array.U64, 32)), array.U32)
}

// draw returns the random words of the element.
func draw(b *expr.Builder, key expr.Value) [4]expr.Value {
	lo, hi := keyWords(b, key)
	return expr.Philox(b, lo, hi, b.Index())
}

// derive returns a key from another and a counter in a domain of its own.
func derive(b *expr.Builder, key, counter expr.Value, domain int64) expr.Value {
	lo, hi := keyWords(b, key)
	c := b.Cast(counter, array.U64)
	w := expr.PhiloxBlock(b, [2]expr.Value{lo, hi}, [4]expr.Value{b.Cast(c, array.U32),
		b.Cast(b.Shr(c, b.ConstInt(array.U64, 32)), array.U32), b.ConstInt(array.U32, domain), b.ConstInt(array.U32, 0)})
	return b.Cast(join(b, w[0], w[1]), key.DType())
}

// join returns hi<<32 | lo as u64.
func join(b *expr.Builder, hi, lo expr.Value) expr.Value {
	return b.Or(b.Shl(b.Cast(hi, array.U64), b.ConstInt(array.U64, 32)), b.Cast(lo, array.U64))
}

// uniform returns a number in [0, 1) of the float type d.
func uniform(b *expr.Builder, w0, w1 expr.Value, d array.DType) expr.Value {
	top := func(shift int64, scale float64) expr.Value {
		v := b.Cast(b.Shr(w0, b.ConstInt(array.U32, shift)), array.F32)
		return b.Cast(b.Mul(v, b.Const(array.F32, scale)), d)
	}
	switch d {
	case array.F16:
		return top(21, 0x1p-11)
	case array.BF16:
		return top(24, 0x1p-8)
	case array.F64:
		v := b.Shr(join(b, w0, w1), b.ConstInt(array.U64, 11))
		return b.Mul(b.Cast(v, array.F64), b.Const(array.F64, 0x1p-53))
	}
	return expr.Uniform(b, w0)
}

// normal returns a standard normal number of the float type d.
func normal(b *expr.Builder, w [4]expr.Value, d array.DType) expr.Value {
	if d != array.F64 {
		n, _ := expr.Normal(b, w[0], w[1])
		return b.Cast(n, d)
	}
	k := b.Cast(b.Shr(join(b, w[0], w[1]), b.ConstInt(array.U64, 11)), array.F64)
	u := b.Mul(b.Add(k, b.Const(d, 1)), b.Const(d, 0x1p-53))
	r := b.Sqrt(b.Mul(b.Const(d, -2), b.Log(u)))
	return b.Mul(r, b.Cos(b.Mul(uniform(b, w[2], w[3], d), b.Const(d, 2*math.Pi))))
}

// checkKey refuses what cannot be a key.
func checkKey(t shape.Type) error {
	if d := t.DType(); d != array.Invalid && d != array.I64 && d != array.U64 {
		return diag.New(op.DTypeMismatch, "key has element type "+d.String()+", expected i64 or u64")
	}
	if t.Ranked() && t.Rank() != 0 {
		return diag.New(op.RankMismatch, "key is "+t.String()+", expected 0 dimensions").
			WithHint("select one key, for example of random_split")
	}
	return nil
}

func key(n int64) *array.Array { return array.Scalar(n) }

// distribution defines a random factory of floats.
func distribution(name, doc string, f func(b *expr.Builder, w [4]expr.Value, d array.DType) expr.Value) *op.Op {
	return op.Define(name, op.Spec[SizeAttrs]{
		Doc: doc, In: op.Args("key"), Quant: op.QuantNever, Promote: uncast[SizeAttrs],
		Ref: "Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3, SC 2011",
		Infer: func(c *op.Infer, a SizeAttrs, in []shape.Type) (shape.Type, error) {
			if err := checkKey(in[0]); err != nil {
				return shape.Type{}, err
			}
			d := orElse(a.DType, array.F32)
			if !d.IsFloat() {
				return shape.Type{}, diag.New(op.BadAttr, "dtype is "+d.String()+", expected a floating-point type").WithHint("use randint for integers")
			}
			return shape.TensorType(d, a.Size), checkSize(c, a.Size)
		},
		Expr: func(b *expr.Builder, a SizeAttrs, x []expr.Value) []expr.Value {
			return []expr.Value{f(b, draw(b, x[0]), orElse(a.DType, array.F32))}
		},
		Samples: distributionSamples,
		Bad:     distributionBad,
	})
}

// Random factories; the package comment has the exact formulas.
var (
	//gofx:torch philox.rand(key, size, dtype)
	Rand = distribution("rand", "rand is a tensor of numbers uniform in [0, 1), from a key.",
		func(b *expr.Builder, w [4]expr.Value, d array.DType) expr.Value { return uniform(b, w[0], w[1], d) })
	//gofx:torch philox.randn(key, size, dtype)
	Randn = distribution("randn", "randn is a tensor of standard normal numbers, from a key.", normal)
)

// RandintAttrs are the attributes of randint; DType not given is i64.
type RandintAttrs struct {
	Low   int         `fx:",arg,lift"`
	High  int         `fx:",arg,lift"`
	Size  shape.Dims  `fx:",arg"`
	DType array.DType `fx:"dtype"`
}

// Randint draws integers. The probabilities differ by less than (High-Low)/2^64.
//
//gofx:torch philox.randint(key, low, high, size, dtype)
var Randint = op.Define("randint", op.Spec[RandintAttrs]{
	Doc: "randint is a tensor of integers uniform in [low, high), from a key.", In: op.Args("key"),
	Quant: op.QuantNever, Promote: uncast[RandintAttrs],
	Infer: func(c *op.Infer, a RandintAttrs, in []shape.Type) (shape.Type, error) {
		if err := checkKey(in[0]); err != nil {
			return shape.Type{}, err
		}
		if a.Low >= a.High {
			return shape.Type{}, diag.New(op.BadAttr, "low is "+strconv.Itoa(a.Low)+" and high "+strconv.Itoa(a.High)+", expected low < high")
		}
		d := orElse(a.DType, array.I64)
		if !holds(d, a.Low) || !holds(d, a.High-1) {
			return shape.Type{}, diag.New(op.BadAttr, "low is "+strconv.Itoa(a.Low)+" and high "+strconv.Itoa(a.High)+", and "+d.String()+
				" cannot hold all that lies between").WithHint("narrow the range, or draw a wider element type")
		}
		return shape.TensorType(d, a.Size), checkSize(c, a.Size)
	},
	Expr: func(b *expr.Builder, a RandintAttrs, x []expr.Value) []expr.Value {
		w := draw(b, x[0])
		n := b.MulHi(join(b, w[0], w[1]), b.ConstUint(array.U64, uint64(a.High)-uint64(a.Low)))
		v := b.Add(b.Cast(n, array.I64), b.ConstInt(array.I64, int64(a.Low)))
		return []expr.Value{b.Cast(v, orElse(a.DType, array.I64))}
	},
	Samples: randintSamples,
	Bad:     randintBad,
})

// Bernoulli draws 1 with the given probability for each element, else 0; a
// probability of NaN gives 0.
//
//gofx:torch philox.bernoulli(probs, key)
var Bernoulli = op.Define("bernoulli", op.Spec[op.None]{
	Doc: "bernoulli is 1 with probability probs, else 0, from a key.", In: op.Args("probs", "key"),
	Quant: op.QuantNever, Promote: uncast[op.None],
	Infer: func(_ *op.Infer, _ op.None, in []shape.Type) (shape.Type, error) {
		if d := in[0].DType(); d != array.Invalid && !d.IsFloat() {
			return shape.Type{}, diag.New(op.DTypeMismatch, "probs has element type "+d.String()+", expected a floating-point one")
		}
		return in[0], checkKey(in[1])
	},
	Expr: func(b *expr.Builder, _ op.None, x []expr.Value) []expr.Value {
		p := b.Widen(x[0])
		w := draw(b, x[1])
		return []expr.Value{b.Cast(b.Lt(uniform(b, w[0], w[1], p.DType()), p), x[0].DType())}
	},
	Samples: bernoulliSamples,
	Bad:     bernoulliBad,
})

// DropoutAttrs are the attributes of dropout; PyTorch's default of P is 0.5.
type DropoutAttrs struct {
	P        float64 `fx:",arg,lift"`
	Training bool
}

// Dropout is x itself unless Training is set. In training an element whose
// uniform number, as rand would give it, is less than P becomes 0, even if it is not finite;
// the others are multiplied by 1/(1-P).
//
//gofx:torch philox.dropout(x, key, p, training)
var Dropout = op.Define("dropout", op.Spec[DropoutAttrs]{
	Doc: "dropout sets elements to 0 with probability p and scales the others by 1/(1-p) when training, from a key; else it is x.",
	Ref: "Srivastava, Hinton, Krizhevsky, Sutskever, Salakhutdinov: Dropout, JMLR 2014", In: op.Args("x", "key?"),
	Quant: op.QuantShared, InPlace: true, Promote: uncast[DropoutAttrs], Infer: inferDropout,
	Training: func(a DropoutAttrs) bool { return a.Training },
	Expr: func(b *expr.Builder, a DropoutAttrs, x []expr.Value) []expr.Value {
		if !a.Training {
			return x[:1]
		}
		if !has(x[1]) {
			refuse(op.OperandCount, "operand key is missing, expected one when training", "pass a key, or clear training")
		}
		d := x[0].DType()
		if a.P == 1 {
			return []expr.Value{b.Const(d, 0)}
		}
		v := b.Widen(x[0])
		w := draw(b, x[1])
		keep := b.Ge(uniform(b, w[0], w[1], v.DType()), b.Like(v, a.P))
		return []expr.Value{b.Cast(b.Select(keep, b.Mul(v, b.Like(v, 1/(1-a.P))), b.Like(v, 0)), d)}
	},
	Samples: dropoutSamples,
	Bad:     dropoutBad,
})

func inferDropout(_ *op.Infer, a DropoutAttrs, in []shape.Type) (shape.Type, error) {
	if !(a.P >= 0 && a.P <= 1) {
		return shape.Type{}, diag.New(op.BadAttr, "p is "+op.Float(a.P).String()+", expected a probability from 0 to 1")
	}
	if len(in) > 1 {
		if err := checkKey(in[1]); err != nil {
			return shape.Type{}, err
		}
	}
	if a.Training {
		if len(in) < 2 {
			return shape.Type{}, diag.New(op.OperandCount, "operand key is missing, expected one when training").
				WithHint("pass a key, or clear training")
		}
		if d := in[0].DType(); d != array.Invalid && !d.IsFloat() {
			return shape.Type{}, diag.New(op.DTypeMismatch, "x has element type "+d.String()+", expected a floating-point one when training")
		}
	}
	return in[0], nil
}

// FoldInAttrs are the attributes of fold_in.
type FoldInAttrs struct {
	Data int `fx:",arg,lift"`
}

// FoldIn derives a key from each key and a number: different numbers give
// independent keys.
//
//gofx:torch philox.fold_in(key, data)
var FoldIn = op.Define("fold_in", op.Spec[FoldInAttrs]{
	Doc: "fold_in is a new key made from a key and the number data.", In: op.Args("key"), Quant: op.QuantNever,
	Infer: func(_ *op.Infer, _ FoldInAttrs, in []shape.Type) (shape.Type, error) {
		return in[0], checkKey(in[0].WithDims(shape.ConstDims()))
	},
	Expr: func(b *expr.Builder, a FoldInAttrs, x []expr.Value) []expr.Value {
		return []expr.Value{derive(b, x[0], b.ConstInt(array.I64, int64(a.Data)), domainFold)}
	},
	Samples: foldInSamples,
	Bad:     foldInBad,
})

// RandomSplitAttrs are the attributes of random_split.
type RandomSplitAttrs struct {
	Num shape.Dim `fx:",arg"`
}

// RandomSplit derives independent keys from one.
//
//gofx:torch philox.random_split(key, num)
var RandomSplit = op.Define("random_split", op.Spec[RandomSplitAttrs]{
	Doc: "random_split is a vector of num new keys made from a key.", In: op.Args("key"), Quant: op.QuantNever,
	Infer: func(c *op.Infer, a RandomSplitAttrs, in []shape.Type) (shape.Type, error) {
		if err := checkKey(in[0]); err != nil {
			return shape.Type{}, err
		}
		size := shape.Of(a.Num)
		return shape.TensorType(in[0].DType(), size), checkSize(c, size)
	},
	Expr: func(b *expr.Builder, _ RandomSplitAttrs, x []expr.Value) []expr.Value {
		return []expr.Value{derive(b, x[0], b.Index(), domainSplit)}
	},
	Samples: randomSplitSamples,
	Bad:     randomSplitBad,
})

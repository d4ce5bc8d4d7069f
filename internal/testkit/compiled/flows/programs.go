package flows

import (
	"github.com/gofx-dev/gofx/internal/testkit/compiled/flows/far"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

//go:generate go run github.com/gofx-dev/gofx/cmd/fxgen compile -o fx_compile.go Chooses Methods Fields Globals Repeats Bounded Cells Outputs Nested LoopInBranch BranchInLoop Policy Greedy Attends Far FarLoop Pending InPlaceOwn InPlaceLoop Views Layers Numbers NumbersDeep Sized Rolled Copies Drops Stores CountsLocal CountsFar Looks LooksInLoop Panics WritesState Trains ReturnsArgument LastArgument Compares Dims KeepsList Unknown WritesResult Inner KeepsOperand ReturnsWeight DropsInside EagerCounter Unneeded

type (
	tt = tensor.Tensor
	ts = []*tensor.Tensor
)

// Model has what the programs read.
type Model struct {
	W, U, B *tt
	Scale   float64
	Limit   float64
	Steps   int
	Depth   int
	On      bool
	Blocks  []*Block
	Net     *nn.Sequential
	Norm    *nn.BatchNorm2d
	Drop    *nn.Dropout
	Past    *tt
	Calls   int
	Act     func(ts) ts
}

// Block is a block that a policy may drop.
type Block struct {
	W     *tt
	Scale float64
	On    bool
}

func (b *Block) forward(x *tt) *tt {
	if b.On {
		x = x.AddScalar(b.Scale)
	}
	return x.Mul(b.W).Tanh()
}

func (m *Model) cell(x, h *tt) *tt { return x.Mul(m.W).Add(h.Mul(m.U)).Add(m.B).Tanh() }
func (m *Model) grow(in ts) ts     { return ts{in[0].Mul(m.W).AddScalar(1)} }
func (m *Model) shrink(in ts) ts   { return ts{in[0].Tanh().Mul(m.U)} }
func (m *Model) less(in ts) *tt    { return in[0].Abs().Sum().LtScalar(m.Limit) }
func same(in ts) ts                { return in }
func (m *Model) wider(in ts) ts    { return ts{in[0].Abs().AddScalar(1).Add(m.B.Abs())} }
func positive(x *tt) *tt           { return x.Sum().GtScalar(0) }

var gain = 1.5

// Chooses is a branch between calls.
func Chooses(m *Model, x, y *tt) *tt {
	h := x.Mul(m.W).Add(y)
	return tensor.Cond(positive(h), func(in ts) ts { return ts{in[0].Mul(m.W)} }, func(in ts) ts { return ts{in[0].Sub(y)} }, h)[0].Exp()
}

// Methods has methods as branches.
func Methods(m *Model, x, y *tt) *tt {
	return tensor.Cond(positive(x), m.grow, m.shrink, x.Add(y))[0].Add(y)
}

// Fields reads fields in branches, and branches on them.
func Fields(m *Model, x, y *tt) *tt {
	return tensor.Cond(positive(x), func(in ts) ts {
		if m.On {
			return ts{in[0].Mul(m.U)}
		}
		return ts{in[0].AddScalar(m.Depth)}
	}, func(in ts) ts { return ts{in[0].MulScalar(m.Depth * 2).Add(m.B)} }, x.Add(y))[0].Neg()
}

// Globals reads a variable in a branch.
func Globals(m *Model, x, y *tt) *tt {
	return tensor.Cond(positive(x), func(in ts) ts { return ts{in[0].MulScalar(gain)} }, m.shrink, x.Add(y))[0].Neg()
}

// Repeats is a loop of any number of rounds.
func Repeats(m *Model, x, y *tt) *tt {
	return tensor.While(m.less, m.wider, x.Add(y))[0].Exp()
}

// Bounded has a bound, and counts its rounds.
func Bounded(m *Model, x, y *tt) (*tt, *tt) {
	out := tensor.WhileAtMost(m.Steps+40, m.less, func(in ts) ts { return ts{m.wider(in)[0], in[1].AddScalar(1)} }, x.Add(y), tensor.Scalar(int64(0)))
	return out[0].Neg(), out[1].MulScalar(2)
}

// Cells runs over the rows of x.
func Cells(m *Model, x, y *tt) *tt {
	last, _ := tensor.Scan(func(c, s ts) (ts, ts) { return ts{m.cell(s[0], c[0])}, nil }, ts{y}, ts{x})
	return last[0]
}

// Outputs keeps what all steps make.
func Outputs(m *Model, x, y *tt) (*tt, *tt) {
	last, all := tensor.Scan(func(c, s ts) (ts, ts) {
		n := m.cell(s[0], c[0])
		return ts{n, c[1].Add(n.Sum())}, ts{n.MulScalar(m.Scale), s[0].Sum()}
	}, ts{y.Neg(), tensor.Scalar(float32(0))}, ts{x})
	return all[0], all[1].Add(last[1])
}

// Nested has a branch in a loop over steps in a loop.
func Nested(m *Model, x, y *tt) *tt {
	return tensor.While(m.less, func(in ts) ts {
		last, _ := tensor.Scan(func(c, s ts) (ts, ts) {
			n := tensor.Cond(positive(s[0]), func(in ts) ts { return ts{in[0].Add(m.B.Abs())} }, func(in ts) ts { return ts{in[0].Sub(y)} }, c[0])[0]
			return ts{n.Abs().AddScalar(0.5)}, nil
		}, ts{in[0].Add(y)}, ts{x})
		return ts{last[0]}
	}, y.MulScalar(0.1))[0].Neg()
}

// LoopInBranch has a loop of Go in a branch.
func LoopInBranch(m *Model, x, y *tt) *tt {
	return tensor.Cond(positive(x), func(in ts) ts {
		h := in[0]
		for range m.Steps {
			h = m.cell(h, y)
		}
		for _, b := range m.Blocks {
			h = b.forward(h)
		}
		return ts{h}
	}, m.shrink, x.Add(y))[0].Neg()
}

// BranchInLoop has a branch in each round of a loop of Go.
func BranchInLoop(m *Model, x, y *tt) *tt {
	h := x.Add(y)
	for _, b := range m.Blocks {
		h = tensor.Cond(positive(h), func(in ts) ts { return ts{b.forward(in[0])} }, same, h)[0].Add(y)
	}
	return h
}

// Policy drops blocks by what a network says of the input.
func Policy(m *Model, x, y *tt) *tt {
	keep := x.Mul(m.W).Sum().Add(tensor.Arange(len(m.Blocks)).Cast(x.DType())).GtScalar(0.5)
	h := x.Add(y)
	for i, b := range m.Blocks {
		h = tensor.Cond(keep.Select(0, i), func(in ts) ts { return ts{in[0].Add(b.forward(in[0]))} }, same, h)[0]
	}
	return h.Mul(m.U)
}

// Greedy decodes words until the last one, or until there are enough.
func Greedy(m *Model, x, y *tt) *tt {
	most := 6
	at := tensor.Arange(most)
	out := tensor.While(func(in ts) *tt { return in[0].LtScalar(most).LogicalAnd(in[1].NeScalar(1)) }, func(in ts) ts {
		h := m.cell(in[2], in[1].Cast(x.DType()))
		word := h.Argmax(-1).Select(0, 0)
		return ts{in[0].AddScalar(1), word, h, tensor.Where(at.Eq(in[0]), word, in[3])}
	}, tensor.Scalar(int64(0)), tensor.Scalar(int64(0)), x.Add(y), tensor.Zeros(most).Cast(tensor.Scalar(int64(0)).DType()))
	return out[3].MulScalar(1)
}

// Attends is a decoder with attention over the rows of x.
func Attends(m *Model, x, y *tt) *tt {
	_, all := tensor.Scan(func(c, s ts) (ts, ts) {
		weights := x.Mul(c[0]).Sum(-1).Softmax(0)
		h := m.cell(s[0], weights.Unsqueeze(-1).Mul(x).Sum(0).Reshape(y.Size(0), y.Size(1)))
		return ts{h}, ts{h}
	}, ts{y}, ts{x})
	return all[0]
}

// Far has branches of another package.
func Far(m *Model, x, y *tt) *tt {
	return tensor.Cond(positive(x), far.Shift, m.shrink, x.Add(y))[0].Neg()
}

// FarLoop hands its function on to a loop of another package.
func FarLoop(m *Model, x, y *tt) *tt { return far.Until(x.Abs().Add(y.Abs()), m.wider).Neg() }

// Pending uses values that were recorded before, and tensors without a session, in branches.
func Pending(m *Model, x, y *tt) (*tt, *tt) {
	a, b, c := x.Exp(), y.Exp(), tensor.Full([]int{1}, 2)
	out := tensor.Cond(positive(x), func(ts) ts { return ts{a.Add(c), b.Mul(a)} }, func(ts) ts { return ts{b.Sub(c), a.Clone()} })
	return out[0].Add(a), out[1].Neg()
}

// InPlaceOwn writes to a tensor that the branch has made.
func InPlaceOwn(m *Model, x, y *tt) *tt {
	return tensor.Cond(positive(x), func(in ts) ts {
		z := in[0].MulScalar(2)
		z.Select(0, 0).AddInPlace(m.B)
		z.MulScalarInPlace(3)
		return ts{z}
	}, m.shrink, x.Add(y))[0].Neg()
}

// InPlaceLoop writes to what the loop hands on.
func InPlaceLoop(m *Model, x, y *tt) *tt {
	h := x.Add(y)
	tensor.While(m.less, func(in ts) ts { in[0].AbsInPlace().AddInPlace(m.B.Abs().AddScalar(1)); return in }, h)
	return h.Neg()
}

// Views shows parts of arguments in a branch.
func Views(m *Model, x, y *tt) *tt {
	v := x.T()
	return tensor.Cond(positive(x), func(in ts) ts { return ts{in[0].T().Add(v).Slice(0, 0, 2).T()} }, func(in ts) ts { return ts{v.T().Slice(-1, 0, 2).Clone()} }, x.Add(y))[0].Add(m.B.Slice(0, 0, 2))
}

// Layers runs modules in a branch.
func Layers(m *Model, x, y *tt) *tt {
	return tensor.Cond(positive(x), func(in ts) ts { return ts{nn.Run(m.Net, in[0])} }, m.shrink, x.Add(y))[0].Neg()
}

// Numbers gives fields to operators in functions.
func Numbers(m *Model, x, y *tt) *tt {
	h := tensor.Cond(positive(x), func(in ts) ts { return ts{in[0].MulScalar(m.Scale)} }, func(in ts) ts { return ts{in[0].AddScalar(m.Scale / 2)} }, x.Add(y))[0]
	return h.MulScalar(m.Scale)
}

// NumbersDeep gives a field to an operator of a function in a function, and to a tensor in it.
func NumbersDeep(m *Model, x, y *tt) *tt {
	last, _ := tensor.Scan(func(c, s ts) (ts, ts) {
		n := tensor.Cond(positive(s[0]), func(in ts) ts { return ts{in[0].MulScalar(m.Scale)} }, same, c[0].Add(s[0]))[0]
		return ts{n.Add(tensor.Scalar(float32(m.Scale))).Tanh()}, nil
	}, ts{y.Neg()}, ts{x})
	return last[0].Neg()
}

// Sized passes sizes on in functions.
func Sized(m *Model, x, y *tt) *tt {
	last, all := tensor.Scan(func(c, s ts) (ts, ts) {
		n := m.cell(s[0], c[0]).Reshape(s[0].Size(0).Mul(c[0].Size(1)))
		return ts{n.Reshape(c[0].Size(0), c[0].Size(1))}, ts{n}
	}, ts{y}, ts{x})
	return tensor.Cond(positive(y), func(in ts) ts { return ts{in[0].Reshape(in[0].Size(0), y.Size(0), y.Size(1)).Sum(0)} }, func(ts) ts { return ts{last[0].Neg()} }, all[0])[0].Exp()
}

// Rolled has a loop of Go that may roll, next to a branch.
func Rolled(m *Model, x, y *tt) *tt {
	h := y
	for i := range x.Dim(0) {
		h = m.cell(x.Select(0, i), h)
	}
	return tensor.Cond(positive(h), m.grow, m.shrink, h)[0].Neg()
}

// Copies has a loop over a copy of an argument.
func Copies(m *Model, x, y *tt) *tt { return tensor.While(m.less, m.wider, x.Clone())[0] }

// Drops draws random numbers outside of a branch on what they gave.
func Drops(m *Model, x, y *tt) *tt {
	h := m.Drop.Forward(x)
	return tensor.Cond(positive(h), m.grow, m.shrink, h.Add(y))[0].Neg()
}

// Stores has a branch that stores.
func Stores(m *Model, x, y *tt) *tt {
	return tensor.Cond(positive(x), func(in ts) ts { m.Calls += m.Depth; return ts{in[0].AddScalar(m.Calls)} }, m.shrink, x.Add(y))[0].Neg()
}

// CountsLocal counts rounds in a variable.
func CountsLocal(m *Model, x, y *tt) *tt {
	n := 0
	h := tensor.While(m.less, func(in ts) ts { n++; return ts{in[0].Abs().AddScalar(n)} }, x.Add(y))[0]
	return h.MulScalar(n)
}

// CountsFar counts calls in a variable of another package.
func CountsFar(m *Model, x, y *tt) *tt {
	return tensor.Cond(positive(x), far.Counts, m.shrink, x.Add(y))[0].Neg()
}

// Looks asks for data in a branch.
func Looks(m *Model, x, y *tt) *tt {
	return tensor.Cond(positive(x), func(in ts) ts {
		if m.On {
			return ts{in[0].MulScalar(in[0].Max().Item())}
		}
		return ts{in[0].Mul(in[0].Max())}
	}, m.shrink, x.Add(y))[0].Neg()
}

// LooksInLoop asks for data in a loop, under a condition.
func LooksInLoop(m *Model, x, y *tt) *tt {
	return tensor.While(m.less, func(in ts) ts {
		if m.On && in[0].Max().Item() > 3 {
			return m.wider(ts{in[0].AddScalar(1)})
		}
		return m.wider(in)
	}, x.Add(y))[0].Neg()
}

// Panics has a branch that panics.
func Panics(m *Model, x, y *tt) *tt {
	return tensor.Cond(positive(x), m.grow, func(in ts) ts {
		if m.On {
			panic("on")
		}
		return m.shrink(in)
	}, x.Add(y))[0].Neg()
}

// WritesState writes to a tensor of the model in a loop.
func WritesState(m *Model, x, y *tt) *tt {
	return tensor.While(m.less, func(in ts) ts { m.Past.AddInPlace(in[0].Sum()); return m.wider(in) }, x.Add(y))[0].Neg()
}

// Trains has a layer with statistics in a branch.
func Trains(m *Model, x, y *tt) *tt {
	m.Norm.Training = m.On
	return tensor.Cond(positive(x), func(in ts) ts {
		return ts{m.Norm.Forward(in[0].Reshape(1, 1, in[0].Dim(0), 3)).Reshape(in[0].Dim(0), 3)}
	}, m.shrink, x.Add(y))[0].Neg()
}

// ReturnsArgument may return what it was given.
func ReturnsArgument(m *Model, x, y *tt) *tt { return tensor.Cond(positive(x), same, m.shrink, x)[0] }

// LastArgument may return what it was given, after no round.
func LastArgument(m *Model, x, y *tt) *tt { return tensor.While(m.less, m.wider, x)[0] }

// Compares asks which tensor it was given.
func Compares(m *Model, x, y *tt) *tt {
	h := x.Add(y)
	return tensor.While(m.less, func(in ts) ts {
		if in[0] == h {
			return ts{in[0].Abs().AddScalar(3)}
		}
		return m.wider(in)
	}, h)[0].Neg()
}

// Dims asks for a size as a number.
func Dims(m *Model, x, y *tt) *tt {
	last, _ := tensor.Scan(func(c, s ts) (ts, ts) { return ts{m.cell(s[0], c[0]).DivScalar(x.Dim(0))}, nil }, ts{y}, ts{x})
	return last[0]
}

// KeepsList writes to the list that it is given.
func KeepsList(m *Model, x, y *tt) *tt {
	list := ts{x.Add(y)}
	tensor.While(m.less, func(in ts) ts { in[0] = m.wider(in)[0]; return in }, list...)
	return list[0].Neg()
}

// Unknown calls a function of a field.
func Unknown(m *Model, x, y *tt) *tt {
	return tensor.Cond(positive(x), m.Act, m.shrink, x.Add(y))[0].Neg()
}

// WritesResult writes to what may be its argument.
func WritesResult(m *Model, x, y *tt) *tt {
	h := tensor.Cond(positive(x), m.shrink, same, x)[0]
	h.AddScalarInPlace(1)
	return h.Neg()
}

var chooses = CompileChooses()

// Inner calls a compiled function in a branch.
func Inner(m *Model, x, y *tt) *tt {
	return tensor.Cond(positive(y), func(in ts) ts { return ts{chooses.Call(m, in[0], y)} }, m.shrink, x.Add(y))[0].Neg()
}

// KeepsOperand keeps what a branch may return.
func KeepsOperand(m *Model, x, y *tt) *tt {
	m.Past = x.Add(y)
	return tensor.Cond(positive(x), same, m.shrink, m.Past)[0]
}

// ReturnsWeight may return a tensor of the model.
func ReturnsWeight(m *Model, x, y *tt) *tt {
	return tensor.Cond(positive(x), func(ts) ts { return ts{m.W} }, func(ts) ts { return ts{m.U.Neg()} })[0]
}

// DropsInside draws random numbers in a branch.
func DropsInside(m *Model, x, y *tt) *tt {
	return tensor.Cond(positive(x), func(in ts) ts { return ts{m.Drop.Forward(in[0])} }, m.shrink, x.Add(y))[0].Neg()
}

// EagerCounter counts in a tensor that depends on no argument: the rounds are known.
func EagerCounter(m *Model, x, y *tt) *tt {
	out := tensor.While(func(in ts) *tt { return in[0].LtScalar(m.Steps) }, func(in ts) ts { return ts{in[0].AddScalar(1), in[1].Mul(x).Add(y)} },
		tensor.Scalar(int64(0)), tensor.Zeros(1, 1).Expand(2, 3).Clone())
	return out[1].Neg()
}

// Unneeded has a branch in a branch, whose result nobody uses, and whose functions use an operand of the outer one.
func Unneeded(m *Model, x, y *tt) *tt {
	h := x.Mul(m.W)
	return tensor.Cond(positive(h), func(in ts) ts {
		tensor.Cond(positive(in[1]), func(ts) ts { return ts{h.Add(y)} }, func(ts) ts { return ts{y.Neg()} })
		return ts{in[0].Tanh()}
	}, func(in ts) ts { return ts{in[0].Sub(y)} }, h.AddScalar(1), y)[0].Neg()
}

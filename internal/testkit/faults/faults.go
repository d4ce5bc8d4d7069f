// Package faults holds models that are wrong on purpose. Each faulty line says
// which diagnostics it must give ("want FX1004"); the tests demand exactly those,
// at exactly those lines, through fx.Trace and through fxgen.
package faults

import (
	"errors"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/tensor"
)

// Fault is one faulty model.
type Fault struct {
	Name  string // of the function or type
	Fn    any
	Types []string // of the inputs x, y, ...
}

// Opts returns the options to trace it with.
func (f Fault) Opts() []fx.Option {
	var opts []fx.Option
	for i, t := range f.Types {
		opts = append(opts, fx.Input(InputName(i), t))
	}
	return opts
}

// InputName returns the name of input i: x, y, z.
func InputName(i int) string { return string(rune('x' + i)) }

func in(types ...string) []string { return types }

func weight(shape ...int) *tensor.Tensor { return tensor.New(array.New(array.F32, shape...)) }

// All returns the faulty models.
func All() []Fault {
	return append(reads(), append(types(), signatures()...)...)
}

func reads() []Fault {
	return []Fault{
		{"branchOnData", branchOnData, in("f32[N]")},
		{"dataEverywhere", dataEverywhere, in("f32[N,4]")},
		{"sizesAsNumbers", sizesAsNumbers, in("f32[N,S]")},
		{"rankUnknown", rankUnknown, nil},
		{"dtypeUnknown", dtypeUnknown, nil},
		{"comparesSizes", comparesSizes, in("f32[N,S]")},
		{"loopOnData", loopOnData, in("f32[N]")},
		{"loopOnSize", loopOnSize, in("f32[N]")},
		{"writesInput", writesInput, in("f32[N]")},
		{"staleView", staleView, in("f32[N,3]")},
		{"staleBase", staleBase, in("f32[2,3]")},
		{"writesExpanded", writesExpanded, in("f32[2]")},
		{"swapsInLoop", swapsInLoop, in("f32[2]")},
		{"regionsDiffer", regionsDiffer, in("f32[N]")},
		{"regionLeaks", regionLeaks, in("f32[N]")},
		{"whileChangesType", whileChangesType, in("f32[2]")},
		{"scanLosesCarry", scanLosesCarry, in("f32[4,2]")},
		{"panics", panics, in("f32[N]")},
		{"panicsAfterRead", panicsAfterRead, in("f32[N]")},
		{"unseen", unseen, in("f32[N]")},
		{"gradOfABranch", gradOfABranch, in("f32[N]")},
		{"remembers", &remembers{}, in("f32[N]")},
		{"readsState", &readsState{weight(1)}, in("f32[N]")},
		{"unsorted", &unsorted{map[string]*tensor.Tensor{"a": weight(1), "b": weight(1), "c": weight(1)}}, in("f32[N]")},
		{"unnamed", &unnamed{map[point]*tensor.Tensor{{}: weight(1)}}, in("f32[N]")},
		{"namesakes", &namesakes{weight(1), weight(1)}, in("f32[N]")},
		{"concurrent", concurrent, in("f32[N]")},
		{"wrapsWrong", wrapsWrong, in("f32[N]")},
		{"outlives", outlives, in("f32[N]")},
		{"mixesTraces", mixesTraces, in("f32[N]")},
	}
}

func branchOnData(x *tensor.Tensor) *tensor.Tensor {
	if x.Sum().Item() > 0 { // want FX1004
		return x.Neg()
	}
	return x
}

func dataEverywhere(x *tensor.Tensor) *tensor.Tensor {
	if x.Select(0, 0).Sum().Bool() { // want FX1004
		x = x.Neg()
	}
	scale := x.Max().Item()         // want FX1004
	rows := tensor.Data[float32](x) // want FX1004
	for range rows {
		x = x.MulScalar(scale)
	}
	if x.Equal(x) { // want FX1004
		x = x.AddScalar(1)
	}
	_ = x.Array() // want FX1004
	return x
}

func sizesAsNumbers(x *tensor.Tensor) *tensor.Tensor {
	batch := x.Dim(0)                     // want FX1005
	y := x.DivScalar(float64(x.Dim(1)))   // want FX1005
	n := x.Size(1).Mul(2).Int()           // want FX1005
	if x.Size(0).Int() > batch && n > 3 { // want FX1005
		return y
	}
	return y.Relu()
}

func comparesSizes(x *tensor.Tensor) *tensor.Tensor {
	if x.Size(0).Equal(x.Size(1)) { // want FX1005
		return x.T()
	}
	tables := map[string]float64{"4": 0.5}
	return x.MulScalar(tables[x.Size(0).String()]) // want FX1005
}

func dtypeUnknown(x *tensor.Tensor) *tensor.Tensor {
	if x.DType() == array.Bool { // want FX1040
		return x.LogicalNot()
	}
	return x
}

func rankUnknown(x *tensor.Tensor) *tensor.Tensor {
	if x.Rank() == 2 { // want FX1006
		return x.Neg()
	}
	return x
}

func loopOnData(x *tensor.Tensor) *tensor.Tensor {
	for x.Sum().Item() < 10 { // want FX1004 FX1008
		x = x.AddScalar(1)
	}
	return x
}

func loopOnSize(x *tensor.Tensor) *tensor.Tensor {
	for i := 0; i <= x.Dim(0); { // want FX1005 FX1008
		x = x.AddScalar(1)
	}
	return x
}

func writesInput(x *tensor.Tensor) *tensor.Tensor {
	x.AddScalarInPlace(1) // want FX1011
	return x.Neg()
}

func staleView(x *tensor.Tensor) *tensor.Tensor {
	y := x.MulScalar(2)
	flat := y.T().Reshape(-1)
	y.AddScalarInPlace(1)
	return flat.Relu() // want FX1010
}

func staleBase(x *tensor.Tensor) *tensor.Tensor {
	y := x.MulScalar(2)
	z := tensor.While(
		func(in []*tensor.Tensor) *tensor.Tensor { return in[0].Sum().LtScalar(3) },
		func(in []*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{in[0].Exp()} }, y)[0]
	z.ReluInPlace()
	return y.Neg() // want FX1010
}

func writesExpanded(x *tensor.Tensor) *tensor.Tensor {
	y := x.MulScalar(2)
	y.Unsqueeze(0).Expand(3, -1).AddScalarInPlace(1) // want FX1017
	return y
}

func swapsInLoop(x *tensor.Tensor) *tensor.Tensor {
	y := x.MulScalar(2)
	return tensor.While(
		func(in []*tensor.Tensor) *tensor.Tensor { return in[0].Sum().LtScalar(3) },
		func(in []*tensor.Tensor) []*tensor.Tensor {
			in[0].AddScalarInPlace(1) // want FX1014
			return []*tensor.Tensor{in[0].Neg()}
		}, y)[0].Add(y)
}

func regionsDiffer(x *tensor.Tensor) *tensor.Tensor {
	out := tensor.Cond(x.Sum().GtScalar(0), // want FX1014
		func(in []*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{in[0], in[0]} },
		func(in []*tensor.Tensor) []*tensor.Tensor { return in }, x)
	return out[0]
}

func regionLeaks(x *tensor.Tensor) *tensor.Tensor {
	var kept *tensor.Tensor
	tensor.Cond(x.Sum().GtScalar(0),
		func(in []*tensor.Tensor) []*tensor.Tensor { kept = in[0].Neg(); return in },
		func(in []*tensor.Tensor) []*tensor.Tensor { return in }, x)
	return kept.Relu() // want FX1014
}

func whileChangesType(x *tensor.Tensor) *tensor.Tensor {
	return tensor.While( // want FX1014
		func(in []*tensor.Tensor) *tensor.Tensor { return in[0].Sum().LtScalar(3) },
		func(in []*tensor.Tensor) []*tensor.Tensor {
			return []*tensor.Tensor{tensor.Cat([]*tensor.Tensor{in[0], in[0]}, 0)}
		}, x)[0]
}

func scanLosesCarry(x *tensor.Tensor) *tensor.Tensor {
	last, _ := tensor.Scan(func(carry, rows []*tensor.Tensor) (next, out []*tensor.Tensor) { // want FX1014
		return nil, []*tensor.Tensor{rows[0]}
	}, []*tensor.Tensor{tensor.Zeros(2)}, []*tensor.Tensor{x})
	return last[0]
}

func panics(x *tensor.Tensor) *tensor.Tensor {
	var layers []*tensor.Tensor
	return x.Add(layers[0]) // want FX1007
}

func panicsAfterRead(x *tensor.Tensor) *tensor.Tensor {
	i := int(x.Sum().Item()) // want FX1004
	return []*tensor.Tensor{}[i]
}

func unseen(x *tensor.Tensor) *tensor.Tensor {
	calls := tensor.Zeros(1)
	count := func(in []*tensor.Tensor) []*tensor.Tensor {
		calls.AddScalarInPlace(1)                 // want FX1016
		return []*tensor.Tensor{in[0].Add(calls)} // want FX1016
	}
	return tensor.Cond(x.Sum().GtScalar(0), count, count, x)[0]
}

func gradOfABranch(x *tensor.Tensor) *tensor.Tensor {
	y := x.Square()
	then := func(in []*tensor.Tensor) []*tensor.Tensor {
		return tensor.Grad(y.Mul(x).Sum(), x) // want FX1019
	}
	els := func(in []*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{x.Clone()} }
	return tensor.Cond(x.Sum().GtScalar(0), then, els)[0]
}

type readsState struct{ Calls *tensor.Tensor }

// Forward branches on a buffer that it also writes.
func (m *readsState) Forward(x *tensor.Tensor) *tensor.Tensor {
	if m.Calls.Sum().Item() > 3 {
		return x
	}
	m.Calls.AddInPlace(x.Sum().Unsqueeze(0)) // want FX1016
	return x.Add(m.Calls)
}

type remembers struct{ last *tensor.Tensor }

// Forward keeps a traced tensor for its next call.
func (m *remembers) Forward(x *tensor.Tensor) *tensor.Tensor {
	y := x.MulScalar(0.9)
	if m.last != nil && m.last.Engine() == x.Engine() {
		y = y.Add(m.last)
	}
	m.last = y.Relu() // want FX1043
	return y
}

type unsorted struct{ Scales map[string]*tensor.Tensor }

// Forward multiplies by tensors in an order that differs from call to call.
func (m *unsorted) Forward(x *tensor.Tensor) *tensor.Tensor {
	for _, s := range m.Scales {
		x = x.Mul(s) // want FX1044
	}
	return x
}

type point struct{ X, Y int }

type unnamed struct{ Tiles map[point]*tensor.Tensor }

// Forward reads a tensor that no state dict can name.
func (m *unnamed) Forward(x *tensor.Tensor) *tensor.Tensor { // want FX1041
	return x.Add(m.Tiles[point{}])
}

type namesakes struct{ W, w *tensor.Tensor }

// Forward reads two tensors that a state dict names w.
func (m *namesakes) Forward(x *tensor.Tensor) *tensor.Tensor { // want FX1042
	return x.Mul(m.W).Add(m.w)
}

func concurrent(x *tensor.Tensor) *tensor.Tensor {
	return tensor.Cond(x.Sum().GtScalar(0), func(in []*tensor.Tensor) []*tensor.Tensor {
		return in
	}, func(in []*tensor.Tensor) []*tensor.Tensor {
		done := make(chan any)
		go func() {
			defer func() { done <- recover() }()
			overlapping(in[0])
		}()
		if err, ok := (<-done).(error); ok && errors.Is(err, op.BadAttr) {
			panic(err)
		}
		return in
	}, x)[0]
}

// overlapping is a mistake made in another goroutine, which raises it again.
func overlapping(x *tensor.Tensor) {
	x.Softmax(7) // want FX2008
}

func wrapsWrong(x *tensor.Tensor) *tensor.Tensor {
	f := tensor.Wrap(func(x *tensor.Tensor, n int) *tensor.Tensor { return x }) // want FX1002
	return f(x, 3)
}

var leaked *tensor.Tensor

func outlives(x *tensor.Tensor) *tensor.Tensor {
	if _, err := fx.Trace(ctx, func(y *tensor.Tensor) *tensor.Tensor { leaked = y; return y.Neg() }); err != nil {
		return nil
	}
	return leaked.Relu() // want FX1015
}

func mixesTraces(x *tensor.Tensor) *tensor.Tensor {
	_, err := fx.Trace(ctx, func(y *tensor.Tensor) *tensor.Tensor {
		return y.Add(x) // want FX1001
	})
	if err != nil {
		panic(first(err))
	}
	return x
}

func types() []Fault {
	return []Fault{
		{"broadcast", broadcast, in("f32[2,3]", "f32[4,3]")},
		{"contraction", contraction, in("f32[N,32]")},
		{"manyTypes", manyTypes, in("f32[2,3]")},
		{"ranks", ranks, in("f32[2,3]")},
		{"dtypes", dtypes, in("f32[2,3]")},
		{"attributes", attributes, in("f32[2,3,8,8]")},
		{"reshapes", reshapes, in("f32[2,3]")},
		{"axes", axes, in("f32[2,3]")},
		{"contradiction", contradiction, in("f32[N,4]")},
		{"missing", missing, in("f32[2,3]")},
		{"everything", everything, in("f32[N,3]")},
	}
}

func broadcast(x, y *tensor.Tensor) *tensor.Tensor {
	return x.Add(y) // want FX2001
}

func contraction(x *tensor.Tensor) *tensor.Tensor {
	return tensor.Linear(x, weight(10, 64), nil) // want FX2003
}

func manyTypes(x *tensor.Tensor) *tensor.Tensor {
	a := x.Matmul(weight(4, 5))                              // want FX2001
	b := x.Add(weight(2, 4))                                 // want FX2001
	c := x.Softmax(3)                                        // want FX2008
	d := tensor.Cat([]*tensor.Tensor{x, weight(2, 3, 4)}, 0) // want FX2002
	return a.Relu().Add(b.Neg()).Add(c).Add(d.Sum())         // silent: their operands were reported
}

func ranks(x *tensor.Tensor) *tensor.Tensor {
	y := tensor.Bmm(x, x)                              // want FX2002
	z := x.Conv2d(weight(4, 3, 3, 3), nil)             // want FX2002
	return y.Add(z).Add(tensor.Addmm(x, x, weight(3))) // want FX2002
}

func dtypes(x *tensor.Tensor) *tensor.Tensor {
	ids := x.GtScalar(0).Cast(array.I64)
	a := ids.Mean()                        // want FX2004
	b := tensor.Embedding(x, weight(9, 4)) // want FX2004
	c := x.BitwiseNot()                    // want FX2004
	return a.Add(b).Add(c)
}

func attributes(x *tensor.Tensor) *tensor.Tensor {
	y := x.MaxPool2d(0)                                                                  // want FX2005
	z := x.Conv2d(weight(4, 3, 3, 3), nil, tensor.ConvAttrs{Stride: tensor.Ints(-1, 1)}) // want FX2005
	return y.Add(z)
}

func reshapes(x *tensor.Tensor) *tensor.Tensor {
	y := x.Reshape(4, -1) // want FX2007
	z := x.Reshape(7)     // want FX2007
	return y.Add(z)
}

func axes(x *tensor.Tensor) *tensor.Tensor {
	y := x.Transpose(0, 2)                                // want FX2008
	z := x.Sum(-3)                                        // want FX2008
	return y.Add(z).Add(x.Unsqueeze(5)).Add(x.Cumsum(-4)) // want FX2008 FX2008
}

func contradiction(x *tensor.Tensor) *tensor.Tensor {
	t := x.Transpose(0, 1)
	y := t.Matmul(weight(3, 2)) // N = 3
	z := t.Matmul(weight(5, 2)) // want FX2010
	return y.Add(z)
}

func missing(x *tensor.Tensor) *tensor.Tensor {
	return tensor.Linear(x, nil, nil) // want FX2006
}

func everything(x *tensor.Tensor) *tensor.Tensor {
	if x.Sum().Item() > 0 { // want FX1004
		x = x.Neg()
	}
	n := x.Dim(0)                               // want FX1005
	y := x.Matmul(weight(4, 4))                 // want FX2001
	z := x.Softmax(9)                           // want FX2008
	w := x.Add(weight(2, 5))                    // want FX2001
	v := x.Reshape(n, 3, 2, -1, -1)             // want FX2005
	u := x.GtScalar(0).Mean()                   // want FX2004
	return y.Add(z).Add(w).Add(v).Add(u).Bmm(x) // silent
}

func signatures() []Fault {
	return []Fault{
		{"needsNumber", needsNumber, nil},
		{"needsExample", needsExample, nil},
		{"returnsNumber", returnsNumber, nil},
		{"returnsNothing", returnsNothing, nil},
		{"returnsError", returnsError, nil},
		{"tooManySpecs", tooManySpecs, in("f32[2]", "f32[2]")},
	}
}

func needsNumber(x *tensor.Tensor, n int) *tensor.Tensor { return x.MulScalar(n) } // want FX1012

func needsExample(xs []*tensor.Tensor) *tensor.Tensor { return xs[0] } // want FX1012

func returnsNumber(x *tensor.Tensor) (*tensor.Tensor, int) { return x.Neg(), 3 } // want FX1013

func returnsNothing(x *tensor.Tensor) { x.Neg() } // want FX1013

func returnsError(x *tensor.Tensor) (*tensor.Tensor, error) { return x, errors.New("no") } // want FX1007

func tooManySpecs(x *tensor.Tensor) *tensor.Tensor { return x } // want FX1012

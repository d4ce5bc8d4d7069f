package compile_test

import (
	"errors"
	"io"
	"math"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/compile"
	"github.com/gofx-dev/gofx/compile/state"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// Faults that this room had, or could have had: each is a program that went wrong.

type listsOut struct {
	S []float32
	R *tensor.Tensor
}

// A write to a tensor over a Go slice reaches the slice after the function has returned.
func TestWriteSettlesAfterTheCall(t *testing.T) {
	table := state.Table{Func: "f", Elems: []state.Elem{{Type: "[]float32", Access: rw | state.Len}}, InPlace: pairTable.InPlace}
	for name, run := range map[string]func(in *floatsIn, out *listsOut){
		"slice of the caller": func(in *floatsIn, out *listsOut) {
			tensor.FromSlice(in.F).AddInPlace(in.X)
			out.R = in.X.Neg()
		},
		"slice of the function": func(in *floatsIn, out *listsOut) {
			out.S = []float32{1, 2}
			tensor.FromSlice(out.S).AddInPlace(in.X)
			out.R = in.X.Neg()
		},
		"nothing is added the first time": func(in *floatsIn, out *listsOut) {
			tensor.FromSlice(in.F).AddInPlace(in.X.Sub(in.X.Round()))
			out.R = in.X.Neg()
		},
		"memory that was handed out": func(in *floatsIn, out *listsOut) {
			x := tensor.Zeros(2)
			out.S = tensor.Data[float32](x)
			x.AddInPlace(in.X)
			out.R = in.X.Neg()
		},
		"an array": func(in *floatsIn, out *listsOut) {
			a := array.New(array.F32, 2)
			tensor.New(a).AddInPlace(in.X)
			out.S, out.R = array.Data[float32](a), in.X.Neg()
		},
	} {
		t.Run(name, func(t *testing.T) {
			j := newJudge(t, table, run, func() floatsIn { return floatsIn{[]float32{1, 2}, vec(1, 1)} })
			for i := range 4 {
				j.each(func(in *floatsIn) { in.F[0], in.F[1], in.X = 1, 2, vec(1, 1+0.25*float32(i)) }).call()
			}
			require.Contains(t, text(t, j.f), "values are computed on the way: write, at ")
		})
	}
}

// Go code that has the memory of a parameter writes to it without a word, also where a plan packs it.
func TestParameterOverGoMemory(t *testing.T) {
	const n = 64
	world := func() weightIn {
		return weightIn{&weighted{tensor.Param(array.New(array.F32, n, n))}, tensor.Ones(n, n)}
	}
	j := newJudge(t, weightTable, func(in *weightIn, out *oneOut) { out.R = in.X.Matmul(in.M.W) }, world)
	for i := range 4 {
		j.each(func(in *weightIn) { array.SetFloat64At(in.M.W.Value().(*array.Array), i, 2) }).call()
	}
	require.Equal(t, 3, j.f.Stats().Hits)
	owned := newJudge(t, weightTable, func(in *weightIn, out *oneOut) { out.R = in.X.Matmul(in.M.W) }, func() weightIn { return weightIn{&weighted{param(2, 2, 1)}, vec(1, 2, 3, 4).Reshape(2, 2)} })
	for range 2 {
		owned.call()
	}
	owned.each(func(in *weightIn) { tensor.Data[float32](in.M.W)[0] = 9 }).call()
	require.Equal(t, 1, owned.f.Stats().Hits, "the memory was handed out")
	for i := range 3 {
		owned.each(func(in *weightIn) { in.M.W.Value().(*array.Array).Storage().Bytes()[2] ^= byte(16 << i) }).call()
	}
	require.Equal(t, 4, owned.f.Stats().Hits)
}

type inner struct {
	A int
	B float64
	X *tensor.Tensor
}

type wholes struct {
	Cfg  inner
	List []inner
	Map  map[string]inner
	Two  [2]inner
}

type wholeIn struct {
	W *wholes
	X *tensor.Tensor
}

type wholeOut struct {
	V inner
	R *tensor.Tensor
}

// A struct that is loaded or stored whole has all of its fields, whether the table lists them or not.
func TestWholeStructs(t *testing.T) {
	world := func() wholeIn {
		w := vec(1)
		return wholeIn{&wholes{inner{1, 2, w}, []inner{{3, 4, w}}, map[string]inner{"a": {5, 6, w}}, [2]inner{{7, 8, w}, {9, 10, nil}}}, vec(1, 2)}
	}
	changes := map[string]func(v *inner, i int){
		"first": func(v *inner, i int) { v.A = i }, "second": func(v *inner, i int) { v.B = float64(i) }, "tensor": func(v *inner, i int) { v.X = vec(float32(i)) }, "none": func(*inner, int) {},
	}
	type program struct {
		field func(w *wholes) *inner
		table state.Table
		run   func(in *wholeIn, out *wholeOut)
	}
	in := pkg + ".inner"
	receiver := func(a state.Access, name, typ string, elems ...state.Elem) state.Table {
		return state.Table{Func: "f", Receiver: true, Fields: []state.Field{field("wholes", name, typ, a)}, Elems: elems, Maps: []state.Map{state.MapOf[string, inner]()}}
	}
	for name, p := range map[string]program{
		"load a field":  {func(w *wholes) *inner { return &w.Cfg }, receiver(state.Load, "Cfg", in), func(in *wholeIn, out *wholeOut) { out.V = in.W.Cfg }},
		"store a field": {func(w *wholes) *inner { return &w.Cfg }, receiver(state.Store, "Cfg", in), func(in *wholeIn, out *wholeOut) { in.W.Cfg = inner{1, 2, in.X} }},
		"load an element": {func(w *wholes) *inner { return &w.List[0] }, receiver(state.Load|state.Len, "List", "[]"+in, state.Elem{Type: "[]" + in, Access: state.Load | state.Len}),
			func(in *wholeIn, out *wholeOut) { out.V = in.W.List[0] }},
		"store an element": {func(w *wholes) *inner { return &w.List[0] }, receiver(state.Load|state.Len, "List", "[]"+in, state.Elem{Type: "[]" + in, Access: state.Store | state.Len}),
			func(in *wholeIn, out *wholeOut) { in.W.List[0] = inner{1, 2, in.X} }},
		"an array": {func(w *wholes) *inner { return &w.Two[1] }, receiver(rw, "Two", "[2]"+in), func(in *wholeIn, out *wholeOut) { in.W.Two[0], out.V = in.W.Two[1], in.W.Two[0] }},
		"load an entry": {nil, receiver(state.Load|state.Len, "Map", "map[string]"+in, state.Elem{Type: "map[string]" + in, Access: state.Load | state.Len}),
			func(in *wholeIn, out *wholeOut) { out.V = in.W.Map["a"] }},
		"store an entry": {nil, receiver(state.Load|state.Len, "Map", "map[string]"+in, state.Elem{Type: "map[string]" + in, Access: rw | state.Len}),
			func(in *wholeIn, out *wholeOut) { v := in.W.Map["a"]; v.A = 7; in.W.Map["a"] = v }},
	} {
		for what, change := range changes {
			t.Run(name+"/"+what, func(t *testing.T) {
				j := newJudge(t, p.table, func(in *wholeIn, out *wholeOut) { p.run(in, out); out.R = in.X.Neg() }, world)
				for i := range 4 {
					for range 3 {
						j.call()
					}
					j.each(func(in *wholeIn) {
						if p.field != nil {
							change(p.field(in.W), i)
							return
						}
						v := in.W.Map["a"]
						change(&v, i)
						in.W.Map["a"] = v
					})
				}
				require.NotZero(t, j.f.Stats().Hits, "%s", text(t, j.f))
			})
		}
	}
}

type errOut struct {
	R   *tensor.Tensor
	Err error
	P   *point
	S   []int
}

var (
	errHidden = errors.New("hidden")
	spot      = point{1, 2}
	numbers   = []int{1, 2}
)

// A result that was there before the call is that, not a copy.
func TestResultsFromBefore(t *testing.T) {
	for name, run := range map[string]func(in *xIn, out *errOut){
		"error":    func(in *xIn, out *errOut) { out.Err = errHidden },
		"standard": func(in *xIn, out *errOut) { out.Err = io.EOF },
		"wrapped":  func(in *xIn, out *errOut) { out.Err = errors.Join(io.EOF) },
		"pointer":  func(in *xIn, out *errOut) { out.P = &spot },
		"slice":    func(in *xIn, out *errOut) { out.S = numbers },
	} {
		t.Run(name, func(t *testing.T) {
			f := compile.New(state.Table{Func: "f", Dynamic: []string{"*errors.errorString", "*errors.joinError"}}, func(in *xIn, out *errOut) { run(in, out); out.R = in.X.Neg() })
			var want errOut
			run(&xIn{vec(1)}, &want)
			for range 4 {
				got := f.Call(xIn{vec(1)})
				switch {
				case name == "wrapped":
					require.ErrorIs(t, got.Err, io.EOF)
				case want.S != nil:
					require.Same(t, &want.S[0], &got.S[0])
				default:
					require.True(t, got.Err == want.Err && got.P == want.P)
				}
			}
			require.Zero(t, f.Stats().Hits, "%s", text(t, f))
			require.Contains(t, text(t, f), "was there before the call")
		})
	}
}

// New objects are new at each call.
func TestNewResults(t *testing.T) {
	j := newJudge(t, state.Table{Func: "f"}, func(in *xIn, out *errOut) { out.R, out.P, out.S = in.X.Neg(), &point{1, 2}, []int{1, 2} }, func() xIn { return xIn{vec(1)} })
	for range 5 {
		j.call()
	}
	require.Equal(t, 3, j.f.Stats().Hits, "%s", text(t, j.f))
}

// A target that rounds otherwise computes other values, which is no fault of the table.
func TestNewResultsOfInexactTargets(t *testing.T) {
	f := compile.New(state.Table{Func: "f"}, func(in *xIn, out *errOut) { out.R, out.P = in.X.Matmul(in.X).Exp().Sum(), &point{1, 2} }, compile.On(cpu.Target{}, lowering.Options{}))
	x := tensor.Rand(tensor.Scalar(int64(3)), 96, 96)
	for range 4 {
		f.Call(xIn{x})
	}
	require.Equal(t, 2, f.Stats().Hits, "%s", text(t, f))
}

// What a tensor is for goes with it.
func TestParametersAreMade(t *testing.T) {
	table := weightTable
	for name, run := range map[string]func(in *weightIn, out *oneOut){
		"computed": func(in *weightIn, out *oneOut) { out.R = in.X.Neg(); out.R.MarkParam() },
		"constant": func(in *weightIn, out *oneOut) { out.R = tensor.Zeros(2); out.R.MarkParam(); out.R.Freeze(true) },
		"used":     func(in *weightIn, out *oneOut) { w := tensor.Zeros(2); w.MarkParam(); in.X.Add(w); out.R = w },
		"argument": func(in *weightIn, out *oneOut) { in.X.MarkParam(); out.R = in.X.Neg() },
		"frozen":   func(in *weightIn, out *oneOut) { in.X.Freeze(true); out.R = in.X.Neg() },
	} {
		t.Run(name, func(t *testing.T) {
			j := newJudge(t, table, run, func() weightIn { return weightIn{&weighted{tensor.Zeros(2)}, vec(1, 2)} })
			for range 4 {
				j.each(func(in *weightIn) { in.X = vec(1, 2) }).call()
				a, b := len(j.kept[0])-1, len(j.kept[1])-1
				require.Equal(t, j.kept[0][a].R.IsParam(), j.kept[1][b].R.IsParam())
				require.Equal(t, buffers(j.kept[0][a].R), buffers(j.kept[1][b].R))
				require.Equal(t, j.a.X.IsParam(), j.b.X.IsParam())
				require.Equal(t, buffers(j.a.X), buffers(j.b.X))
			}
		})
	}
}

// buffers tells that a tensor is no weight of training.
func buffers(x *tensor.Tensor) (is bool) {
	tensor.Walk(&weighted{x}, func(it tensor.Item) bool { is = is || it.Tensor != nil && it.Buffer; return true })
	return is
}

// A parameter that the function makes is a constant of the graph, the caller's copy is the caller's.
func TestParameterMadeAndWritten(t *testing.T) {
	j := newJudge(t, weightTable, func(in *weightIn, out *twoOut) {
		out.A = tensor.Zeros(2)
		out.A.MarkParam()
		out.B = in.X.Add(out.A)
	}, func() weightIn { return weightIn{&weighted{vec(1)}, vec(1, 2)} })
	for range 4 {
		j.call()
		for w := range 2 {
			j.kept[w][len(j.kept[w])-1].A.AddScalarInPlace(1)
		}
	}
	require.Equal(t, 3, j.f.Stats().Hits, "%s", text(t, j.f))
}

// Close while calls run lets them end.
func TestCloseDuringCalls(t *testing.T) {
	for range 20 {
		f := compile.New(state.Table{Func: "f"}, func(in *xIn, out *oneOut) { out.R = in.X.Neg().Add(in.X.Exp()) })
		x := tensor.Ones(64, 64)
		want := x.Neg().Add(x.Exp())
		f.Call(xIn{x})
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for range 20 {
					if !f.Call(xIn{x}).R.Equal(want) {
						t.Error("another result")
					}
				}
			})
		}
		f.Close()
		all.Wait()
		s := f.Stats()
		require.Zero(t, s.Failed)
		require.Equal(t, 81, s.Hits+s.Captures+s.Plain)
	}
}

type anyOut struct {
	R *tensor.Tensor
	V any
	P *float64
	F float64
}

// Audit compares what interfaces hold, bit by bit.
func TestAuditOfBoxes(t *testing.T) {
	n := 1000
	f := compile.New(state.Table{Func: "f"}, func(in *xIn, out *anyOut) { out.R, out.V, n = in.X.Neg(), n, n+1 }, compile.Audit(1))
	f.Call(xIn{vec(1)})
	require.ErrorIs(t, caught(func() { f.Call(xIn{vec(1)}) }), compile.Differs)
	nan := compile.New(state.Table{Func: "f"}, func(in *xIn, out *anyOut) {
		v := math.NaN()
		out.R, out.V, out.P, out.F = in.X.Neg(), v, &v, v
	}, compile.Audit(1))
	for range 3 {
		nan.Call(xIn{vec(1)})
	}
}

type dropping struct{ D *nn.Dropout }

type dropIn struct {
	M *dropping
	X *tensor.Tensor
}

var dropTable = state.Table{Func: "f", Receiver: true, InPlace: pairTable.InPlace, Fields: []state.Field{field("dropping", "D", "*github.com/gofx-dev/gofx/nn.Dropout", state.Load),
	{Type: "github.com/gofx-dev/gofx/nn.Dropout", Name: "P", FieldType: "float64", Access: state.Load},
	{Type: "github.com/gofx-dev/gofx/nn.Dropout", Name: "Training", FieldType: "bool", Access: state.Load},
	{Type: "github.com/gofx-dev/gofx/nn.Dropout", Name: "State", FieldType: tensorName, Access: state.Load}}}

// Random numbers are drawn at each call, from the generator where it is.
func TestRandomDraws(t *testing.T) {
	j := newJudge(t, dropTable, func(in *dropIn, out *oneOut) { out.R = in.M.D.Forward(in.X) }, func() dropIn {
		d := nn.NewDropout(0.5, nn.DropoutSeed(3))
		d.SetTraining(true)
		return dropIn{&dropping{d}, tensor.Ones(4, 8)}
	})
	for range 6 {
		j.call()
	}
	require.Equal(t, 5, j.f.Stats().Hits, "%s", text(t, j.f))
	j.each(func(in *dropIn) { in.M.D.Training = false }).call()
	j.each(func(in *dropIn) { in.M.D.Training = true }).call()
	keyed := newJudge(t, pairTable, func(in *pairIn, out *oneOut) { out.R = tensor.Rand(in.B, 4).Add(in.A) }, func() pairIn { return pairIn{vec(1), tensor.Scalar(int64(7))} })
	for i := range 4 {
		keyed.each(func(in *pairIn) { in.B = tensor.Scalar(int64(i)) }).call()
	}
	require.Equal(t, 3, keyed.f.Stats().Hits)
}

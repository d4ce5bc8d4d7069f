package compile_test

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/gofx-dev/gofx/compile/state"
	"github.com/gofx-dev/gofx/tensor"
)

// The programs of the tests, with the tables that fxgen compile would write of them.

const pkg = "github.com/gofx-dev/gofx/compile_test"

const rw = state.Load | state.Store

func field(typ, name, fieldType string, a state.Access) state.Field {
	return state.Field{Type: pkg + "." + typ, Name: name, FieldType: fieldType, Access: a, Line: "programs_test.go:1"}
}

const tensorName = "*github.com/gofx-dev/gofx/tensor.Tensor"

func vec(v ...float32) *tensor.Tensor { return tensor.FromSlice(v) }

func param(rows, cols int, from float32) *tensor.Tensor {
	data := make([]float32, rows*cols)
	for i := range data {
		data[i] = from + float32(i)*0.25
	}
	x := tensor.FromSlice(data, rows, cols).MulScalar(1)
	x.MarkParam()
	return x
}

// A network of layers with settings of all basic types.

type layer struct {
	W      *tensor.Tensor
	Scale  float64
	Name   string
	Unread int
}

type network struct {
	Layers  []*layer
	Depth   int
	Norm    bool
	Bias    float32
	Kind    string
	Seen    int
	Last    *tensor.Tensor
	private uint8
}

func (n *network) forward(x *tensor.Tensor) *tensor.Tensor {
	for i, l := range n.Layers {
		if i >= n.Depth {
			break
		}
		x = x.Matmul(l.W).MulScalar(l.Scale)
		if l.Name == "act" {
			x = x.Relu()
		}
	}
	if n.Norm {
		x = x.SubScalar(float64(n.Bias))
	}
	if n.Kind == "neg" && n.private == 0 {
		x = x.Neg()
	}
	n.Seen++
	n.Last = x
	return x
}

var networkTable = state.Table{
	Func: "(*" + pkg + ".network).forward", Receiver: true,
	Fields: []state.Field{
		field("network", "Layers", "[]*"+pkg+".layer", state.Load|state.Len), field("network", "Depth", "int", state.Load), field("network", "Norm", "bool", state.Load),
		field("network", "Bias", "float32", state.Load), field("network", "Kind", "string", state.Load), field("network", "Seen", "int", rw|state.Adds),
		field("network", "Last", tensorName, state.Store), field("network", "private", "uint8", state.Load),
		field("layer", "W", tensorName, state.Load), field("layer", "Scale", "float64", state.Load), field("layer", "Name", "string", state.Load),
	},
	Elems: []state.Elem{{Type: "[]*" + pkg + ".layer", Access: state.Load | state.Len}},
}

type forwardIn struct {
	N *network
	X *tensor.Tensor
}

type oneOut struct{ R *tensor.Tensor }

func newNetwork() *network {
	return &network{Layers: []*layer{{W: param(2, 3, 1), Scale: 0.5, Name: "act"}, {W: param(3, 2, -1), Scale: 2, Name: "id"}}, Depth: 2, Norm: true, Bias: 0.5, Kind: "neg"}
}

func runNetwork(in *forwardIn, out *oneOut) { out.R = in.N.forward(in.X) }

// Objects of arguments, by structure.

type node struct {
	Value *tensor.Tensor
	Gain  int16
	Next  *node
}

type listIn struct{ A, B *node }

type listOut struct {
	Sum  *tensor.Tensor
	Same bool
	New  *node
	Old  *node
}

func runList(in *listIn, out *listOut) {
	sum := in.A.Value
	for n, steps := in.A.Next, 0; n != nil && steps < 5; n, steps = n.Next, steps+1 {
		sum = sum.Add(n.Value.MulScalar(float64(n.Gain)))
	}
	out.Sum, out.Same = sum, in.A == in.B
	if in.B != nil {
		in.B.Gain++
		tail := &node{Value: in.B.Value, Gain: in.B.Gain, Next: in.A}
		out.New, out.Old = &node{Value: sum.Neg(), Next: tail}, in.B
		in.B.Next = tail
	}
}

var listTable = state.Table{
	Func:   pkg + ".runList",
	Fields: []state.Field{field("node", "Value", tensorName, state.Load), field("node", "Gain", "int16", rw), field("node", "Next", "*"+pkg+".node", rw)},
}

// Slices: appends, sub-slices, arrays, values of structs.

type config struct {
	Dims [3]int
	Rate complex128
}

type buffer struct {
	Ints []int
	Cfg  config
	Pair [2]*tensor.Tensor
}

type sliceIn struct {
	B   *buffer
	V   int
	Cfg config
	Xs  []*tensor.Tensor
}

type sliceOut struct {
	Ints, Tail []int
	Fresh      []float64
	Sum        *tensor.Tensor
}

func runSlices(in *sliceIn, out *sliceOut) {
	in.B.Ints = append(in.B.Ints, in.V)
	out.Ints = in.B.Ints
	if len(in.B.Ints) > 1 {
		out.Tail = in.B.Ints[1:]
	}
	out.Fresh = []float64{float64(in.V), real(in.B.Cfg.Rate)}
	out.Sum = in.B.Pair[0]
	for i, x := range in.Xs {
		out.Sum = out.Sum.Add(x.MulScalar(float64(in.Cfg.Dims[i%3] + i)))
	}
	in.B.Pair[0], in.B.Pair[1] = in.B.Pair[1], in.B.Pair[0]
	in.B.Cfg.Dims[1] = in.V
}

var sliceTable = state.Table{
	Func: pkg + ".runSlices",
	Fields: []state.Field{field("buffer", "Ints", "[]int", rw|state.Len|state.Cap), field("buffer", "Pair", "[2]"+tensorName, rw),
		field("config", "Dims", "[3]int", rw), field("config", "Rate", "complex128", state.Load)},
	Elems: []state.Elem{{Type: "[]int", Access: rw | state.Len | state.Cap}, {Type: "[3]int", Access: rw}, {Type: "[2]" + tensorName, Access: rw},
		{Type: "[]" + tensorName, Access: state.Load | state.Len}},
}

// Interfaces, functions and maps.

type activation interface {
	apply(x *tensor.Tensor) *tensor.Tensor
}

type scaled struct{ By float64 }

func (s *scaled) apply(x *tensor.Tensor) *tensor.Tensor { return x.MulScalar(s.By) }

type shifted float64

func (s shifted) apply(x *tensor.Tensor) *tensor.Tensor { return x.AddScalar(float64(s)) }

type plugin struct{ N int }

func (p *plugin) apply(x *tensor.Tensor) *tensor.Tensor { return x.AddScalar(float64(p.N)) }

type dynamic struct {
	Act   activation
	Opt   any
	Fn    func(*tensor.Tensor) *tensor.Tensor
	Gains map[string]float64
	Err   error
}

func double(x *tensor.Tensor) *tensor.Tensor { return x.MulScalar(2) }

func triple(x *tensor.Tensor) *tensor.Tensor { return x.MulScalar(3) }

type dynamicIn struct {
	D *dynamic
	X *tensor.Tensor
}

type dynamicOut struct {
	R   *tensor.Tensor
	Any any
	Err error
}

var errBig = errors.New("big")

func runDynamic(in *dynamicIn, out *dynamicOut) {
	x := in.X
	if in.D.Act != nil {
		x = in.D.Act.apply(x)
	}
	if n, ok := in.D.Opt.(int); ok {
		x = x.AddScalar(float64(n))
	}
	if in.D.Fn != nil {
		x = in.D.Fn(x)
	}
	for _, k := range slices.Sorted(maps.Keys(in.D.Gains)) {
		x = x.MulScalar(in.D.Gains[k])
	}
	if in.D.Gains != nil {
		in.D.Gains["last"] = float64(len(in.D.Gains))
		delete(in.D.Gains, "gone")
	}
	out.R, out.Any = x, in.D.Act
	if n, ok := in.D.Opt.(int); ok && n > 2000 {
		out.Err = fmt.Errorf("%d is too much", n)
		in.D.Err = errBig
	}
}

var dynamicTable = state.Table{
	Func: pkg + ".runDynamic",
	Fields: []state.Field{field("dynamic", "Act", pkg+".activation", state.Load), field("dynamic", "Opt", "interface {}", state.Load),
		field("dynamic", "Fn", "func("+tensorName+") "+tensorName, state.Load), field("dynamic", "Gains", "map[string]float64", state.Load|state.Len),
		field("dynamic", "Err", "error", state.Store), field("scaled", "By", "float64", state.Load)},
	Elems:   []state.Elem{{Type: "map[string]float64", Access: rw | state.Len}},
	Globals: []state.Global{{Name: "errBig", Type: "error", Access: state.Load, Ptr: &errBig}},
	Dynamic: []string{"*" + pkg + ".scaled", pkg + ".shifted", "int", "*errors.errorString", "*fmt.wrapError"},
	Bodies:  []state.Body{bodyOf(double), bodyOf(triple)},
	Maps:    []state.Map{state.MapOf[string, float64]()},
	Types:   []reflect.Type{reflect.TypeFor[*scaled]()},
}

// Writes of tensors, views, globals.

var (
	counter int64
	gain    = 1.5
)

type writer struct {
	Running  *tensor.Tensor
	Momentum float64
}

type writeIn struct {
	W    *writer
	A, B *tensor.Tensor
}

type writeOut struct {
	Same, View, Row, Twin, Const *tensor.Tensor
}

func runWrites(in *writeIn, out *writeOut) {
	in.A.AddInPlace(in.B)
	m := in.B.MulScalar(gain)
	in.W.Running.MulInPlace(tensor.On(in.A, vec(0.5))).AddInPlace(m.Sum().MulScalar(in.W.Momentum))
	counter += 2
	out.Same, out.View = in.B, in.A.Reshape(2, 2)
	y := m.Add(in.A)
	out.Row, out.Twin = y.Narrow(0, 1, 2), y
	out.Const = tensor.Zeros(2)
}

var writeTable = state.Table{
	Func:    pkg + ".runWrites",
	Fields:  []state.Field{field("writer", "Running", tensorName, state.Load), field("writer", "Momentum", "float64", state.Load)},
	Globals: []state.Global{{Name: "counter", Type: "int64", Access: rw, Ptr: &counter}, {Name: "gain", Type: "float64", Access: state.Load, Ptr: &gain}},
	InPlace: []state.Place{{Line: "programs_test.go:1", What: "AddInPlace"}},
}

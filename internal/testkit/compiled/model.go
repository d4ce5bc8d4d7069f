package compiled

import (
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// Model has a field of every kind.
type Model struct {
	Inner
	Scale   float64
	Half    float32
	Depth   int
	Small   int8
	Big     uint64
	On      bool
	Name    string
	Kind    Kind
	Z       complex64
	Items   []int
	Rates   []float64
	Arr     [3]float32
	Layers  []*Layer
	Flat    []Layer
	Grid    [2][2]int
	Table   map[string]float64
	ByKind  map[Kind]*Layer
	Act     Activation
	Acts    []Activation
	Any     any
	Fn      func(*tensor.Tensor) *tensor.Tensor
	Next    *Model
	Count   *int
	W       *tensor.Tensor
	Past    *tensor.Tensor
	Steps   int
	Log     []int
	Spec    struct{ Low, High float64 }
	Box     Box[float64]
	Xs      []*tensor.Tensor
	Pair    [2]*tensor.Tensor
	Named   map[string]*tensor.Tensor
	Set     map[string]bool
	Names   []string
	Mat     [][]float64
	Cell    *Cell
	Drop    *nn.Dropout
	Unread  int // no program reads it
	private float64
}

// Kind is a named number.
type Kind uint8

// Inner is embedded.
type Inner struct {
	Bias  float64
	Label string
}

func (i *Inner) shift(x *tensor.Tensor) *tensor.Tensor { return x.AddScalar(i.Bias) }

// Layer is a layer.
type Layer struct {
	W     *tensor.Tensor
	Scale float64
	Skip  bool
}

// Apply multiplies.
func (l *Layer) Apply(x *tensor.Tensor) *tensor.Tensor {
	if l.Skip {
		return x
	}
	return x.Mul(l.W).MulScalar(l.Scale)
}

// Cell is a step of a recurrent network.
type Cell struct {
	In, Hidden *tensor.Tensor
	Acts       [2]Activation
}

// Step returns the next state.
func (c *Cell) Step(x, h *tensor.Tensor) *tensor.Tensor {
	return x.Mul(c.In).Add(h.Mul(c.Hidden)).Tanh()
}

// Box is generic.
type Box[T any] struct{ V T }

// Activation is an interface with three implementations.
type Activation interface {
	Apply(x *tensor.Tensor) *tensor.Tensor
}

// Leaky is reached through a pointer.
type Leaky struct{ By float64 }

// Apply is of Activation.
func (l *Leaky) Apply(x *tensor.Tensor) *tensor.Tensor { return x.LeakyRelu(l.By) }

// Shift is a value.
type Shift float64

// Apply is of Activation.
func (s Shift) Apply(x *tensor.Tensor) *tensor.Tensor { return x.AddScalar(float64(s)) }

// Affine is a struct that an interface holds by value.
type Affine struct{ A, B float64 }

// Apply is of Activation.
func (a Affine) Apply(x *tensor.Tensor) *tensor.Tensor { return x.MulScalar(a.A).AddScalar(a.B) }

// Double and Triple are function values.
func Double(x *tensor.Tensor) *tensor.Tensor { return x.MulScalar(2) }

// Triple is Double's other one.
func Triple(x *tensor.Tensor) *tensor.Tensor { return x.MulScalar(3) }

// world is what the programs are called with.
type world struct {
	M    *Model
	X, Y *tensor.Tensor
	rate float64
	kept []any // results, as a caller keeps them
}

func param(v ...float32) *tensor.Tensor {
	x := tensor.FromSlice(v).MulScalar(1)
	x.MarkParam()
	return x
}

// newWorld makes a world with no zero value in it.
func newWorld() *world {
	n := 3
	next := &Model{Scale: 4, Depth: 1, Name: "next", W: param(2, 2, 2), Act: Shift(2), Items: []int{5}}
	layer := &Layer{W: param(1, 2, 3), Scale: 2}
	m := &Model{Inner: Inner{1.5, "label"}, Scale: 2, Half: 0.5, Depth: 2, Small: 3, Big: 4, On: true, Name: "relu", Kind: 1, Z: 1 + 2i,
		Items: append(make([]int, 0, 4), 2, 1), Rates: []float64{0.5, 2}, Arr: [3]float32{1, 2, 3}, Layers: []*Layer{layer, {W: param(3, 1, 2), Scale: 3}, layer},
		Flat: []Layer{{W: param(1, 1, 2), Scale: 1}, {W: param(2, 1, 1), Scale: 2, Skip: true}}, Grid: [2][2]int{{1, 2}, {3, 4}},
		Table: map[string]float64{"a": 2, "b": 3}, ByKind: map[Kind]*Layer{1: layer, 2: {W: param(5, 5, 5), Scale: 1}}, Act: &Leaky{0.1},
		Acts: []Activation{Shift(1), Affine{2, 1}, &Leaky{0.2}}, Any: 1000, Fn: Double, Next: next, Count: &n, W: param(1, -1, 2), Steps: 7,
		Log: make([]int, 1, 3), Box: Box[float64]{2}, private: 0.25}
	m.Spec.Low, m.Spec.High = -1, 2
	m.Xs, m.Pair = []*tensor.Tensor{param(1, 2, 3), param(2, -1, 4)}, [2]*tensor.Tensor{m.W, param(3, 3, 1)}
	m.Named, m.Set, m.Names = map[string]*tensor.Tensor{"w0": m.Xs[0], "w1": param(0.5, 2, 1)}, map[string]bool{"a": true, "relu": true}, []string{"w0", "w1"}
	m.Mat, m.Cell = [][]float64{{1, 2}, {3}}, &Cell{In: param(0.5, 0.25, 1), Hidden: param(1, -1, 0.5), Acts: [2]Activation{Shift(0.5), &Leaky{0.3}}}
	m.Drop = nn.NewDropout(0.5, nn.DropoutSeed(3))
	m.Drop.SetTraining(true)
	return &world{M: m, rate: 0.75, X: tensor.FromSlice([]float32{1, -2, 3}), Y: tensor.FromSlice([]float32{4, 5, -6})}
}

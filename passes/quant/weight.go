package quant

import (
	"math"
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// origin is the parameter that is the weight of a unit.
type origin struct {
	path  string
	value *array.Array // as it is stored quantised
	// turned tells that the axes of value are those of the parameter exchanged, right
	// that the unit takes value so.
	turned, right bool
}

// weight is how the weight of a unit is quantised.
type weight struct {
	origin
	arg     int // which operand it is
	dtype   array.DType
	bits    int
	kind    Granularity
	axis    int // of its channels
	group   int
	sym     Symmetry
	observe Observer
	why     []Why
}

// defaultGroup is the size of groups where none is asked for, GPTQ's and AWQ's
// smallest usual one.
const defaultGroup = 32

// origin finds the weight that is operand i of a unit. The right operand of a product, where the weight
// alone is quantised, is stored with a row for each channel, as a linear layer has it: it
// may be a parameter with its axes exchanged, such as the table of an embedding.
func (r *resolver) origin(u *unit, i int) (o origin, why string) {
	n := u.head
	last := u.mode == WeightOnly && u.Weight.Axis == -1
	if a := exchanged(n.Arg(i)); a != nil && last {
		o.right = true
		o.path, o.value, why = r.params.Constant(a, 0)
		return o, why
	}
	o.path, o.value, why = r.params.Constant(n, i)
	if why == "" && o.value != nil && o.value.Rank() == 2 && last {
		o.value, o.turned, o.right = array.Permute(o.value, 1, 0), true, true
	}
	return o, why
}

// exchanged returns n when it is a matrix with its axes exchanged.
func exchanged(n *graph.Node) *graph.Node {
	if n == nil || n.Op() == nil || n.Op().ViewOf != 1 || n.NumArgs() != 1 || n.Arg(0).Type().Rank() != 2 {
		return nil
	}
	s, err := n.Op().Step(n.Attrs(), n.OperandTypes())
	if p, ok := s.(*kernel.Permute); err != nil || !ok || !slices.Equal(p.Dims, []int{1, 0}) {
		return nil
	}
	return n
}

// form is what weights share that are stored once: parameter, scheme and layout.
func (w *weight) form() string {
	return w.path + " " + w.String() + " " + strconv.Itoa(w.axis) + " " + strconv.FormatBool(w.turned)
}

// weightOf decides how a weight is quantised; bad says why it cannot be at all.
func (u *unit) weightOf(arg int, o origin) (w *weight, bad *Why) {
	path, value := o.path, o.value
	s, can := u.asked.Weight, u.Operator.Weight
	w = &weight{origin: o, arg: arg, dtype: s.DType, bits: max(s.Bits, 8), kind: s.Granularity, group: s.Group, sym: s.Symmetry, observe: s.Observer.or(MinMax)}
	if s.Bits == 4 {
		w.bits = 4
	}
	refuse := func(text string) { w.why = append(w.why, Why{NoScheme, text}) }
	if w.axis = can.Axis; w.right {
		w.axis = 0
	} else if w.axis < 0 {
		w.axis += value.Rank()
	}
	if w.axis < 0 || w.axis >= value.Rank() {
		return nil, &Why{UnfitWeight, path + " is " + value.DType().String() + " of rank " + strconv.Itoa(value.Rank()) + ", its channels are axis " + strconv.Itoa(can.Axis)}
	}
	if text := notFinite(value); text != "" {
		return nil, &Why{UnfitWeight, path + " has " + text}
	}
	if value.Len() == 0 {
		return nil, &Why{UnfitWeight, path + " has no elements"}
	}
	if w.bits == 4 && !(slices.Contains(can.Bits, 4) && u.mode == WeightOnly) {
		refuse("4 bits are for weights alone, of what the backend has in 4 bits")
		w.bits = 8
	}
	if w.bits == 4 {
		w.fourBits(can, refuse)
		return w, nil
	}
	w.eightBits(can, s, refuse)
	return w, nil
}

// fourBits settles a weight of 4 bits: groups along the last axis of a matrix.
func (w *weight) fourBits(can Weight, refuse func(string)) {
	if w.group == 0 {
		w.group = defaultGroup
	}
	if w.kind != AnyGranularity && w.kind != PerGroup {
		refuse("weights of 4 bits have a scale for each group")
	}
	w.kind, w.dtype = PerGroup, array.U8
	if w.sym == AnySymmetry {
		w.sym = Affine
	}
	multiple, k := max(can.GroupOf, 2), w.value.Dim(-1)
	switch {
	case w.value.Rank() != 2 || w.axis != 0:
		refuse("4 bits are for matrices")
	case w.group%multiple != 0:
		refuse("a group of " + strconv.Itoa(w.group) + " is no multiple of " + strconv.Itoa(multiple))
	case k%w.group != 0:
		refuse("rows of " + strconv.Itoa(k) + " are not whole groups of " + strconv.Itoa(w.group))
	default:
		return
	}
	w.bits, w.kind, w.group, w.dtype, w.sym = 8, AnyGranularity, 0, array.Invalid, AnySymmetry
	w.eightBits(can, Scheme{}, refuse)
}

func (w *weight) eightBits(can Weight, s Scheme, refuse func(string)) {
	if !slices.Contains(can.DTypes, w.dtype) {
		if w.dtype != array.Invalid {
			refuse("the weight may be " + names(can.DTypes))
		}
		w.dtype = can.DTypes[0]
	}
	kinds := can.Granularities
	if len(kinds) == 0 {
		kinds = []Granularity{PerTensor}
	}
	if !slices.Contains(kinds, w.kind) || w.kind == PerGroup {
		if w.kind != AnyGranularity {
			refuse("8 bits have no scale for each " + w.kind.String())
		}
		w.kind = kinds[0]
	}
	w.group = 0
	if w.sym == AnySymmetry {
		w.sym = Symmetric
	}
	if w.sym == Affine && !can.Affine {
		refuse("the weight has no zero points")
		w.sym = Symmetric
	}
	if k := w.observe.Kind; w.kind == PerChannel && k != MinMax {
		refuse("channels are observed by min_max")
		w.observe = Observer{Kind: MinMax}
	}
}

func notFinite(a *array.Array) string {
	for i, v := range array.Data[float32](array.Contiguous(a)) {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return strconv.FormatFloat(float64(v), 'g', -1, 32) + " at element " + strconv.Itoa(i)
		}
	}
	return ""
}

// String returns "i8 symmetric channel, min_max".
func (w *weight) String() string {
	s := w.dtype.String()
	if w.bits == 4 {
		s = "u4"
	}
	s += " " + w.sym.String() + " " + w.kind.String()
	if w.kind == PerGroup {
		s += " of " + strconv.Itoa(w.group)
	}
	return s + ", " + w.observe.String()
}

// or fills in what an observer leaves open.
func (o Observer) or(k ObserverKind) Observer {
	if o.Kind == AnyObserver {
		o.Kind = k
	}
	switch {
	case o.Kind == MovingAverage && o.Averaging == 0:
		o.Averaging = 0.01
	case o.Kind == Percentile && o.Percentile == 0:
		o.Percentile = 99.99
	}
	if o.Kind != MovingAverage {
		o.Averaging = 0
	}
	if o.Kind != Percentile {
		o.Percentile = 0
	}
	return o
}

// String returns "percentile 99.9".
func (o Observer) String() string {
	s := o.Kind.String()
	if v := o.Averaging + o.Percentile; v != 0 {
		s += " " + strconv.FormatFloat(v, 'g', -1, 64)
	}
	return s
}

// ask returns the scheme as it was asked for: what it leaves open is left out.
func (s Scheme) ask() string {
	out := ""
	add := func(t string) {
		if out != "" {
			out += " "
		}
		out += t
	}
	if s.DType != array.Invalid {
		add(s.DType.String())
	}
	if s.Bits == 4 {
		add("4 bits")
	}
	if s.Symmetry != AnySymmetry {
		add(s.Symmetry.String())
	}
	if s.Granularity != AnyGranularity {
		add(s.Granularity.String())
	}
	if s.Group != 0 {
		add("of " + strconv.Itoa(s.Group))
	}
	if s.Observer.Kind != AnyObserver {
		add(s.Observer.String())
	}
	if out == "" {
		return "any"
	}
	return out
}

// fourBitFloats writes what a weight of 4 bits, [n, k] in groups along its rows, is in
// floats: both halves of each byte next to each other, scaled group by group.
func fourBitFloats(c *graph.Cursor, n, k, group int, bytes, scale, zero *graph.Node) *graph.Node {
	groups := n * (k / group)
	flat := func(x *graph.Node, dims ...int) *graph.Node {
		return c.Function(std.Reshape, std.ReshapeAttrs{Shape: shape.ConstDims(dims...)}, x)
	}
	column := func(x *graph.Node) *graph.Node { return c.Function(std.Unsqueeze, std.DimAttrs{Dim: -1}, x) }
	low := c.Function(std.BitwiseAnd, std.BinaryAttrs{Other: op.Int(15)}, bytes)
	high := c.Function(std.BitwiseRightShift, std.ReversibleAttrs{Other: op.Int(4)}, bytes)
	both := c.Function(std.Cat, std.DimAttrs{Dim: -1}, column(low), column(high))
	floats := c.Function(std.Dequantize, std.DequantizeAttrs{}, flat(both, groups, group), flat(scale, groups), flat(zero, groups))
	return flat(floats, n, k)
}

// fourBits are the operands of fourBitFloats.
type fourBits struct {
	bytes, scale, zero *graph.Node
	group              int
}

// asFourBits recognises what fourBitFloats writes.
func asFourBits(w *graph.Node) (f fourBits, ok bool) {
	ok = true
	take := func(n *graph.Node, o *op.Op, arg int) *graph.Node {
		if !ok || n == nil || n.Op() != o || n.NumArgs() <= arg {
			ok = false
			return nil
		}
		return n.Arg(arg)
	}
	floats := take(w, std.Reshape, 0)
	both := take(take(floats, std.Dequantize, 0), std.Reshape, 0)
	low, high := take(both, std.Cat, 0), take(both, std.Cat, 1)
	low, high = take(low, std.Unsqueeze, 0), take(high, std.Unsqueeze, 0)
	f.bytes = take(low, std.BitwiseAnd, 0)
	f.scale = take(take(floats, std.Dequantize, 1), std.Reshape, 0)
	f.zero = take(take(floats, std.Dequantize, 2), std.Reshape, 0)
	if !ok || take(high, std.BitwiseRightShift, 0) != f.bytes || w.Type().Rank() != 2 {
		return f, false
	}
	n, k, known := sizes(w.Type())
	_, f.group, ok = sizes(floats.Type())
	if !known || !ok || f.group == 0 || k%f.group != 0 {
		return f, false
	}
	// The attributes are those that are written for these sizes, and nothing else.
	trial := graph.New("")
	c := trial.At()
	in := [3]*graph.Node{}
	for i, x := range []*graph.Node{f.bytes, f.scale, f.zero} {
		in[i] = c.Placeholder("x", x.Type(), nil)
		c.OnError = func(error) { ok = false }
	}
	want := fourBitFloats(c, n, k, f.group, in[0], in[1], in[2])
	return f, ok && alike(w, want)
}

// sizes returns the sizes of a matrix that are known.
func sizes(t shape.Type) (rows, columns int, known bool) {
	if t.Rank() != 2 {
		return 0, 0, false
	}
	rows, a := t.Dim(0).Int()
	columns, b := t.Dim(1).Int()
	return rows, columns, a && b
}

// alike compares calls, down to what the second one takes as input.
func alike(n, want *graph.Node) bool {
	if want.Opcode() == graph.Placeholder {
		return true
	}
	if n.Op() != want.Op() || !n.Op().Codec().Equal(n.Attrs(), want.Attrs()) || n.NumArgs() != want.NumArgs() {
		return false
	}
	for i := range n.NumArgs() {
		if (n.Arg(i) == nil) != (want.Arg(i) == nil) || n.Arg(i) != nil && !alike(n.Arg(i), want.Arg(i)) {
			return false
		}
	}
	return true
}

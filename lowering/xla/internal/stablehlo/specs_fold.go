package stablehlo

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gofx-dev/gofx/array"
)

// folded checks the operands and the body of a reduction and returns the number of values
// that are reduced together: inputs of one shape, then as many scalars.
func folded(o *Op) (n int, err error) {
	n = len(o.Operands) / 2
	if n == 0 || len(o.Operands)%2 != 0 {
		return 0, fmt.Errorf("%d operands, expected inputs and as many init values", len(o.Operands))
	}
	var in, out []Type
	for i, v := range o.Operands[:n] {
		init := o.Operands[n+i].Type
		if !slices.Equal(v.Type.Dims, o.Operands[0].Type.Dims) {
			return 0, fmt.Errorf("input %d is %s, input 0 is %s: sizes must be equal", i, v.Type, o.Operands[0].Type)
		}
		if init.Rank() != 0 || init.Elem != v.Type.Elem {
			return 0, fmt.Errorf("init value %d is %s, the input %s", i, init, v.Type)
		}
		out = append(out, init)
	}
	in = append(slices.Clone(out), out...)
	return n, body(o.Regions[0], in, out)
}

func inferReduce(o *Op) ([]Type, error) {
	n, err := folded(o)
	if err != nil {
		return nil, err
	}
	x, dims := o.Operands[0].Type, o.Ints("dimensions")
	if err := unique("dimensions", dims, x.Rank()); err != nil {
		return nil, err
	}
	var left []int
	for i, d := range x.Dims {
		if !slices.Contains(dims, i) {
			left = append(left, d)
		}
	}
	var out []Type
	for _, v := range o.Operands[:n] {
		out = append(out, v.Type.With(left...))
	}
	return out, nil
}

// Window is one dimension of a window that moves over a tensor.
type Window struct{ Size, Stride, Lo, Hi, Base, Dilation int }

// Out returns the number of places that the window has in n elements.
func (w Window) Out(n int) int {
	if n > 0 {
		n = (n-1)*w.Base + 1
	}
	n += w.Lo + w.Hi
	k := (w.Size-1)*w.Dilation + 1
	if w.Size == 0 || n < k {
		return 0
	}
	return (n-k)/w.Stride + 1
}

// windows reads the attributes that describe a window of some dimensions; stride, base and
// dilation are their names.
func windows(o *Op, sizes []int, stride, base, dilation string) ([]Window, error) {
	list := make([]Window, len(sizes))
	read := func(name string, set func(w *Window, n int)) error {
		l := o.Ints(name)
		if o.Get(name) == nil {
			for range sizes {
				l = append(l, 1)
			}
		}
		for i := range min(len(l), len(list)) {
			set(&list[i], l[i])
		}
		return perDim(name, l, len(sizes), 1)
	}
	err := errors.Join(
		read(stride, func(w *Window, n int) { w.Stride = n }),
		read(base, func(w *Window, n int) { w.Base = n }),
		read(dilation, func(w *Window, n int) { w.Dilation = n }))
	if err != nil {
		return nil, err
	}
	p, given := o.Get("padding").(Dense)
	if given && !p.Type.Equal(Of(array.I64, len(sizes), 2)) {
		return nil, fmt.Errorf("padding is %s, expected %d pairs", p.Type, len(sizes))
	}
	for i := range list {
		list[i].Size = sizes[i]
		if given {
			list[i].Lo, list[i].Hi = p.Pair(i)
		}
	}
	return list, nil
}

// ReduceWindows returns the windows of a reduce_window, one for each dimension.
func ReduceWindows(o *Op) ([]Window, error) {
	return windows(o, o.Ints("window_dimensions"), "window_strides", "base_dilations", "window_dilations")
}

func inferReduceWindow(o *Op) ([]Type, error) {
	n, err := folded(o)
	if err != nil {
		return nil, err
	}
	x := o.Operands[0].Type
	if err := perDim("window_dimensions", o.Ints("window_dimensions"), x.Rank(), 1); err != nil {
		return nil, err
	}
	ws, err := ReduceWindows(o)
	if err != nil {
		return nil, err
	}
	dims := make([]int, x.Rank())
	for i, w := range ws {
		dims[i] = w.Out(x.Dims[i])
	}
	var out []Type
	for _, v := range o.Operands[:n] {
		out = append(out, v.Type.With(dims...))
	}
	return out, nil
}

func inferDot(o *Op) ([]Type, error) {
	l, r, d := o.Operands[0].Type, o.Operands[1].Type, o.Get("dot_dimension_numbers").(Dot)
	lhs, rhs := slices.Concat(d.LhsBatch, d.LhsContract), slices.Concat(d.RhsBatch, d.RhsContract)
	if len(d.LhsBatch) != len(d.RhsBatch) || len(d.LhsContract) != len(d.RhsContract) {
		return nil, errors.New("the sides have other numbers of batching or contracting dimensions")
	}
	if err := errors.Join(unique("lhs dimensions", lhs, l.Rank()), unique("rhs dimensions", rhs, r.Rank())); err != nil {
		return nil, err
	}
	var dims []int
	for i := range lhs {
		if l.Dims[lhs[i]] != r.Dims[rhs[i]] {
			return nil, fmt.Errorf("dimension %d of lhs %s is not dimension %d of rhs %s", lhs[i], l, rhs[i], r)
		}
	}
	for _, b := range d.LhsBatch {
		dims = append(dims, l.Dims[b])
	}
	for i, n := range l.Dims {
		if !slices.Contains(lhs, i) {
			dims = append(dims, n)
		}
	}
	for i, n := range r.Dims {
		if !slices.Contains(rhs, i) {
			dims = append(dims, n)
		}
	}
	return []Type{l.With(dims...)}, nil
}

// fitsProduct lets a product be of a wider type than its operands, which have one.
func fitsProduct(o *Op) error {
	l, r, out := o.Operands[0].Type.Elem, o.Operands[1].Type.Elem, o.Results[0].Type.Elem
	if l != r || l.IsFloat() != out.IsFloat() || out.Size() < l.Size() {
		return fmt.Errorf("multiplies %s and %s to %s", l, r, out)
	}
	p, given := o.Get(precisionAttr).(Enums)
	if given && len(p) != 2 {
		return fmt.Errorf("%s has %d words, expected 2", precisionAttr, len(p))
	}
	for _, e := range p {
		if e.Kind != "precision" || !slices.Contains([]string{"DEFAULT", "HIGH", "HIGHEST"}, e.Word) {
			return fmt.Errorf("%s has %s %s", precisionAttr, e.Kind, e.Word)
		}
	}
	return nil
}

// precisionAttr says how a product may round its operands.
const precisionAttr = "precision_config"

// Product adds a product, or convolution, that does not round its operands of f32. Without that attribute XLA
// may, as far as the device multiplies shorter numbers faster: to tf32 on NVIDIA's cards, to bf16 on TPUs.
func (b *Builder) Product(name string, l, r *Value, attrs ...any) *Value {
	if l.Type.Elem == array.F32 {
		word := Enum{"precision", "HIGHEST"}
		attrs = append(attrs, precisionAttr, Enums{word, word})
	}
	return b.Add(b.With(name, []*Value{l, r}, attrs...))[0]
}

// RoundProducts lets all products round their operands of f32.
func (r *Region) RoundProducts() {
	for _, o := range r.Ops {
		o.Attrs = slices.DeleteFunc(o.Attrs, func(a Attr) bool { return a.Name == precisionAttr })
		for _, inner := range o.Regions {
			inner.RoundProducts()
		}
	}
}

// ConvWindows returns the windows of a convolution, one for each spatial dimension.
func ConvWindows(o *Op) ([]Window, error) {
	d := o.Get("dimension_numbers").(Conv)
	var sizes []int
	for _, k := range d.Kernel[2:] {
		sizes = append(sizes, o.Operands[1].Type.Dims[k])
	}
	return windows(o, sizes, "window_strides", "lhs_dilation", "rhs_dilation")
}

func inferConv(o *Op) ([]Type, error) {
	x, w, d := o.Operands[0].Type, o.Operands[1].Type, o.Get("dimension_numbers").(Conv)
	for _, side := range []struct {
		name string
		dims []int
	}{{"input", d.Input}, {"kernel", d.Kernel}, {"output", d.Output}} {
		if len(side.dims) != x.Rank() || x.Rank() < 2 || w.Rank() != x.Rank() {
			return nil, fmt.Errorf("%s has %d dimensions, the operands are %s and %s", side.name, len(side.dims), x, w)
		}
		if err := unique(side.name+" dimensions", side.dims, x.Rank()); err != nil {
			return nil, err
		}
	}
	fg, bg := o.Int("feature_group_count"), o.Int("batch_group_count")
	of, inf := w.Dims[d.Kernel[0]], w.Dims[d.Kernel[1]]
	switch {
	case fg < 1 || bg < 1 || fg > 1 && bg > 1:
		return nil, fmt.Errorf("feature_group_count is %d, batch_group_count %d", fg, bg)
	case x.Dims[d.Input[1]] != inf*fg:
		return nil, fmt.Errorf("lhs has %d features, rhs takes %d in %d groups", x.Dims[d.Input[1]], inf, fg)
	case of%fg != 0 || of%bg != 0 || x.Dims[d.Input[0]]%bg != 0:
		return nil, fmt.Errorf("%d features do not make %d groups", of, max(fg, bg))
	}
	ws, err := ConvWindows(o)
	if err != nil {
		return nil, err
	}
	if r, ok := o.Get("window_reversal").(Bools); ok && len(r) != len(ws) {
		return nil, fmt.Errorf("window_reversal has %d elements, expected %d", len(r), len(ws))
	}
	dims := make([]int, x.Rank())
	dims[d.Output[0]], dims[d.Output[1]] = x.Dims[d.Input[0]]/bg, of
	for i, win := range ws {
		dims[d.Output[2+i]] = win.Out(x.Dims[d.Input[2+i]])
	}
	return []Type{x.With(dims...)}, nil
}

func inferSort(o *Op) ([]Type, error) {
	x := o.Operands[0].Type
	if d := o.SortDim(); d < 0 || d >= x.Rank() {
		return nil, fmt.Errorf("dimension is %d of %s", o.Int("dimension"), x)
	}
	var in []Type
	for _, v := range o.Operands {
		if !slices.Equal(v.Type.Dims, x.Dims) {
			return nil, fmt.Errorf("sorts %s along %s: sizes must be equal", v.Type, x)
		}
		in = append(in, Of(v.Type.Elem), Of(v.Type.Elem))
	}
	return types(o.Operands), body(o.Regions[0], in, []Type{Of(array.Bool)})
}

func inferWhile(o *Op) ([]Type, error) {
	t := types(o.Operands)
	return t, errors.Join(body(o.Regions[0], t, []Type{Of(array.Bool)}), body(o.Regions[1], t, t))
}

func inferIf(o *Op) ([]Type, error) {
	if p := o.Operands[0].Type; !p.Equal(Of(array.Bool)) {
		return nil, fmt.Errorf("pred is %s, expected tensor<i1>", p)
	}
	t := types(o.Regions[0].Returned())
	return t, errors.Join(body(o.Regions[0], nil, t), body(o.Regions[1], nil, t))
}

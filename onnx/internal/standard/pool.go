package standard

import (
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/onnx/internal/rule"
	"github.com/gofx-dev/gofx/onnx/internal/spec"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// poolRules are the pools.
var poolRules = map[string][]rule.Rule{
	"MaxPool":           rule.From(1, MaxPool),
	"MaxUnpool":         rule.From(9, maxUnpool),
	"AveragePool":       rule.From(1, AveragePool),
	"GlobalAveragePool": rule.From(1, globalAverage),
	"GlobalMaxPool":     rule.From(1, func(c *rule.Call) []op.Value { return global(c, std.Amax) }),
	"LpPool":            rule.From(1, lpPool),
	"GlobalLpPool": {
		{Since: 1, Build: func(c *rule.Call) []op.Value { return globalLp(c, c.Float("p", 2)) }},
		{Since: 2, Build: func(c *rule.Call) []op.Value { return globalLp(c, float64(c.Int("p", 2))) }},
	},
}

func globalLp(c *rule.Call, p float64) []op.Value {
	var dims []int
	for i := 2; i < c.Rank(0); i++ {
		dims = append(dims, i)
	}
	return c.One(std.Norm, std.NormAttrs{P: op.Float(p), Dim: op.IntList(dims...), KeepDim: true}, c.X(0))
}

// KernelShape is the attribute of pools, which must have an entry for each spatial
// dimension of operand 0: one for fewer would be a pool over the channels to operators,
// which take tensors without a batch as well.
func KernelShape(c *rule.Call) []int {
	if c.List("kernel_shape") == nil {
		panic(diag.New(spec.CodeModel, "attribute kernel_shape is missing"))
	}
	needSpatial(c, "kernel_shape", len(c.List("kernel_shape")))
	return perDim(c, "kernel_shape", c.Rank(0)-2)
}

// MaxPool is the rule of MaxPool.
func MaxPool(c *rule.Call) []op.Value {
	k := KernelShape(c)
	w := WindowOf(c, k)
	columns := c.Flag("storage_order", false)
	x := c.X(0)
	ceil := CeilOf(c, &w)
	crop := make([]shape.Dim, len(k)) // the part of the padding that is elements
	if !w.Fits(true) {
		copy(crop, w.begin)
		if ends := ceilEnds(c, &w, ceil); ends != nil {
			w.extend(ends)
			ceil = false
		}
		x = padded(c, x, &w, true, lowest(c.Type(0).DType()))
	}
	a := std.MaxPoolAttrs{KernelSize: op.IntList(k...), Stride: op.IntList(w.Strides...), Padding: w.Padding(),
		Dilation: op.IntList(w.Dilations...), CeilMode: ceil}
	if c.Outputs() < 2 {
		return c.One(byRank(c, len(k), std.MaxPool1d, std.MaxPool2d, std.MaxPool3d), a, x)
	}
	pair := c.Items(c.Do(byRank(c, len(k), std.MaxPool1dWithIndices, std.MaxPool2dWithIndices, std.MaxPool3dWithIndices), a, x), 2)
	pair[1] = poolIndices(c, pair[1], x.Type(), crop, w.Dilations, columns)
	return pair
}

// poolIndices turns positions within a plane of the padded x, of type padded, into
// positions within the whole of operand 0. A position in the padding is that of a
// window's first tap, which no element exceeds: the first tap inside is meant.
func poolIndices(c *rule.Call, at op.Value, padded shape.Type, crop []shape.Dim, dilations []int, columns bool) op.Value {
	t := c.Type(0)
	n := len(crop)
	size := func(d shape.Dim) op.Value { return c.Size(d, array.I64) }
	moved := columns
	for _, k := range crop {
		moved = moved || !k.Is(0)
	}
	if moved || !padded.Dims().Equal(t.Dims()) {
		var sum op.Value
		rest := at
		for i := range n { // from the last dimension on
			d := n - 1 - i
			k := rest
			if d > 0 {
				k = c.Do(std.Remainder, nil, rest, size(padded.Dim(2+d)))
				rest = c.Do(std.FloorDivide, nil, rest, size(padded.Dim(2+d)))
			}
			if !crop[d].Is(0) {
				if n, ok := crop[d].Int(); ok {
					k = c.Do(std.Sub, std.SubAttrs{Other: op.Int(int64(n))}, k)
				} else {
					k = c.Do(std.Sub, nil, k, size(crop[d]))
				}
				inside := c.Do(std.Remainder, std.ReversibleAttrs{Other: op.Int(int64(dilations[d]))}, k)
				k = c.Do(std.Where, nil, c.Do(std.Lt, std.BinaryAttrs{Other: op.Int(0)}, k), inside, k)
			}
			stride := t.Dims().Sub(2+d+1, 2+n).Prod()
			if columns {
				stride = t.Dims().Sub(2, 2+d).Prod()
			}
			k = c.Do(std.Mul, nil, k, size(stride))
			if sum == nil {
				sum = k
			} else {
				sum = c.Do(std.Add, nil, sum, k)
			}
		}
		at = sum
	}
	planes := t.Dims().Sub(0, 2)
	first := c.Do(std.Mul, nil, c.Do(std.Arange, std.ArangeAttrs{End: planes.Prod()}), size(t.Dims().Sub(2, 2+n).Prod()))
	dims := planes.Slice()
	for range n {
		dims = append(dims, shape.Const(1))
	}
	return c.Do(std.Add, nil, at, Reshape(c, first, dims...))
}

// maxUnpool puts elements where indices say, over the whole result, and zeros elsewhere.
func maxUnpool(c *rule.Call) []op.Value {
	w := WindowOf(c, KernelShape(c))
	n := len(w.kernel)
	c.NeedDims(1, c.Type(0).Dims().Slice()...)
	dims := c.Type(0).Dims().Slice()
	if c.Has(2) {
		if dims = c.Dims(2); len(dims) != n+2 {
			panic(diag.New(spec.CodeModel, "output_shape has "+strconv.Itoa(len(dims))+" elements, expected "+strconv.Itoa(n+2)))
		}
		for i := range 2 {
			if shape.Equality(dims[i], c.Type(0).Dim(i)).Truth() == shape.False {
				panic(diag.New(spec.CodeModel, "output_shape is "+shape.Of(dims...).String()+" for an input "+c.Type(0).String()+", expected its batch and channels"))
			}
		}
	} else {
		for i := range n {
			dims[2+i] = dims[2+i].AddInt(-1).MulInt(w.Strides[i]).AddInt(w.kernel[i]).Sub(w.begin[i]).Sub(w.end[i])
		}
	}
	total := shape.Of(dims...).Prod()
	zeros := c.Do(std.Zeros, std.SizeAttrs{Size: shape.Of(total), DType: c.Type(0).DType()})
	count := c.Type(0).Dims().Prod()
	v := c.Do(std.Scatter, std.ScatterAttrs{}, zeros, Reshape(c, c.X(1), count), Reshape(c, c.X(0), count))
	return []op.Value{Reshape(c, v, dims...)}
}

// AveragePool counts the padding where it is told to; where the ends differ, sums and
// counts are pooled apart.
func AveragePool(c *rule.Call) []op.Value {
	k := KernelShape(c)
	w := WindowOf(c, k)
	include, ceil := c.Flag("count_include_pad", false), CeilOf(c, &w)
	fits := w.Fits(false)
	if w.Dilated() || !fits && ceilEnds(c, &w, ceil) != nil {
		sum, count := dilatedSums(c, &w, ceil, c.X(0), include)
		return c.One(std.Div, nil, sum, count)
	}
	o := byRank(c, len(k), std.AvgPool1d, std.AvgPool2d, std.AvgPool3d)
	a := std.AvgPoolAttrs{KernelSize: op.IntList(k...), Stride: op.IntList(w.Strides...), CeilMode: ceil, CountExcludePad: !include}
	if fits {
		a.Padding = w.Padding()
		return c.One(o, a, c.X(0))
	}
	a.CountExcludePad = false
	if include && !ceil {
		return c.One(o, a, padded(c, c.X(0), &w, true, 0))
	}
	ones := w
	ones.begin, ones.end = slices.Clone(w.begin), slices.Clone(w.end)
	if !ceil {
		a.DivisorOverride = 1
	}
	fill := 0.0
	if include {
		fill = 1
	}
	sum := c.Do(o, a, padded(c, c.X(0), &w, true, 0))
	count := c.Do(o, a, padded(c, c.Do(std.OnesLike, nil, c.X(0)), &ones, true, fill))
	return c.One(std.Div, nil, sum, count)
}

// needSpatial refuses an operand 0 that does not have n spatial dimensions, as the
// operator what has.
func needSpatial(c *rule.Call, what string, n int) {
	if c.Rank(0) != n+2 {
		panic(diag.New(spec.CodeModel, "the input is "+c.Type(0).String()+", expected "+strconv.Itoa(n)+" spatial dimensions as "+what+" has").
			WithHint("an input has a batch and channels before its spatial dimensions; export the model again, or correct it"))
	}
}

// Dilated reports whether windows have gaps.
func (w *window) Dilated() bool {
	for _, d := range w.Dilations {
		if d != 1 {
			return true
		}
	}
	return false
}

// dilatedSums adds the elements of windows with gaps, by a convolution with ones, and
// counts them, with the padding if it is included. The elements that ceil adds at the
// end never count.
func dilatedSums(c *rule.Call, w *window, ceil bool, x op.Value, include bool) (sum, count op.Value) {
	n := len(w.kernel)
	t := x.Type()
	behind := shape.ConstDims(make([]int, 2*n)...)
	for i, k := range ceilEnds(c, w, ceil) {
		behind = behind.With(2*(n-1-i)+1, k)
	}
	ones := []shape.Dim{shape.Const(1), shape.Const(1)}
	for _, k := range w.kernel {
		ones = append(ones, shape.Const(k))
	}
	weight := c.Do(std.Ones, std.SizeAttrs{Size: shape.Of(ones...), DType: t.DType()})
	a := std.ConvAttrs{Stride: op.IntList(w.Strides...), Dilation: op.IntList(w.Dilations...), Groups: 1}
	add := func(v op.Value, pad float64) op.Value {
		own := *w
		own.begin, own.end = slices.Clone(w.begin), slices.Clone(w.end)
		v = c.Do(std.Pad, std.PadAttrs{Pad: behind}, padded(c, v, &own, true, pad))
		return c.Do(byRank(c, n, std.Conv1d, std.Conv2d, std.Conv3d), a, v, weight, nil)
	}
	plane := append([]shape.Dim{shape.Const(1), shape.Const(1)}, t.Dims().Sub(2, 2+n).Slice()...)
	fill := 0.0
	if include {
		fill = 1
	}
	count = add(c.Do(std.Ones, std.SizeAttrs{Size: shape.Of(plane...), DType: t.DType()}), fill)
	plane[0] = t.Dims().Sub(0, 2).Prod()
	sum = add(Reshape(c, x, plane...), 0)
	return Reshape(c, sum, append(t.Dims().Sub(0, 2).Slice(), sum.Type().Dims().Sub(2, 2+n).Slice()...)...), count
}

// CeilOf is the attribute ceil_mode, which auto_pad leaves nothing to do: its windows are full ones.
func CeilOf(c *rule.Call, w *window) bool { return c.Flag("ceil_mode", false) && !w.same }

// ceilEnds is the number of elements to add after the end padding, so that windows that may be
// cut are full: as many windows as ceil_mode asks for, none of which starts in the padding. It
// is negative if windows do not reach the end. It is nil without ceil_mode, and if there is no
// end padding that an operator's own rule would mistake for elements.
func ceilEnds(c *rule.Call, w *window, ceil bool) []shape.Dim {
	some := w.Dilated()
	for _, d := range w.end {
		some = some || !d.Is(0)
	}
	if !ceil || !some {
		return nil
	}
	ends := make([]shape.Dim, len(w.kernel))
	for i := range ends {
		size, stride := spatialSize(c, i).Add(w.begin[i]), w.Strides[i]
		n := w.reach(i) // of a window, beyond the padding at the end: a number without auto_pad
		more := w.end[i].MulInt(-1).AddInt(n)
		if full, ok := size.Sub(more).Int(); ok && full <= -stride {
			panic(diag.New(spec.CodeModel, "the windows span "+strconv.Itoa(n)+" in spatial dimension "+strconv.Itoa(i)+", the input with its padding has "+strconv.Itoa(full+n)))
		}
		// The last window starts before its end would lie a stride beyond the padding,
		// and before the padding.
		last := size.AddInt(-1).FloorDivInt(stride)
		if k, ok := more.Int(); !ok || k > stride {
			last = size.Sub(more).AddInt(stride - 1).FloorDivInt(stride)
		}
		ends[i] = last.MulInt(stride).Sub(size).Add(more)
		if n, ok := ends[i].Int(); ok {
			ends[i] = shape.Const(max(n, 0))
		}
	}
	return ends
}

// lpPool's padding is zeros, which add nothing to a sum of powers.
func lpPool(c *rule.Call) []op.Value {
	k := KernelShape(c)
	w := WindowOf(c, k)
	p := float64(c.Int("p", 2))
	if p < 1 {
		panic(diag.New(spec.CodeModel, "p is "+strconv.Itoa(int(p))+", expected 1 or more"))
	}
	ceil := CeilOf(c, &w)
	x := c.Do(std.Abs, nil, c.X(0))
	power := func(v op.Value, p float64) op.Value { return c.Do(std.Pow, std.ReversibleAttrs{Other: op.Float(p)}, v) }
	switch {
	case w.Dilated() || ceilEnds(c, &w, ceil) != nil:
		sum, _ := dilatedSums(c, &w, ceil, power(x, p), false)
		return []op.Value{power(sum, 1/p)}
	case ceil: // PyTorch's lp_pool scales the last window by its missing elements
		a := std.AvgPoolAttrs{KernelSize: op.IntList(k...), Stride: op.IntList(w.Strides...), CeilMode: true, DivisorOverride: 1}
		sum := c.Do(byRank(c, len(k), std.AvgPool1d, std.AvgPool2d, std.AvgPool3d), a, padded(c, power(x, p), &w, true, 0))
		return []op.Value{power(sum, 1/p)}
	}
	a := std.LpPoolAttrs{NormType: p, KernelSize: op.IntList(k...), Stride: op.IntList(w.Strides...)}
	return c.One(byRank(c, len(k), std.LpPool1d, std.LpPool2d, std.LpPool3d), a, padded(c, x, &w, true, 0))
}

// globalAverage is a pool to one element; over more dimensions than pools have it is a mean.
func globalAverage(c *rule.Call) []op.Value {
	n := c.Rank(0) - 2
	if n < 1 || n > 3 || !c.Type(0).DType().IsFloat() {
		return global(c, std.Mean)
	}
	for i := range n {
		if c.Type(0).Dim(2 + i).Is(0) {
			return global(c, std.Mean) // of nothing
		}
	}
	return c.One(byRank(c, n, std.AdaptiveAvgPool1d, std.AdaptiveAvgPool2d, std.AdaptiveAvgPool3d), std.AdaptivePoolAttrs{OutputSize: op.IntList(1)}, c.X(0))
}

func global(c *rule.Call, o *op.Op) []op.Value {
	var dims []int
	for i := 2; i < c.Rank(0); i++ {
		dims = append(dims, i)
	}
	if dims == nil {
		return []op.Value{c.X(0)}
	}
	return c.One(o, std.ReduceAttrs{Dim: op.IntList(dims...), KeepDim: true}, c.X(0))
}

// window is the common part of convolutions and pools: kernel, strides, dilations
// and the padding before and after each spatial dimension, which may follow from
// its size.
type window struct {
	kernel, Strides, Dilations []int
	begin, end                 []shape.Dim
	same                       bool // the padding is that of SAME_UPPER or SAME_LOWER
}

// WindowOf reads the attributes; kernel is known from a weight or from kernel_shape, and
// goes with the spatial dimensions of operand 0.
func WindowOf(c *rule.Call, kernel []int) window {
	n := len(kernel)
	w := window{kernel: kernel, Strides: perDim(c, "strides", n), Dilations: perDim(c, "dilations", n), begin: make([]shape.Dim, n), end: make([]shape.Dim, n)}
	pads := shape.ConstDims(padsOf(c, n)...).Slice()
	switch c.OneOf("auto_pad", "NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER") {
	case "NOTSET":
		copy(w.begin, pads[:n])
		copy(w.end, pads[n:])
	case "SAME_UPPER":
		samePads(c, &w, false)
	case "SAME_LOWER":
		samePads(c, &w, true)
	}
	return w
}

// mostEntry bounds the entries of lists that say how windows lie, so that no sum or
// product of a few wraps.
const mostEntry = 1<<31 - 1

// listOf is a list attribute of n entries from least on; each is def where the list is
// absent.
func listOf(c *rule.Call, name string, n, def, least int) []int {
	v := c.List(name)
	if v == nil {
		v = slices.Repeat([]int{def}, n)
	}
	if len(v) != n {
		panic(diag.New(spec.CodeModel, name+" has "+strconv.Itoa(len(v))+" entries, expected "+strconv.Itoa(n)))
	}
	for _, x := range v {
		if x < least || x > mostEntry {
			panic(diag.New(spec.CodeModel, name+" has the entry "+strconv.Itoa(x)+", expected "+strconv.Itoa(least)+" to "+strconv.Itoa(mostEntry)))
		}
	}
	return v
}

// perDim is a list attribute with an entry for each of n spatial dimensions.
func perDim(c *rule.Call, name string, n int) []int { return listOf(c, name, n, 1, 1) }

// padsOf are those before n spatial dimensions, then those after them; negative ones crop.
func padsOf(c *rule.Call, n int) []int { return listOf(c, "pads", 2*n, 0, -mostEntry) }

// samePads pads so that the result has as many elements as there are strides in the operand;
// where one more is needed at one end, low says at which. Where windows leave gaps, none may
// be needed: elements after the last window are then cut off.
func samePads(c *rule.Call, w *window, low bool) {
	w.same = true
	for i := range w.kernel {
		reach, s, n := w.reach(i), w.Strides[i], spatialSize(c, i)
		total := shape.Const(reach - 1)
		if s > 1 {
			last := n.AddInt(-1).FloorDivInt(s).MulInt(s) // where the last window starts
			total = last.AddInt(reach).Sub(n)             // as TensorFlow, which auto_pad is from
		}
		if reach == 1 {
			continue // a window of one element needs no padding, wherever it is
		}
		some := total
		if reach < s {
			some = total.Max(shape.Const(0))
		}
		w.begin[i] = some.FloorDivInt(2)
		if low {
			w.begin[i] = some.Sub(w.begin[i])
		}
		w.end[i] = total.Sub(w.begin[i])
		if n, ok := w.end[i].Int(); ok {
			w.end[i] = shape.Const(max(n, 0))
		}
	}
}

// spatialSize is the size of a spatial dimension of operand 0, a number or an expression.
func spatialSize(c *rule.Call, i int) shape.Dim {
	d := c.Type(0).Dim(2 + i)
	if d.IsUnknown() {
		panic(diag.New(spec.CodeValue, "the input is "+c.Type(0).String()+", and padding follows from its sizes"))
	}
	return d
}

// reach is how many elements a window spans along a spatial dimension.
func (w *window) reach(i int) int { return (w.kernel[i]-1)*w.Dilations[i] + 1 }

// count is how many windows there are along spatial dimension i of size n.
func (w *window) count(i int, n shape.Dim) shape.Dim {
	return n.Add(w.begin[i]).Add(w.end[i]).AddInt(-w.reach(i)).FloorDivInt(w.Strides[i]).AddInt(1)
}

// symmetric reports whether both ends have the same padding, a number.
func (w *window) symmetric() bool {
	for i, d := range w.begin {
		if n, ok := d.Int(); !ok || n < 0 || !d.Equal(w.end[i]) {
			return false
		}
	}
	return true
}

// Fits reports whether an operator takes the padding: the same number at both ends, and at
// most half of the kernel, whose gaps count where dilated says so.
func (w *window) Fits(dilated bool) bool {
	if !w.symmetric() {
		return false
	}
	for i, d := range w.begin {
		reach := w.kernel[i]
		if dilated {
			reach = w.reach(i)
		}
		if n, _ := d.Int(); 2*n > reach {
			return false
		}
	}
	return true
}

// extend adds to the padding at the end.
func (w *window) extend(ends []shape.Dim) {
	for i, d := range ends {
		w.end[i] = w.end[i].Add(d)
	}
}

// Padding is the part that both ends have in common, if padded has left nothing else.
func (w *window) Padding() op.Ints {
	n, _ := shape.Of(w.begin...).Known()
	return op.IntList(n...)
}

// padded pads x by the difference of the two ends, or by everything, and leaves
// the rest in begin.
func padded(c *rule.Call, x op.Value, w *window, all bool, value float64) op.Value {
	pad := shape.ConstDims(make([]int, 2*len(w.begin))...)
	for i, begin := range w.begin {
		end := w.end[i]
		b, ok := begin.Int()
		e, known := end.Int()
		common := shape.Const(max(min(b, e), 0))
		if all || !ok || !known {
			common = shape.Const(0)
		}
		k := 2 * (len(w.begin) - 1 - i)
		pad = pad.With(k, begin.Sub(common)).With(k+1, end.Sub(common))
		w.begin[i], w.end[i] = common, common
	}
	if pad.Equal(shape.ConstDims(make([]int, pad.Len())...)) {
		return x
	}
	return c.Do(std.Pad, std.PadAttrs{Pad: pad, Value: value}, x)
}

// lowest is the value that no maximum takes.
func lowest(d array.DType) float64 {
	a := array.New(d, 1)
	array.SetFloat64At(a, 0, negInf)
	if !d.IsFloat() && !d.IsSigned() {
		return 0
	}
	return array.Float64At(a, 0)
}

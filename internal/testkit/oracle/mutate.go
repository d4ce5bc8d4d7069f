package oracle

import (
	"math"
	"reflect"
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// sizes are the replacements of sizes; small ones and odd ones find the edges.
var sizes = []int{0, 1, 1, 2, 2, 3, 3, 4, 5, 5, 6, 7, 8, 9, 11, 13, 16, 17, 33}

// shaped returns an array of another shape whose elements are those of a,
// repeated, so that their range stays.
func shaped(a *array.Array, dims []int) *array.Array {
	n, ok := array.NumElems(dims)
	if !ok || n > maxElements || slices.Equal(dims, a.Shape()) {
		return a
	}
	out := array.New(a.DType(), dims...)
	if from := array.Contiguous(a); from.Len() > 0 {
		size := a.DType().Size()
		src, dst := Bytes(from), out.Storage().Bytes()
		for i := range n {
			k := i % from.Len()
			copy(dst[i*size:(i+1)*size], src[k*size:(k+1)*size])
		}
	}
	return out
}

// resize gives other values to a few of the sizes that occur in the operands and
// in lists of sizes among the attributes, the same wherever one occurs; multiples
// may follow.
func (d *drawing) resize(s *op.Sample) {
	var all []int
	for _, a := range s.In {
		if a != nil {
			all = append(all, a.Shape()...)
		}
	}
	if len(all) == 0 {
		return
	}
	to := map[int]int{}
	for range 1 + d.IntN(3) {
		from, size := pick(d, all...), pick(d, sizes...)
		to[from] = size
		if from > 1 && d.chance(0.5) {
			for _, k := range []int{2, 3, 4, 6, 8} {
				if slices.Contains(all, k*from) {
					to[k*from] = k * size
				}
			}
		}
	}
	renamed := func(n int) int {
		if m, ok := to[n]; ok {
			return m
		}
		return n
	}
	for i, a := range s.In {
		if a != nil {
			dims := slices.Clone(a.Shape())
			for k, n := range dims {
				dims[k] = renamed(n)
			}
			s.In[i] = shaped(a, dims)
		}
	}
	if d.chance(0.8) {
		s.Attrs = edit(s.Attrs, func(name string, v any) any {
			if l, ok := v.(shape.Dims); ok {
				return mapDims(l, renamed)
			}
			return v
		})
	}
}

func mapDims(l shape.Dims, f func(int) int) shape.Dims {
	out := make([]int, l.Len())
	for i, e := range l.Slice() {
		n, _ := e.Int()
		out[i] = f(n)
	}
	return shape.ConstDims(out...)
}

// rerank takes a dimension from all operands that have the most or from one, or
// gives one.
func (d *drawing) rerank(s *op.Sample) {
	most := 0
	for _, a := range s.In {
		if a != nil {
			most = max(most, a.Rank())
		}
	}
	one, all := d.IntN(max(len(s.In), 1)), d.chance(0.6)
	grow, size, at := d.chance(0.5), pick(d, sizes...), d.Float64()
	for i, a := range s.In {
		if a == nil || !(all && a.Rank() == most || !all && i == one) {
			continue
		}
		k := int(at * float64(a.Rank()))
		switch {
		case grow && a.Rank() < 6:
			s.In[i] = shaped(a, slices.Insert(slices.Clone(a.Shape()), k, size))
		case !grow && a.Rank() > 0:
			s.In[i] = shaped(a, slices.Delete(slices.Clone(a.Shape()), k, k+1))
		}
	}
}

// stretch makes one dimension of one operand 1, or any size.
func (d *drawing) stretch(s *op.Sample) {
	if len(s.In) == 0 {
		return
	}
	i := d.IntN(len(s.In))
	a := s.In[i]
	if a == nil || a.Rank() == 0 {
		return
	}
	dims := slices.Clone(a.Shape())
	dims[d.IntN(len(dims))] = pick(d, 1, 1, 1, pick(d, sizes...))
	s.In[i] = shaped(a, dims)
}

// present drops an operand, or repeats the last one of a variadic operator.
func (d *drawing) present(s *op.Sample) {
	if len(s.In) == 0 {
		return
	}
	if d.op.Variadic() && d.chance(0.5) && len(s.In) >= len(d.op.In) && len(s.In) < 12 {
		s.In = append(s.In, s.In[len(s.In)-1])
		return
	}
	i := d.IntN(len(s.In))
	switch {
	case i < len(d.op.In) && d.op.In[i].Optional:
		s.In[i] = nil
	case i >= len(d.op.In)-1 && d.op.Variadic():
		s.In = s.In[:len(s.In)-1]
	}
}

var (
	floatTypes = []array.DType{array.F32, array.F64, array.F16, array.BF16}
	intTypes   = []array.DType{array.I64, array.I32, array.I16, array.I8, array.U8}
	allTypes   = append(append([]array.DType{array.Bool}, floatTypes...), intTypes...)
)

// types draws the operands' element types: their own, another of the same kind
// for all floats or integers, or any for one operand or for all of one kind.
func (d *drawing) types(s *op.Sample) []array.DType {
	float, integer := pick(d, floatTypes...), pick(d, intTypes...)
	change, any, which := d.Float64(), pick(d, allTypes...), d.IntN(max(len(s.In), 1))
	out := make([]array.DType, len(s.In))
	for i, a := range s.In {
		if a == nil {
			continue
		}
		t := a.DType()
		switch {
		case change < 0.25:
		case change < 0.4 && i == which, change >= 0.4 && change < 0.5:
			t = any
		case t.IsFloat():
			t = float
		case t.IsInt() && d.chance(0.6):
			t = integer
		}
		out[i] = t
	}
	return out
}

// edit returns the attributes with f applied to every field.
func edit(attrs any, f func(name string, v any) any) any {
	v := reflect.New(reflect.TypeOf(attrs)).Elem()
	v.Set(reflect.ValueOf(attrs))
	for i := range v.NumField() {
		v.Field(i).Set(reflect.ValueOf(f(v.Type().Field(i).Name, v.Field(i).Interface())))
	}
	return v.Interface()
}

// attrs changes one to three attributes.
func (d *drawing) attrs(s op.Sample) any {
	fields := d.op.Codec().Fields(s.Attrs)
	if len(fields) == 0 {
		return s.Attrs
	}
	chosen := map[string]op.Field{}
	for range 1 + d.IntN(3) {
		f := pick(d, fields...)
		chosen[f.GoName] = f
	}
	return edit(s.Attrs, func(name string, v any) any {
		f, ok := chosen[name]
		if !ok {
			return v
		}
		return d.attr(f, v, s)
	})
}

// attr draws another value of an attribute. The records agree on the names of
// axes: dim, dims, dim0, start_dim, source, destination.
func (d *drawing) attr(f op.Field, v any, s op.Sample) any {
	var x []int
	for _, a := range s.In {
		if a != nil {
			x = a.Shape()
			break
		}
	}
	axis := isAxis(f.Name)
	switch v := v.(type) {
	case bool:
		return !v
	case string:
		return d.text(f, v)
	case float64:
		return d.number()
	case array.DType:
		return pick(d, append(slices.Clone(allTypes), array.Invalid)...)
	case op.Scalar:
		return d.scalar()
	case op.Floats:
		out := make([]float64, pick(d, 0, 1, v.Len(), v.Len()))
		for i := range out {
			out[i] = pick(d, 0.5, 1, 1.5, 2, 2.3, 3, 0.4, 0)
		}
		return op.FloatList(out...)
	case int:
		if axis {
			return d.axis(len(x))
		}
		return d.int(v, x)
	case shape.Dim:
		n, ok := v.Int()
		if !ok {
			return v
		}
		return shape.Const(min(max(d.int(n, x), -math.MaxInt64), math.MaxInt64))
	case shape.Dims:
		l := make([]int, v.Len())
		for i, e := range v.Slice() {
			l[i], _ = e.Int()
		}
		return shape.ConstDims(d.dims(l, x)...)
	case op.Ints:
		if axis {
			return op.IntList(d.axes(len(x))...)
		}
		return op.IntList(d.ints(v.Slice(), x)...)
	}
	return v
}

func isAxis(name string) bool {
	switch name {
	case "source", "destination":
		return true
	}
	return len(name) >= 3 && (name[:3] == "dim" || name[len(name)-3:] == "dim")
}

// text draws a legal string, or swaps two letters of a free one.
func (d *drawing) text(f op.Field, v string) string {
	if f.Enum != nil {
		return pick(d, append(slices.Clone(f.Enum), "")...)
	}
	b := []byte(v)
	if len(b) > 1 {
		i, k := d.IntN(len(b)), d.IntN(len(b))
		if letter(b[i]) && letter(b[k]) {
			b[i], b[k] = b[k], b[i]
		}
	}
	return string(b)
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func (d *drawing) number() float64 {
	return pick(d, 0, 1, -1, 0.5, 2, 3, -0.25, 1e-5, 1e-3, 0.1, 7.5, 100, 1e10, 1e-30, 1e300,
		math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), d.NormFloat64())
}

func (d *drawing) scalar() op.Scalar {
	switch d.IntN(10) {
	case 0:
		return op.Scalar{}
	case 1:
		return op.BoolScalar(d.chance(0.5))
	case 2, 3, 4:
		return op.Float(d.number())
	case 5:
		return op.Int(pick[int64](d, math.MaxInt64, math.MinInt64, 127, 128, 255, 256, -128, -129, 32767, 1<<31, -1<<31-1, 1<<53+1))
	}
	return op.Int(int64(d.IntN(12) - 4))
}

// axis draws an axis of n dimensions, rarely one that does not exist.
func (d *drawing) axis(n int) int {
	if n == 0 || d.chance(0.05) {
		return d.IntN(2*n+4) - n - 2
	}
	return d.IntN(2*n) - n
}

// axes draws some axes, mostly different ones.
func (d *drawing) axes(n int) []int {
	if d.chance(0.05) {
		return []int{d.axis(n), d.axis(n)}
	}
	out := d.Perm(n)
	if d.chance(0.8) {
		out = out[:d.IntN(n+1)]
	}
	for i := range out {
		if d.chance(0.4) {
			out[i] -= n
		}
	}
	return out
}

// int draws a number near the old one, near a size of x, or anything small.
func (d *drawing) int(old int, x []int) int {
	switch d.IntN(8) {
	case 0:
		return old + pick(d, -1, 1)
	case 1, 2:
		if len(x) > 0 {
			return pick(d, 1, 1, 1, -1)*pick(d, x...) + pick(d, 0, 0, -1, 1)
		}
	case 3:
		return pick(d, 0, -1, math.MaxInt64, 1<<31, -1<<31, -2, 100)
	case 4:
		return -d.IntN(8)
	}
	return d.IntN(7)
}

// ints draws a list of settings: none, one for all dimensions, or as many as now.
func (d *drawing) ints(old, x []int) []int {
	switch d.IntN(6) {
	case 0:
		return nil
	case 1:
		if len(x) > 0 {
			return d.parts(pick(d, x...))
		}
	case 2:
		out := slices.Clone(old)
		if len(out) > 0 {
			i := d.IntN(len(out))
			out[i] = d.int(out[i], x)
		}
		return out
	}
	out := make([]int, pick(d, 1, len(old), len(old), len(old), len(x), max(len(x)-2, 0)))
	for i := range out {
		out[i] = pick(d, 0, 1, 1, 1, 2, 2, 3, 4, 5, -1)
	}
	return out
}

// parts splits n into a few parts, some of which may be empty.
func (d *drawing) parts(n int) []int {
	var out []int
	for n > 0 && len(out) < 5 {
		k := d.IntN(n + 1)
		out, n = append(out, k), n-k
	}
	return append(out, n)
}

// dims draws a list of sizes: another factorisation of the elements of x, the
// sizes of x with some changed, or any.
func (d *drawing) dims(old, x []int) []int {
	var out []int
	switch d.IntN(5) {
	case 0, 1:
		n := 1
		for _, k := range x {
			n *= k
		}
		out = d.factors(n)
		if len(out) > 0 && d.chance(0.4) {
			out[d.IntN(len(out))] = -1
		}
	case 2:
		out = slices.Clone(x)
		for i := range out {
			if out[i] == 1 || d.chance(0.2) {
				out[i] = pick(d, 1, 2, 3, 0, -1)
			}
		}
		if d.chance(0.4) {
			out = append([]int{pick(d, 1, 2, 3, 0)}, out...)
		}
	case 3:
		for range d.IntN(5) {
			out = append(out, pick(d, 0, 1, 1, 2, 2, 3, 4, 5, 7, 9))
		}
	default:
		out = slices.Clone(old)
		if len(out) > 0 {
			i := d.IntN(len(out))
			out[i] = d.int(out[i], x)
		}
	}
	return out
}

// factors writes n as a product of a few sizes.
func (d *drawing) factors(n int) []int {
	out := []int{}
	if n == 0 {
		return []int{pick(d, 0, 1, 2, 3), 0}
	}
	for n > 1 && len(out) < 5 {
		k := 1 + d.IntN(n)
		for n%k != 0 {
			k--
		}
		out, n = append(out, k), n/k
	}
	return append(out, n)
}

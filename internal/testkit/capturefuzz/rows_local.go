package capturefuzz

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// goTypes are Go's types of elements that programs spell.
var goTypes = map[string]string{"f32": "float32", "f64": "float64", "i64": "int64", "i32": "int32", "u8": "uint8", "bool": "bool"}

// dtypeNames are the constants of package array.
var dtypeNames = map[string]string{"f32": "array.F32", "f64": "array.F64", "f16": "array.F16", "bf16": "array.BF16",
	"i64": "array.I64", "i32": "array.I32", "u8": "array.U8", "bool": "array.Bool"}

// literal returns an element.
func (g *gen) literal(dtype string) string {
	switch dtype {
	case "bool":
		return pick(g, "true", "false")
	case "i64", "i32":
		return strconv.Itoa(g.IntN(9) - 4)
	case "u8":
		return strconv.Itoa(g.IntN(9))
	}
	return strconv.FormatFloat(float64(g.IntN(33)-16)/8, 'g', -1, 64)
}

// elements returns the Go literal of a slice.
func (g *gen) elements(dtype string, n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = g.literal(dtype)
	}
	return "[]" + goTypes[dtype] + "{" + strings.Join(list, ", ") + "}"
}

// shape chooses sizes for a new tensor, most often those of a value at hand.
func (g *gen) shape(known bool) []dim {
	if v := g.choose(func(v *value) bool {
		return small(v.dims) && !slices.ContainsFunc(v.dims, func(d dim) bool { return known && !d.known() })
	}); v != nil && g.chance(75) {
		return slices.Clone(v.dims)
	}
	c := func() dim { return fixed(pick(g, 1, 2, 3, 4, 6)) }
	return pick(g, []dim{c()}, []dim{c(), c()}, []dim{c(), c()}, []dim{c(), c(), c()}, nil)
}

func constant(dims []dim) bool {
	return !slices.ContainsFunc(dims, func(d dim) bool { return !d.known() })
}

// intList writes sizes as a list for factories; their sizes may be expressions.
func sizeList(dims []dim) string {
	if constant(dims) {
		return "[]int{" + goSizes(dims) + "}"
	}
	return "[]any{" + goSizes(dims) + "}"
}

func (g *gen) dtype() string {
	return pick(g, "f32", "f32", "f32", "f32", "f32", "f64", "f16", "i64", "i32", "u8", "bool", "bf16")
}

// factory makes a local tensor.
func factory(g *gen) bool {
	dtype := g.dtype()
	attrs := ""
	if dtype != "f32" {
		attrs = ", tensor.SizeAttrs{DType: " + dtypeNames[dtype] + "}"
	}
	switch g.IntN(8) {
	case 0, 1:
		dims, with := g.shape(false), ""
		if attrs != "" {
			with = "With"
		}
		g.let("factory", fmt.Sprintf("tensor.%s%s(%s%s)", pick(g, "Zeros", "Ones"), with, sizeList(dims), attrs),
			&value{dtype: dtype, dims: dims, eager: constant(dims), mem: g.fresh()})
	case 2:
		dims := g.shape(false)
		if dtype != "f32" {
			attrs = ", tensor.FullAttrs{DType: " + dtypeNames[dtype] + "}"
		}
		v := g.literal(dtype)
		g.let("factory", fmt.Sprintf("tensor.Full(%s, %s%s)", sizeList(dims), v, attrs), &value{dtype: dtype, dims: dims, eager: constant(dims), mem: g.fresh()})
	case 3:
		v := g.choose(anyValue)
		g.let("factory", v.name+pick(g, ".ZerosLike()", ".OnesLike()", ".FullLike(2)"), &value{dtype: v.dtype, dims: v.dims, eager: v.eager, mem: g.fresh()})
	case 4:
		n := fixed(pick(g, 2, 3, 4))
		if g.chance(50) {
			g.let("factory", fmt.Sprintf("tensor.Eye(%s)", n.expr), &value{dtype: "f32", dims: []dim{n, n}, eager: true, mem: g.fresh()})
			break
		}
		g.let("factory", fmt.Sprintf("tensor.Arange(%s)", n.expr), &value{dtype: "i64", dims: []dim{n}, eager: true, mem: g.fresh()})
	case 5: // two that are made the same way, of which one may be written
		dims := g.shape(false)
		for range 2 {
			g.let("factory", fmt.Sprintf("tensor.Zeros(%s)", sizeList(dims)), &value{dtype: "f32", dims: dims, eager: constant(dims), mem: g.fresh()})
		}
	default:
		return fromSlice(g)
	}
	g.hot = g.mem
	return true
}

// fromSlice makes a tensor over a Go slice, which may be edited later.
func fromSlice(g *gen) bool {
	dtype := g.dtype()
	if goTypes[dtype] == "" {
		return false
	}
	dims := g.shape(true)
	n := product(dims).at[0]
	if n > 24 {
		return false
	}
	mem := g.fresh()
	sizes := ""
	if len(dims) != 1 && len(dims) > 0 {
		sizes = ", " + goSizes(dims)
	}
	v := &value{dtype: dtype, dims: dims, eager: true, mem: mem}
	switch {
	case len(dims) == 0:
		g.let("constant", fmt.Sprintf("tensor.Scalar(%s(%s))", goTypes[dtype], g.literal(dtype)), v)
	case g.chance(40):
		s := g.name("s")
		g.emit(&Stmt{Kind: "go-slice", Head: s + " := " + g.elements(dtype, n), Defs: []string{s}})
		g.let("constant", fmt.Sprintf("tensor.FromSlice(%s%s)", s, sizes), v)
		if g.depth == 0 {
			g.slices = append(g.slices, goSlice{s, dtype, n, mem})
		}
	default:
		g.let("constant", fmt.Sprintf("tensor.FromSlice(%s%s)", g.elements(dtype, n), sizes), v)
	}
	g.hot = mem
	return true
}

// twice makes two tensors over one Go slice and writes to one of them.
func twice(g *gen) bool {
	if g.depth > 0 {
		return false
	}
	dtype := pick(g, "f32", "f32", "i64")
	n := pick(g, 3, 4, 6)
	s, mem := g.name("s"), g.fresh()
	g.emit(&Stmt{Kind: "go-slice", Head: s + " := " + g.elements(dtype, n), Defs: []string{s}})
	g.slices = append(g.slices, goSlice{s, dtype, n, mem})
	whole := g.let("constant", fmt.Sprintf("tensor.FromSlice(%s)", s), &value{dtype: dtype, dims: []dim{fixed(n)}, eager: true, mem: mem})
	code, dims := fmt.Sprintf("tensor.FromSlice(%s)", s), []dim{fixed(n)}
	if n%2 == 0 {
		code, dims = fmt.Sprintf("tensor.FromSlice(%s, 2, %d)", s, n/2), []dim{fixed(2), fixed(n / 2)}
	}
	other := g.let("constant", code, &value{dtype: dtype, dims: dims, eager: true, mem: mem})
	g.hot = mem
	if g.chance(50) {
		whole, other = other, whole
	}
	traced := g.choose(func(v *value) bool { return v.dtype == dtype && !v.eager })
	call := fmt.Sprintf("tensor.On(x, %s).AddScalarInPlace(1)", whole.name)
	if traced != nil && g.chance(70) {
		call = fmt.Sprintf("%s.AddInPlace(%s.Sum())", whole.name, traced.name)
	}
	if g.chance(80) {
		g.writes(whole, true)
		g.do("write", call)
		g.let("expr", other.name+".MulScalar(2)", &value{dtype: dtype, dims: dims, mem: g.fresh()}).dims = other.dims
	}
	return true
}

// goSlice is a Go slice that a tensor lies over.
type goSlice struct {
	name, dtype string
	n           int
	mem         int // 0 for the data of a tensor
}

// editSlice changes an element of such a slice.
func editSlice(g *gen) bool {
	if len(g.slices) == 0 || g.depth > 0 {
		return false
	}
	s := pick(g, g.slices...)
	g.do("edit-slice", fmt.Sprintf("%s[%d] = %s", s.name, g.IntN(s.n), g.literal(s.dtype)))
	return true
}

// editData changes an element of an eager tensor through tensor.Data.
func editData(g *gen) bool {
	v := g.choose(func(v *value) bool {
		return (v.eager || g.chance(5)) && constant(v.dims) && goTypes[v.dtype] != ""
	})
	if v == nil {
		return false
	}
	n := product(v.dims).at[0]
	g.hot = v.mem
	data := fmt.Sprintf("tensor.Data[%s](%s)", goTypes[v.dtype], v.name)
	if g.chance(30) {
		d := g.name("d")
		g.emit(&Stmt{Kind: "edit-data", Head: d + " := " + data, Defs: []string{d}})
		if g.depth == 0 {
			g.slices = append(g.slices, goSlice{d, v.dtype, n, 0})
		}
		return true
	}
	if n < 1 {
		return false
	}
	g.do("edit-data", fmt.Sprintf("%s[%d] = %s", data, g.IntN(n), g.literal(v.dtype)))
	return true
}

// clone copies a value.
func clone(g *gen) bool {
	v := g.choose(anyValue)
	g.let("clone", v.name+".Clone()", &value{dtype: v.dtype, dims: v.dims, eager: v.eager, mem: g.fresh()})
	return true
}

// on lifts an eager tensor into the trace.
func on(g *gen) bool {
	v := g.choose(func(v *value) bool { return v.eager || strings.HasPrefix(v.name, "m.") })
	if v == nil {
		return false
	}
	code := "tensor.On(x, " + v.name + ")"
	if g.chance(50) {
		call := g.call(v, inPlace)
		g.writes(v, true)
		g.do("on", code+"."+call)
		return true
	}
	g.let("on", code, &value{dtype: v.dtype, dims: v.dims, mem: v.mem})
	return true
}

// observe reads data in Go: legal for constants, refused for traced values.
func observe(g *gen) bool {
	v := g.choose(func(v *value) bool { return (v.eager || g.chance(10)) && v.float() && constant(v.dims) })
	w := g.writable()
	if v == nil || w == nil {
		return false
	}
	code, traced := g.write(w)
	g.writes(w, traced)
	g.block("observe", fmt.Sprintf("if %s.Sum().Item() > 0 {", v.name), "}", nil, func() { g.do("write", code) })
	return true
}

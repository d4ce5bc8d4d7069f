package capturefuzz

import (
	"fmt"
	"slices"
	"strings"
)

// exprRow is one operator on a value A, or on A and B, which keeps or changes
// sizes and element type.
type exprRow struct {
	weight int
	kinds  string // of A
	code   string
	// make returns the known properties of the result; nil means those of A.
	make func(a, b *value) *value
}

func typed(dtype string) func(a, b *value) *value {
	return func(a, _ *value) *value { return &value{dtype: dtype, dims: a.dims} }
}

func reduced(f func(d []dim) []dim) func(a, b *value) *value {
	return func(a, _ *value) *value {
		if a.rank() == 0 || !a.float() {
			return nil
		}
		return &value{dtype: a.dtype, dims: f(slices.Clone(a.dims))}
	}
}

func dropLast(d []dim) []dim { return d[:len(d)-1] }

var exprs = []exprRow{
	{8, "f", "A.Tanh()", nil},
	{4, "f", "A.Sigmoid()", nil},
	{4, "f", "A.Relu()", nil},
	{3, "fi", "A.Neg()", nil},
	{4, "fi", "A.AddScalar(1)", nil},
	{5, "fi", "A.MulScalar(2)", nil},
	{3, "f", "A.MulScalar(0.5)", nil},
	{3, "fi", "A.Clamp(-1, 2)", nil},
	{10, "fi", "A.Add(B)", nil},
	{5, "fi", "A.Mul(B)", nil},
	{4, "fi", "A.Sub(B)", nil},
	{2, "fi", "A.Maximum(B)", nil},
	{3, "fi", "A.Gt(B).Where(A, B)", nil},
	{2, "fi", "A.GtScalar(0)", typed("bool")},
	{2, "b", "A.LogicalNot()", nil},
	{2, "b", "A.LogicalOr(B)", nil},
	{2, "b", "A.Cast(array.F32)", typed("f32")},
	{1, "i", "A.Cast(array.F32)", typed("f32")},
	{1, "f", "A.Cast(array.F16)", typed("f16")},
	{1, "f", "A.Cast(array.F64)", typed("f64")},
	{1, "f", "A.Tanh().MulScalar(3).Cast(array.I64)", typed("i64")},
	{2, "i", "A.BitwiseXorScalar(3)", nil},
	{3, "f", "A.Sum(-1)", reduced(dropLast)},
	{2, "f", "A.MeanWith(-1, tensor.ReduceAttrs{KeepDim: true})", reduced(func(d []dim) []dim { return append(dropLast(d), fixed(1)) })},
	{2, "f", "A.Sum()", reduced(func([]dim) []dim { return nil })},
	{2, "f", "A.Amax()", reduced(func([]dim) []dim { return nil })},
	{2, "f", "A.Softmax(-1)", reduced(func(d []dim) []dim { return d })},
	{2, "f", "A.Cumsum(0)", reduced(func(d []dim) []dim { return d })},
	{2, "f", "A.Flip(0)", reduced(func(d []dim) []dim { return d })},
	{2, "f", "A.Unsqueeze(0).Expand(B.Size(0), A.Size(0))", nil},
	{2, "f", "tensor.Cat([]*tensor.Tensor{A, A.Neg()}, 0)", reduced(func(d []dim) []dim {
		return with(d, 0, by(d[0], "", func(n int) int { return 2 * n }))
	})},
	{2, "f", "tensor.Stack([]*tensor.Tensor{A, B}, 0)", nil},
	{2, "f", "A.Matmul(A.T())", nil},
}

// one names an exprRow with a rule of its own, by its code.
var ruled = map[string]func(a, b *value) *value{
	"A.Unsqueeze(0).Expand(B.Size(0), A.Size(0))": func(a, b *value) *value {
		if a.rank() != 1 || b.rank() < 1 {
			return nil
		}
		return &value{dtype: a.dtype, dims: []dim{b.dims[0], a.dims[0]}}
	},
	"tensor.Stack([]*tensor.Tensor{A, B}, 0)": func(a, b *value) *value {
		if !same(a.dims, b.dims) {
			return nil
		}
		return &value{dtype: a.dtype, dims: append([]dim{fixed(2)}, a.dims...)}
	},
	"A.Matmul(A.T())": func(a, _ *value) *value {
		if a.rank() != 2 {
			return nil
		}
		return &value{dtype: a.dtype, dims: []dim{a.dims[0], a.dims[0]}}
	},
}

// expr returns an expression over values; nil when the row that was chosen does
// not apply.
func (g *gen) expr() (string, *value) {
	total := 0
	for _, r := range exprs {
		total += r.weight
	}
	k := g.IntN(total)
	var r exprRow
	for _, r = range exprs {
		if k -= r.weight; k < 0 {
			break
		}
	}
	a := g.choose(func(v *value) bool { return strings.Contains(r.kinds, kindOf(v)) })
	if a == nil {
		return "", nil
	}
	b := a
	if strings.Contains(r.code, "B") {
		if b = g.operand(a, false); b == nil {
			return "", nil
		}
		if r.code == "A.Unsqueeze(0).Expand(B.Size(0), A.Size(0))" {
			b = g.choose(func(v *value) bool { return v.rank() > 0 })
		}
	}
	rule := r.make
	if f := ruled[r.code]; f != nil {
		rule = f
	}
	w := &value{dtype: a.dtype, dims: a.dims}
	if rule != nil {
		if w = rule(a, b); w == nil {
			return "", nil
		}
	}
	if !small(w.dims) {
		return "", nil
	}
	w.eager = a.eager && b.eager
	w.mem = g.fresh()
	return substitute(r.code, a.name, b.name), w
}

// small bounds the values that a program computes with.
func small(dims []dim) bool { return len(dims) <= 4 && product(dims).at[4] <= 4096 }

// substitute puts names for the letters A and B where they stand alone.
func substitute(code, a, b string) string {
	var out strings.Builder
	letter := func(c byte) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
	}
	for i := range len(code) {
		alone := (i == 0 || !letter(code[i-1]) && code[i-1] != '.') && (i+1 == len(code) || !letter(code[i+1]))
		switch {
		case alone && code[i] == 'A':
			out.WriteString(a)
		case alone && code[i] == 'B':
			out.WriteString(b)
		default:
			out.WriteByte(code[i])
		}
	}
	return out.String()
}

// oneExpr declares a new value.
func oneExpr(g *gen) bool {
	code, w := g.expr()
	if w == nil {
		return false
	}
	g.let("expr", code, w)
	return true
}

// rebind gives a variable another tensor; values that shared its memory keep the old
// one.
func rebind(g *gen) bool {
	v := g.choose(func(v *value) bool {
		return ident.FindString(v.name) == v.name && v.float() && !strings.HasPrefix(v.name, "global")
	})
	if v == nil || g.depth > 0 {
		return false
	}
	w := g.operand(v, false)
	g.do("rebind", v.name+" = "+pick(g, v.name+".Tanh()", v.name+".Add("+w.name+")", v.name+".MulScalar(2)"))
	v.mem, v.eager = g.fresh(), v.eager && w.eager
	return true
}

// tuple takes the results of an operator that has several.
func tuple(g *gen) bool {
	v := g.choose(func(v *value) bool { return v.float() && v.rank() > 0 && v.dims[v.rank()-1].known() })
	if v == nil {
		return false
	}
	a, b := g.name("v"), g.name("v")
	last := v.rank() - 1
	dims := slices.Clone(v.dims[:last])
	var call string
	switch g.IntN(3) {
	case 0:
		call = "MaxDim(-1)"
	case 1:
		call, dims = "Sort(-1)", v.dims
	default:
		k := 1 + g.IntN(v.dims[last].at[0])
		call, dims = fmt.Sprintf("Topk(%d, -1)", k), with(v.dims, last, fixed(k))
	}
	g.emit(&Stmt{Kind: "tuple", Head: fmt.Sprintf("%s, %s := %s.%s", a, b, v.name, call), Defs: []string{a, b}})
	g.add(&value{name: a, dtype: v.dtype, dims: dims, eager: v.eager, mem: g.fresh()})
	g.add(&value{name: b, dtype: "i64", dims: dims, eager: v.eager, mem: g.fresh()})
	return true
}

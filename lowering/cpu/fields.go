package cpu

import (
	"reflect"
	"strconv"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/plan"
	"github.com/gofx-dev/gofx/shape"
)

// step makes the kernel step of a call: by rule, else by the operator. fields
// are its integers that depend on symbols, operands how many operands it reads.
func (b *builder) step(n *graph.Node, types []shape.Type) (k kernel.Step, fields []plan.Field, operands int, err error) {
	makeStep := func(attrs any, in []shape.Type) (kernel.Step, error) {
		operands = len(in)
		if r, ok := rules.Find(n); ok {
			if s, m := r(n, attrs, in); s != nil {
				operands = m
				return s, nil
			}
		}
		s, err := n.Op().Step(attrs, in)
		if err == nil && s == nil {
			err = lowering.Refuse(n, name, "it has no kernel")
		}
		return s, err
	}
	dims := symbolic(n, types)
	if len(dims) == 0 {
		k, err = makeStep(n.Attrs(), types)
		return pointer(k), nil, operands, err
	}
	// Two sets of numbers for the symbols tell constants from what depends on
	// symbols, and what depends on them in which way.
	var made [2]kernel.Step
	var vals [2][]int
	for i := range made {
		env := sampleEnv(dims, i)
		bound := func(s string) shape.Dim { return shape.Const(env[s]) }
		for _, d := range dims {
			v, err := d.Eval(plan.Values(env))
			if err != nil {
				v = -1 // too large for these samples: matches nothing
			}
			vals[i] = append(vals[i], v)
		}
		in := append([]shape.Type(nil), types...)
		for j := range in {
			if in[j].Kind() != shape.None {
				in[j] = in[j].Bind(bound)
			}
		}
		if made[i], err = makeStep(n.Op().Codec().Bind(n.Attrs(), bound), in); err != nil {
			return nil, nil, 0, err
		}
	}
	m := matcher{dims: dims, vals: vals}
	x, y := reflect.Indirect(reflect.ValueOf(made[0])), reflect.Indirect(reflect.ValueOf(made[1]))
	if where := m.compare("", x, y); where != "" {
		return nil, nil, 0, n.Error(lowering.SymbolUse, where+" of the kernel follows from symbolic sizes in a way that cannot be computed later").
			WithHint("pin the symbols (Options.Shapes), or let the kernel take the size from its operands")
	}
	return pointer(made[0]), m.fields, operands, nil
}

// pointer makes a kernel given as a value one given by pointer.
func pointer(k kernel.Step) kernel.Step {
	v := reflect.ValueOf(k)
	if k == nil || v.Kind() == reflect.Pointer {
		return k
	}
	p := reflect.New(v.Type())
	p.Elem().Set(v)
	if s, ok := p.Interface().(kernel.Step); ok {
		return s
	}
	return k
}

// symbolic returns the distinct sizes in attributes and operand types that hold
// symbols.
func symbolic(n *graph.Node, types []shape.Type) []shape.Dim {
	var dims []shape.Dim
	seen := map[string]bool{}
	add := func(d shape.Dim) {
		if _, ok := d.Int(); ok || d.IsUnknown() || seen[d.String()] {
			return
		}
		seen[d.String()] = true
		dims = append(dims, d)
	}
	n.Op().Codec().Symbols(n.Attrs(), add)
	for _, t := range types {
		for _, d := range t.Dims().Slice() {
			add(d)
		}
	}
	return dims
}

// sampleEnv gives each symbol a number that is unlikely to be a constant of a
// kernel, and small enough for products of some of them.
func sampleEnv(dims []shape.Dim, set int) map[string]int {
	env := map[string]int{}
	for _, d := range dims {
		for _, s := range d.Symbols() {
			if _, ok := env[s]; !ok {
				env[s] = 24 * (409 + 37*len(env) + 701*set)
			}
		}
	}
	return env
}

// matcher compares two makings of one kernel.
type matcher struct {
	dims   []shape.Dim
	vals   [2][]int
	fields []plan.Field
}

// compare returns "" when x and y agree but for integers that are one of the
// sizes, which it records; else the selector of a difference.
func (m *matcher) compare(path string, x, y reflect.Value) string {
	if !x.IsValid() || !y.IsValid() || x.Type() != y.Type() {
		return named(path)
	}
	switch x.Kind() {
	case reflect.Struct:
		for i := range x.NumField() {
			f := x.Type().Field(i)
			sub := f.Name
			if path != "" {
				sub = path + "." + f.Name
			}
			if where := m.compare(sub, x.Field(i), y.Field(i)); where != "" {
				return where
			}
		}
		return ""
	case reflect.Slice, reflect.Array:
		if x.Len() != y.Len() {
			return named(path)
		}
		for i := range x.Len() {
			if where := m.compare(path+"["+strconv.Itoa(i)+"]", x.Index(i), y.Index(i)); where != "" {
				return where
			}
		}
		return ""
	}
	if !x.Comparable() || !y.Comparable() {
		return named(path)
	}
	if x.Equal(y) || (x.CanFloat() && x.Float() != x.Float() && y.Float() != y.Float()) {
		return ""
	}
	if d, ok := m.size(x, y); ok {
		m.fields = append(m.fields, plan.Field{Name: path, Expr: d})
		return ""
	}
	return named(path)
}

// size returns the size whose two samples are x and y.
func (m *matcher) size(x, y reflect.Value) (shape.Dim, bool) {
	number := func(v reflect.Value) int {
		switch {
		case v.CanInt():
			return int(v.Int())
		case v.CanUint():
			return int(v.Uint())
		}
		return -1
	}
	if number(x) < 0 {
		return shape.Dim{}, false
	}
	for i, d := range m.dims {
		if number(x) == m.vals[0][i] && number(y) == m.vals[1][i] {
			return d, true
		}
	}
	return shape.Dim{}, false
}

func named(path string) string {
	if path == "" {
		return "the type"
	}
	return "field " + path
}

package xla

import (
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering/xla/internal/stablehlo"
)

// XLA rewrites what it is given: a product and a sum are rounded once (a fused multiply-add), x/y with a y that is
// broadcast is x·(1/y), (x+1)-1 is x, log(exp(x)) too, and 0·x with a 0 that was false is 0, whatever x is.
// Most of that is within a few roundings, until a value in between overflows, is no number, or is
// rounded to an integer or compared. Guards keep programs from it (decision 0083):
//
//   - where a rewrite would look through an operand, a barrier is in between;
//   - products that are added are rounded first, where the sum decides something.
type guards struct {
	from    map[*value]*stablehlo.Op // what gives a value
	decides map[*value]bool          // values by whose exact bits something is decided
	open    bool                     // whether sizes will be left open
	grown   bool                     // whether the last walk has found more of them
	origins map[*value]string        // see origin
	known   map[*value]bool          // see constant
}

// guard puts guards into main, and notes for which node each of them is.
func (e *emitter) guard() {
	g := &guards{from: map[*value]*stablehlo.Op{}, decides: map[*value]bool{}, open: e.open, grown: true, origins: map[*value]string{}, known: map[*value]bool{}}
	main := e.build.Region
	g.index(main)
	for g.grown {
		g.grown = false
		g.mark(main)
	}
	var made []*graph.Node
	for i, n := range g.insert(main) {
		if i < len(e.made) {
			made = append(made, slices.Repeat([]*graph.Node{e.made[i]}, n)...)
		}
	}
	e.made = made
}

func (g *guards) index(r *stablehlo.Region) {
	for _, o := range r.Ops {
		for _, v := range o.Results {
			g.from[v] = o
		}
		for _, inner := range o.Regions {
			g.index(inner)
		}
	}
}

// deciding are operations whose results jump when an operand moves by a rounding; of a convert
// only one to integers does.
var deciding = map[string]bool{"floor": true, "ceil": true, "round_nearest_even": true, "compare": true, "remainder": true}

// local are operations of which each element of a result follows from one element of an operand, or from
// those at the same place.
var local = map[string]bool{"add": true, "subtract": true, "multiply": true, "divide": true, "negate": true, "abs": true, "maximum": true,
	"minimum": true, "select": true, "sqrt": true, "convert": true, "optimization_barrier": true}

// moving are operations whose results are elements of their first operand, or of all in concatenate.
var moving = map[string]bool{"broadcast_in_dim": true, "reshape": true, "transpose": true, "reverse": true, "slice": true, "dynamic_slice": true,
	"concatenate": true, "pad": true, "gather": true, "custom_call": true}

func (g *guards) add(v *value) {
	if v.Type.Elem.IsFloat() && !g.decides[v] {
		g.decides[v], g.grown = true, true
	}
}

// mark finds what decides, from the end of a region to its beginning.
func (g *guards) mark(r *stablehlo.Region) {
	for _, o := range slices.Backward(r.Ops) {
		for _, inner := range o.Regions {
			g.mark(inner)
		}
		g.regions(o)
		decides := deciding[o.Name] || o.Name == "convert" && o.Results[0].Type.Elem.IsInt()
		if decides && o.Name == "compare" && o.Operands[0] == o.Operands[1] {
			continue // asks for NaN
		}
		if decides || (local[o.Name] || moving[o.Name]) && g.decides[o.Results[0]] {
			for _, v := range o.Operands {
				g.add(v)
			}
		}
	}
}

// regions carries what decides through operations with regions.
func (g *guards) regions(o *stablehlo.Op) {
	switch o.Name {
	case "if", "while":
		for k, v := range o.Results {
			g.control(o, k, g.decides[v])
		}
	case "reduce", "reduce_window", "sort":
		args := o.Regions[0].Args
		for k, v := range o.Operands {
			at := []*value{args[k%len(args)]}
			if o.Name == "sort" { // which has the elements of each operand side by side
				at = args[2*k : 2*k+2]
			}
			keeps := o.Name == "sort" || k < len(o.Results) && keeping[o.Regions[0].Ops[0].Name]
			if slices.ContainsFunc(at, func(a *value) bool { return g.decides[a] }) || keeps && g.decides[o.Results[k]] {
				g.add(v)
			}
		}
	}
}

// keeping are the operations of reductions that give one of the elements.
var keeping = map[string]bool{"maximum": true, "minimum": true}

// control carries whether value k of a branch or a loop decides.
func (g *guards) control(o *stablehlo.Op, k int, decides bool) {
	for _, r := range o.Regions {
		decides = decides || k < len(r.Args) && g.decides[r.Args[k]]
	}
	if !decides {
		return
	}
	bodies := o.Regions
	if o.Name == "while" {
		g.add(o.Operands[k])
		bodies = bodies[1:]
	}
	for _, r := range bodies {
		g.add(r.Returned()[k])
	}
}

// insert puts the guards of a region's operations in front of them and says how many operations each has become.
func (g *guards) insert(r *stablehlo.Region) []int {
	counts := make([]int, len(r.Ops))
	b := &stablehlo.Builder{Region: &stablehlo.Region{Args: r.Args}}
	for i, o := range r.Ops {
		for _, inner := range o.Regions {
			g.insert(inner)
		}
		before := len(b.Region.Ops)
		g.guarded(&call{Builder: b}, o)
		b.Region.Ops = append(b.Region.Ops, o)
		counts[i] = len(b.Region.Ops) - before
	}
	r.Ops = b.Region.Ops
	return counts
}

// guarded replaces operands of an operation by guarded ones.
func (g *guards) guarded(c *call, o *stablehlo.Op) {
	if len(o.Results) != 1 || !o.Results[0].Type.Elem.IsFloat() {
		return
	}
	sum := o.Name == "add" || o.Name == "subtract"
	exact := sum && g.decides[o.Results[0]]
	o.Operands = slices.Clone(o.Operands) // rules give several operations one list
	for i, v := range o.Operands {
		switch {
		case exact && g.origin(v) == "multiply" && wide(v.Type.Elem) == v.Type.Elem:
			o.Operands[i] = c.opaque(v, v)
		case g.rewritten(o, i) && g.open: // XLA has no barrier of sizes that are bounds
			by := v
			if g.repeated(v) { // of what is broadcast, and nothing else, the number would be computed ahead
				by = o.Operands[1-i]
			}
			o.Operands[i] = c.opaque(v, by)
		case g.rewritten(o, i):
			o.Operands[i] = c.Op("optimization_barrier", v)
		}
	}
}

// rewritten reports whether XLA would make something else of an operation and what has made its operand i.
func (g *guards) rewritten(o *stablehlo.Op, i int) bool {
	made := g.origin(o.Operands[i])
	switch o.Name {
	case "log":
		return made == "exponential" || made == "power" || made == "sqrt" || made == "rsqrt"
	case "power":
		return made == "exponential" || made == "power"
	case "divide":
		return made == "exponential" || made == "power" || made == "divide" || i == 1 && g.repeated(o.Operands[i]) ||
			made == "multiply" && g.constant(o.Operands[1-i])
	case "multiply":
		return made == "truth" || (made == "multiply" || made == "divide") && g.constant(o.Operands[1-i])
	case "add", "subtract":
		return (made == "add" || made == "subtract") && g.constant(o.Operands[1-i]) || o.Name == "add" && g.zero(o.Operands[i])
	}
	return false
}

// origin is the name of the operation that has made the elements of a value, wherever these have been moved:
// "truth" where they are 0 and 1 for false and true.
func (g *guards) origin(v *value) string {
	name, seen := g.origins[v]
	if !seen {
		name = g.made(g.from[v])
		g.origins[v] = name
	}
	return name
}

func (g *guards) made(o *stablehlo.Op) string {
	switch {
	case o == nil:
		return ""
	case o.Name == "convert" && o.Operands[0].Type.Elem == array.Bool:
		return "truth"
	case o.Name == "select":
		if made := g.origin(o.Operands[2]); made == "multiply" {
			return made
		}
		return g.origin(o.Operands[1])
	case moving[o.Name] || o.Name == "negate":
		return g.origin(o.Operands[0])
	}
	return o.Name
}

// repeated reports whether elements of a value are the same as others, as far as a compiler sees.
func (g *guards) repeated(v *value) bool {
	for o := g.from[v]; o != nil; o = g.from[o.Operands[0]] {
		if o.Name == "broadcast_in_dim" || g.constant(v) {
			return true
		}
		if !moving[o.Name] && o.Name != "convert" && o.Name != "negate" {
			return false
		}
	}
	return false
}

// constant reports whether a value is known when a program is compiled.
func (g *guards) constant(v *value) bool {
	known, seen := g.known[v]
	o := g.from[v]
	if !seen && o != nil {
		known = o.Name == "constant" || (local[o.Name] || moving[o.Name]) &&
			!slices.ContainsFunc(o.Operands, func(v *value) bool { return !g.constant(v) })
		g.known[v] = known
	}
	return known
}

// zero reports whether all elements of a value are constants that are zero: to add these is no more than a move to
// XLA, which -0 would stay.
func (g *guards) zero(v *value) bool {
	o := g.from[v]
	for o != nil && moving[o.Name] && len(o.Operands) == 1 {
		o = g.from[o.Operands[0]]
	}
	return o != nil && o.Name == "constant" && !slices.ContainsFunc(o.Get("value").(stablehlo.Dense).Bits, func(b uint64) bool { return b != 0 })
}

// opaque returns v so that no compiler sees what has made it, or adds to a product before that is rounded: to its bits,
// as an integer, 1 is added where the bits of another value are those of one NaN. That is v itself, then another
// NaN, or what is divided by v.
func (c *call) opaque(v, by *value) *value {
	as := integers[v.Type.Elem]
	t := v.Type.As(as.bits)
	bits := func(v *value) *value {
		return c.Add(&stablehlo.Op{Name: "bitcast_convert", Operands: []*value{v}}, t)[0]
	}
	seen := bits(v)
	one := seen
	if by != v {
		one = bits(by)
	}
	one = c.Convert(c.Compare("EQ", one, c.Const(t, as.nan)), as.bits)
	return c.Add(&stablehlo.Op{Name: "bitcast_convert", Operands: []*value{c.Op("add", seen, one)}}, v.Type)[0]
}

// integers has of each type of floats the integers of its width, and the bits of a NaN.
var integers = map[array.DType]struct {
	bits array.DType
	nan  uint64
}{
	array.F16: {array.I16, 0x7DA5}, array.BF16: {array.I16, 0x7FA5}, array.F32: {array.I32, 0x7FA5A5A5}, array.F64: {array.I64, 0x7FF5A5A5A5A5A5A5},
}

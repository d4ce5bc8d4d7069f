package xla

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/shard"
	"github.com/gofx-dev/gofx/lowering/xla/internal/stablehlo"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

type (
	value = stablehlo.Value
	hlo   = stablehlo.Type
)

// Emit returns the program of a module, which is not changed. Options.Shapes pins
// symbols, all of which must have a size, Options.Outputs chooses results, Options.Donate and Options.Into
// are written as attributes of arguments (jax.buffer_donor, tf.aliasing_output); the other options are for what
// compiles the program. The error lists, positioned, every
// call that cannot be part of a program (lowering.Unsupported), and every type or
// size that is not known (lowering.UnknownSize).
func Emit(m *graph.Module, o lowering.Options) (p *Program, err error) {
	ready, err := lowering.Prepare(m, o)
	if err != nil {
		return nil, err
	}
	if err := o.CheckIntoTypes(ready.Graph); err != nil {
		return nil, err
	}
	defer diag.Catch(&err)
	return emitted(&emitter{module: ready, donate: o.Donate, into: o.Into})
}

// emitted returns the program, verified.
func emitted(e *emitter) (*Program, error) {
	p, err := e.program()
	if err != nil {
		return nil, err
	}
	for _, i := range e.donate {
		if p.code.Donated == nil {
			p.code.Donated = make([]bool, len(p.code.Main.Args))
		}
		p.code.Donated[i] = true
	}
	for _, pair := range e.into {
		p.code.Alias(pair.Input, pair.Result)
	}
	if err := stablehlo.Verify(p.code); err != nil {
		return nil, diag.Bug("the emitted program does not verify: " + err.Error())
	}
	return p, nil
}

// Supports reports whether a call can be part of a program, by a rule or by what is written
// for it with other operators; if not, why. Of a call whose sizes are symbols it says whether
// there are rules.
func Supports(n *graph.Node) (ok bool, reason string) {
	if ok, why := direct(n); n.Op() == nil || n.Op().Structural() {
		return ok, why
	}
	return lowering.TryCall(n, func(m *graph.Module) error {
		if !sized(n) {
			return legalize(m.Graph)
		}
		_, err := Emit(m, lowering.Options{})
		return err
	})
}

// sized reports whether all sizes of a call are numbers.
func sized(n *graph.Node) bool {
	known := true
	for _, t := range n.OperandTypes() {
		if _, _, ok := t.Concrete(); t.Kind() == shape.Tensor && !ok {
			known = false
		}
	}
	n.Op().Codec().Symbols(n.Attrs(), func(d shape.Dim) {
		if _, ok := d.Int(); !ok {
			known = false
		}
	})
	return known
}

// direct reports whether the emitter takes a call as it is.
func direct(n *graph.Node) (ok bool, reason string) {
	o := n.Op()
	switch {
	case o == nil:
		return false, "nothing is known of the module"
	case rules[o] != nil && (only[o] == nil || only[o](n)):
		return true, ""
	case o == op.Cond || o == op.While || o == op.Scan:
		return len(n.Regions()) > 0, "it has no regions"
	case o == op.GetItem || o == op.Dim:
		return true, ""
	case o == op.Assign:
		return false, "it writes to the state, which programs are given as arguments"
	case unexpanded[o] != "":
		return false, unexpanded[o]
	case o.ByValue:
		return false, "the sizes of its results follow from values"
	case o.Scalar():
		return true, ""
	case o.Composite():
		return false, "it is defined by other operators"
	case expansions[o] != nil:
		return false, ""
	}
	return false, "there is no rule for it"
}

// emitter makes the operations of one graph. Regions have emitters of their own, which
// share the list of errors.
type emitter struct {
	module  *graph.Module
	donate  []int // inputs
	into    []lowering.Into
	open    bool        // sizes will be left open
	plan    *shard.Plan // nil: for one device
	build   *stablehlo.Builder
	weights map[string]*value
	values  map[*graph.Node][]*value
	errs    *diag.List
	made    []*graph.Node // of each operation the node that it was made for
}

// program emits the module's graph as main.
func (e *emitter) program() (*Program, error) {
	if err := legalize(e.module.Graph); err != nil {
		return nil, err
	}
	p := &Program{}
	e.errs = &diag.List{}
	for _, n := range e.module.Graph.Inputs() {
		p.Inputs = append(p.Inputs, e.argument(n, n.Name(), n.Type()))
	}
	seen := map[string]bool{}
	for n := range e.module.Graph.All() {
		if n.Opcode() == graph.GetAttr && !seen[n.Target()] {
			seen[n.Target()] = true
			p.Weights = append(p.Weights, e.argument(n, n.Target(), e.module.Param(n.Target()).TypeOf()))
		}
	}
	if len(*e.errs) > 0 {
		return nil, e.failed()
	}
	var types []hlo
	for _, a := range append(append([]Argument(nil), p.Inputs...), p.Weights...) {
		types = append(types, stablehlo.Of(a.DType, a.Dims...))
	}
	e.build = stablehlo.NewBuilder(types...)
	e.weights = map[string]*value{}
	for i, a := range p.Weights {
		e.weights[a.Name] = e.build.Arg(len(p.Inputs) + i)
	}
	out := e.graph(e.module.Graph, e.build.Region.Args[:len(p.Inputs)])
	if len(*e.errs) > 0 {
		return nil, e.failed()
	}
	e.build.Return(out...)
	e.prune()
	e.pin()
	e.guard()
	for _, v := range out {
		p.Outputs = append(p.Outputs, shape.TensorType(v.Type.Elem, shape.ConstDims(v.Type.Dims...)))
	}
	p.code = &stablehlo.Module{Name: moduleName(e.module.Graph.Name), Main: e.build.Region}
	e.shard(p)
	return p, nil
}

// prune drops operations that nothing uses, such as reshapes that broadcasts look through.
func (e *emitter) prune() {
	var made []*graph.Node
	for i, stays := range e.build.Region.Prune() {
		if stays && i < len(e.made) { // the return is no node's
			made = append(made, e.made[i])
		}
	}
	e.made = made
}

func (e *emitter) failed() error {
	e.errs.Sort()
	return *e.errs
}

// argument describes an argument of main, or reports why it cannot be one.
func (e *emitter) argument(n *graph.Node, name string, t shape.Type) Argument {
	d, dims, ok := t.Concrete()
	switch {
	case !ok:
		*e.errs = append(*e.errs, unknown(n, t))
	case stablehlo.ElemName(d) == "":
		*e.errs = append(*e.errs, n.Error(lowering.Unsupported, "target "+Name+" cannot take "+name+": "+narrow(t)).
			WithHint("dequantize the tensor ahead"))
	}
	return Argument{Name: name, DType: d, Dims: dims}
}

func narrow(t shape.Type) string { return "values of type " + t.DType().String() + " have no rules" }

func unknown(n *graph.Node, t shape.Type) *diag.Error {
	e := lowering.At(n, lowering.UnknownSize, n.Name()+" is "+t.String()+", a program needs its sizes")
	var free []string
	for _, d := range t.Dims().Slice() {
		free = append(free, d.Symbols()...)
	}
	if len(free) > 0 {
		return e.WithHint("pin " + strings.Join(free, ", ") + " by Options.Shapes")
	}
	return e.WithHint("capture the graph with input types")
}

// moduleName keeps of a graph's name what MLIR takes without quotes.
func moduleName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return '_'
	}, name)
	if name == "" || unicode.IsDigit(rune(name[0])) {
		name = "_" + name
	}
	return name
}

// graph emits the nodes of a graph on its inputs and returns what it returns.
func (e *emitter) graph(g *graph.Graph, in []*value) []*value {
	e.values = map[*graph.Node][]*value{}
	for i, n := range g.Inputs() {
		e.values[n] = []*value{in[i]}
	}
	for n := range g.Nodes() {
		switch n.Opcode() {
		case graph.Placeholder:
		case graph.GetAttr:
			e.values[n] = e.laid(n, []*value{e.weights[n.Target()]})
		case graph.Output:
			var out []*value
			for _, a := range n.Args() {
				out = append(out, e.values[a]...)
			}
			return out
		default:
			e.values[n] = e.laid(n, e.call(n))
		}
		for len(e.made) < len(e.build.Region.Ops) {
			e.made = append(e.made, n)
		}
	}
	return nil
}

// call emits one call. What cannot be emitted is entered into the errors, and a value
// of the right type stands for it, so that the rest is looked at, too.
func (e *emitter) call(n *graph.Node) (out []*value) {
	types, bad := resultTypes(n)
	if bad != nil {
		*e.errs = append(*e.errs, bad)
		return nil
	}
	defer func() {
		r := recover()
		why, ok := r.(refusal)
		if r != nil && !ok {
			panic(r)
		}
		if ok {
			*e.errs = append(*e.errs, lowering.Refuse(n, Name, string(why)))
			out = nil
			for _, t := range types {
				out = append(out, &value{Type: t})
			}
		}
	}()
	c := &call{Builder: e.build, node: n, out: types, open: e.open}
	for i, a := range n.Args() {
		if a == nil {
			c.in = append(c.in, nil)
			continue
		}
		v := e.values[a]
		if n.Op() == op.GetItem {
			k := n.Attrs().(op.GetItemAttrs).Index
			if k >= len(v) && len(*e.errs) > 0 {
				return nil // of a call that is reported
			}
			return v[k:][:1]
		}
		if len(v) != 1 {
			if len(*e.errs) == 0 {
				refuse("operand " + strconv.Itoa(i) + " is a tuple")
			}
			return nil
		}
		c.in = append(c.in, v[0])
	}
	switch n.Op() {
	case op.Cond:
		return e.cond(c)
	case op.While:
		return e.while(c)
	case op.Scan:
		return e.scan(c)
	case op.Dim:
		axis, _ := op.Axis(n.Attrs().(op.AxisAttrs).Axis, c.in[0].Type.Rank())
		return []*value{c.Const(types[0], uint64(c.in[0].Type.Dims[axis]))}
	}
	for _, t := range types {
		if stablehlo.ElemName(t.Elem) == "" {
			refuse("its result is " + t.Elem.String() + ", which has no rules")
		}
	}
	if r := rules[n.Op()]; r != nil {
		return r(c)
	}
	return elementwise(c)
}

// resultTypes returns the types of a call's results.
func resultTypes(n *graph.Node) ([]hlo, *diag.Error) {
	members := []shape.Type{n.Type()}
	if n.Type().Kind() == shape.Tuple {
		members = nil
		for i := range n.Type().Len() {
			members = append(members, n.Type().Member(i))
		}
	}
	var out []hlo
	for _, t := range members {
		d, dims, ok := t.Concrete()
		if !ok {
			return nil, unknown(n, t)
		}
		out = append(out, stablehlo.Of(d, dims...))
	}
	return out, nil
}

// refusal is what rules panic with when they cannot emit a call.
type refusal string

func refuse(why string) { panic(refusal(why)) }

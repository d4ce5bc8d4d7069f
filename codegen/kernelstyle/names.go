package kernelstyle

import (
	"cmp"
	"strconv"

	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/goname"
)

// packageNames are what identifiers of generated code never are: the packages that
// it imports.
var packageNames = []string{"array", "kernel", "diag", "safetensors", "context", "io", "embed", "strconv", "slices", "runtime", "atomic", "bytes", "math"}

// newSet returns a set for a scope of the generated package.
func newSet(reserved ...string) *goname.Set {
	s := goname.NewSet(packageNames...)
	s.Reserve(reserved...)
	return s
}

// names are the identifiers that users of the package see, and the set of all that
// it declares.
type names struct {
	typ, prefix     string      // of the model; of what is not exported
	top             *goname.Set // declared by the package
	symbols         []string    // variables of the plan's symbols
	inputs, outputs []string    // parameters and results of Forward
}

func newNames(m *model) *names {
	n := &names{typ: m.opts.Type, prefix: goname.Lower(m.opts.Type), top: newSet()}
	for _, what := range []string{"State", "Weights", "Schema", "Literal", "File", "Read", "With", "Check"} {
		n.top.Reserve(n.prefix + what)
	}
	for _, what := range []string{"", "PeakBytes", "Result"} {
		n.top.Reserve(n.typ + what)
	}
	// Functions that are too long go on in others with numbers.
	for i := range mostParts(m) {
		n.top.Reserve(n.prefix+numbered("Run", i), n.prefix+numbered("Scratch", i))
	}
	params := newSet("m", "s", "w", "c", "r", "b", "n", "f", "ctx", "err", "l", "dst", n.typ, "New", "Load", "PeakBytes", "Result")
	for _, s := range m.Symbols {
		n.symbols = append(n.symbols, params.Unique(goname.Keep(s.Name)))
	}
	for _, k := range m.Inputs {
		n.inputs = append(n.inputs, params.Lower(m.Buffers[k].Name))
	}
	leaf := map[int]string{}
	leafNames(m.Structure, "", leaf)
	for i, k := range m.Outputs {
		n.outputs = append(n.outputs, params.Lower(cmp.Or(m.opts.output(i), leaf[i], m.valueName(k))))
	}
	return n
}

// leafNames finds the names that a structure gives to the outputs.
func leafNames(s *graph.Structure, path string, names map[int]string) {
	if s == nil {
		return
	}
	if s.Kind == graph.LeafValue {
		if _, ok := names[s.Index]; !ok {
			names[s.Index] = path
		}
		return
	}
	for i, f := range s.Fields {
		key := ""
		switch {
		case i < len(s.Keys):
			key = s.Keys[i]
		case s.Kind == graph.SliceOf && path != "":
			key = strconv.Itoa(i)
		}
		sub := key
		if path != "" && key != "" {
			sub = path + "_" + key
		}
		leafNames(f, sub, names)
	}
}

// maker names a function that belongs to the model's type: New for Model, NewNet
// for Net.
func (n *names) maker(what string) string {
	if n.typ == "Model" {
		return what
	}
	return what + n.typ
}

// owned names what else belongs to the model's type: Result for Model, NetResult
// for Net.
func (n *names) owned(what string) string {
	if n.typ == "Model" {
		return what
	}
	return n.typ + what
}

// stateParam and weightsParam are the parameters of functions that compute.
func (n *names) stateParam() *jen.Statement   { return jen.Id("s").Op("*").Id(n.prefix + "State") }
func (n *names) weightsParam() *jen.Statement { return jen.Id("w").Op("*").Id(n.prefix + "Weights") }

// computeFunc opens a function that computes a part of the plan.
func (n *names) computeFunc(name string) *jen.Statement {
	return jen.Func().Id(name).Params(n.stateParam(), n.weightsParam())
}

func computeCall(name string) *jen.Statement { return jen.Id(name).Call(jen.Id("s"), jen.Id("w")) }

// symbolParams are the symbols as parameters, none for none.
func (n *names) symbolParams() []jen.Code {
	if len(n.symbols) == 0 {
		return nil
	}
	return []jen.Code{jen.List(ids(n.symbols)...).Int()}
}

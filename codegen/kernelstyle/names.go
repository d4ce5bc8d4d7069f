package kernelstyle

import (
	"cmp"
	"strconv"

	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/goname"
)

// packageNames are names that identifiers of generated code never use: the
// packages that it and its tests import.
var packageNames = []string{"array", "kernel", "diag", "safetensors", "context", "io", "iter", "embed", "strconv", "slices", "runtime", "atomic", "bytes", "math",
	"certificate", "testing", "fmt", "os"}

// newSet returns a set for a scope of the generated package.
func newSet(reserved ...string) *goname.Set {
	s := goname.NewSet(packageNames...)
	s.Reserve(reserved...)
	return s
}

// names are the identifiers that users of the package see, and the set of all that
// it declares.
type names struct {
	typ, prefix     string      // of the model; of the unexported declarations
	weightsType     string      // the struct of the model's weights
	body            bool        // of control flow: nothing is for users
	computes        string      // results of the functions, for comments
	kernelVars      kernelVars  // of all bodies
	top             *goname.Set // declared by the package
	symbols, same   []string    // variables of the plan's symbols, and of those that are as large
	inputs, outputs []string    // parameters and results of Forward
}

func newNames(model *model) *names {
	made := &names{typ: model.opts.Type, prefix: goname.Lower(model.opts.Type), computes: "the results", top: newSet(), kernelVars: kernelVars{}}
	made.weightsType = made.prefix + "Weights"
	for _, what := range []string{"State", "Weights", "Schema", "Literal", "File", "Read", "With", "Check"} {
		made.top.Reserve(made.prefix + what)
	}
	for _, what := range []string{"", "PeakBytes", "Result"} {
		made.top.Reserve(made.typ + what)
	}
	made.top.Reserve(made.owned(originName))
	// Functions that are too long go on in others with numbers.
	for i := range mostParts(model) {
		made.top.Reserve(made.prefix+numbered("Run", i), made.prefix+numbered("Scratch", i))
	}
	if len(model.kept) > 0 {
		made.top.Reserve(made.prefix+"StateNames", made.prefix+"StateSchema", made.owned("State"), "Load"+made.owned("State"))
	}
	params := newSet("m", "s", "w", "c", "r", "b", "n", "f", "ctx", "err", "l", "dst", made.typ, "New", "Load", "PeakBytes", "Result")
	if len(model.kept) > 0 {
		params.Reserve("state", "State")
	}
	if model.opts.Part {
		params.Reserve("in") // of Call
	}
	params.Include(made.top)
	for _, s := range model.Symbols {
		made.symbols = append(made.symbols, params.Unique(goname.Keep(s.Name)))
	}
	for _, s := range model.Same {
		made.same = append(made.same, params.Unique(goname.Keep(s.Name)))
	}
	for _, k := range model.Inputs {
		made.inputs = append(made.inputs, params.Lower(model.Buffers[k].Name))
	}
	leaf := map[int]string{}
	leafNames(model.Structure, "", leaf)
	for i, k := range model.Outputs {
		made.outputs = append(made.outputs, params.Lower(cmp.Or(model.opts.output(i), leaf[i], model.hints.result(k))))
	}
	return made
}

// leafNames finds the names that a structure gives to the outputs.
func leafNames(structure *graph.Structure, path string, names map[int]string) {
	if structure == nil {
		return
	}
	if structure.Kind == graph.LeafValue {
		if _, ok := names[structure.Index]; !ok {
			names[structure.Index] = path
		}
		return
	}
	for i, field := range structure.Fields {
		key := ""
		switch {
		case i < len(structure.Keys):
			key = structure.Keys[i]
		case structure.Kind == graph.SliceOf && path != "":
			key = strconv.Itoa(i)
		}
		sub := key
		if path != "" && key != "" {
			sub = path + "_" + key
		}
		leafNames(field, sub, names)
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

// owned names the other declarations of the model's type: Result for Model,
// NetResult for Net.
func (n *names) owned(what string) string {
	if n.typ == "Model" {
		return what
	}
	return n.typ + what
}

// stateParam and weightsParam are the parameters of functions that compute.
func (n *names) stateParam() *jen.Statement   { return jen.Id("s").Op("*").Id(n.prefix + "State") }
func (n *names) weightsParam() *jen.Statement { return jen.Id("w").Op("*").Id(n.weightsType) }

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

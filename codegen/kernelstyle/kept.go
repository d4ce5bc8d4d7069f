package kernelstyle

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/array/safetensors"
	"github.com/gofx-dev/gofx/codegen/gosrc"
	"github.com/gofx-dev/gofx/internal/goname"
	"github.com/gofx-dev/gofx/lowering/plan"
	"github.com/gofx-dev/gofx/shape"
)

// keptTensor is a tensor that steps write: part of the State that the caller owns,
// which begins as the weight of that path.
type keptTensor struct {
	path, field string // in files; of the State
	typ         shape.Type
	weight      *weight
}

// in reports whether a plan, or a body in it, reads or writes the tensor.
func (x *keptTensor) in(p *plan.Plan) bool {
	for q := range p.All() {
		if slices.ContainsFunc(q.Buffers, func(b plan.Buffer) bool { return b.Kind == plan.Weight && b.Path == x.path }) {
			return true
		}
	}
	return false
}

// typed are the element type and the sizes as arguments.
func (x *keptTensor) typed() []jen.Code {
	d, dims, _ := x.typ.Concrete()
	return append([]jen.Code{gosrc.DType(d)}, gosrc.Ints(dims)...)
}

// takeKept finds the buffers that steps write, sorted by path.
func (m *model) takeKept() {
	fields := goname.NewSet("Save", "All")
	for _, w := range m.weights {
		if m.written[w.path] && w.pack == nil {
			m.kept = append(m.kept, &keptTensor{w.path, fields.Upper(w.path), shape.TypeOf(w.array), w})
		}
	}
}

// takesState prints the parameter of functions that work on the caller's state, none
// where there is no such.
func (g *pkg) takesState() []jen.Code {
	if len(g.kept) == 0 {
		return nil
	}
	return []jen.Code{jen.Id("state").Op("*").Id(g.owned("State"))}
}

const keptText = `
// modelStateNames are the names of the tensors of a State, in order.
var modelStateNames = [...]string{NAMES}

// State holds the tensors that calls of the model change, for the calls that follow.
// It is made by KEEPERS and belongs to the caller, who may read and
// replace what is in it between calls. One call at a time works on it.
type State struct {
	FIELDS

	turn kernel.Turn
}

// NewState returns the state that the weights begin with.
func (m *Model) NewState() (*State, error) {
	w, err := m.loaded()
	if err != nil {
		return nil, err
	}
	s := &State{}
	COPIES
	return s, nil
}

// tensors are what the state holds, in order.
func (s *State) tensors() [COUNT]*array.Array {
	return [COUNT]*array.Array{TENSORS}
}

// check compares the state with what the model takes, and with the arguments of a call.
func (s *State) check(arguments ...*array.Array) error {
	if s == nil {
		return kernel.NoState(KEPT)
	}
	var c kernel.Checker
	CHECKS
	all := s.tensors()
	c.Own(modelStateNames[:], all[:], arguments)
	return c.Err()
}
`

// keptFileText has the files of a State.
const keptFileText = `
// modelStateSchema is the hash of names, types and shapes of the tensors of a State.
const modelStateSchema = SCHEMA

// LoadState reads a state that Save has written, of size bytes. The error lists every
// tensor that is missing, differs or is not expected.
func LoadState(r io.ReaderAt, size int64) (*State, error) {
	f, err := safetensors.Open(r, size)
	if err != nil {
		return nil, err
	}
	l := safetensors.NewLoader(f)
	s := &State{}
	LOADS
	if err := l.Err(modelStateSchema); err != nil {
		return nil, err
	}
	return s, nil
}

// Save writes the state as safetensors, between calls.
func (s *State) Save(to io.Writer) error {
	if err := s.check(); err != nil {
		return err
	}
	list := make([]safetensors.Named, len(modelStateNames))
	for i, a := range s.tensors() {
		list[i] = safetensors.Named{Name: modelStateNames[i], Array: a}
	}
	return safetensors.Write(to, list, safetensors.Checksums(list))
}
`

// keptGivenText has the tensors of a State for programs that keep them themselves.
const keptGivenText = `
// All yields the tensors of the state by their names, in order. A program that saves them between
// calls, and gives them to New or Bind, goes on from there with NewState.
func (s *State) All() iter.Seq2[string, *array.Array] {
	return func(yield func(string, *array.Array) bool) {
		for i, a := range s.tensors() {
			if !yield(modelStateNames[i], a) {
				return
			}
		}
	}
}
`

// printKept prints the State of a model, where it has one.
func (g *pkg) printKept(file *goFile) {
	if len(g.kept) == 0 {
		return
	}
	var names, fields, copies, loads, tensors, checks []jen.Code
	var named []safetensors.Named
	for _, x := range g.kept {
		field := jen.Id("s").Dot(x.field)
		typed := x.typed()
		names = append(names, gosrc.Quoted(x.path))
		fields = append(fields, jen.Id(x.field).Add(fromArray("Dense")).Types(gosrc.Elem(x.typ.DType())).Comment("// "+gosrc.Comment(x.path+" "+x.typ.String())))
		copies = append(copies, field.Clone().Dot("Array").Op("=").Add(fromArray("Clone")).Call(jen.Id("w").Dot(x.weight.field)))
		loads = append(loads, jen.Id("l").Dot("Tensor").Call(append([]jen.Code{jen.Op("&").Add(field).Dot("Array"), gosrc.Quoted(x.path)}, typed...)...))
		tensors = append(tensors, field.Clone().Dot("Array"))
		checks = append(checks, jen.Id("c").Dot("State").Call(append([]jen.Code{gosrc.Quoted(x.path), field.Clone().Dot("Array")}, typed...)...))
		named = append(named, safetensors.Named{Name: x.path, Array: x.weight.array})
	}
	keepers, text := "NewState or Load"+g.owned("State"), keptText+keptFileText
	if g.opts.Weights == WeightsGiven {
		keepers, text = "NewState", keptText+keptGivenText
	}
	file.template(text, g.with(map[string]any{
		"NAMES": jen.List(names...), "SCHEMA": hash(named), "FIELDS": fields, "COPIES": copies, "LOADS": loads,
		"COUNT": jen.Lit(len(g.kept)), "TENSORS": jen.List(tensors...), "CHECKS": checks,
		"State": g.owned("State"), "LoadState": "Load" + g.owned("State"), "KEEPERS": keepers, "KEPT": gosrc.Quoted(keepers),
	}))
}

// inUse prints how a call takes the caller's state to itself.
func (g *pkg) inUse() []jen.Code {
	if len(g.kept) == 0 {
		return nil
	}
	turn := jen.Id("state").Dot("turn")
	return []jen.Code{gosrc.IfErrOf(jen.Add(turn).Dot("Take").Call(), jen.Err()), jen.Defer().Add(turn).Dot("Give").Call()}
}

// stateDoc describes in the package's comment the state that calls change.
func (g *pkg) stateDoc() string {
	what := strconv.Itoa(len(g.kept)) + " tensors"
	if len(g.kept) < 4 {
		var paths []string
		for _, x := range g.kept {
			paths = append(paths, x.path)
		}
		what = strings.Join(paths, ", ")
	}
	return "Calls change " + what + ", which a " + g.owned("State") + " holds; it belongs to the caller."
}

package work

import (
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array/weights"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/onnx"
	"github.com/gofx-dev/gofx/shape"
)

// inputNames returns the names of the inputs.
func (c *captured) inputNames() []string {
	var names []string
	for _, n := range c.gm.Graph.Inputs() {
		names = append(names, n.Target())
	}
	return names
}

// outputNames returns a name for each operand of the output node: those of the
// source, else the keys of the structure, else the nodes' own. Names are unique.
func (c *captured) outputNames() []string {
	out := output(c.gm.Graph)
	if out == nil {
		return nil
	}
	names := make([]string, out.NumArgs())
	if s := out.Structure(); s != nil {
		s.NameLeaves(names)
	}
	given := c.src.Outputs
	seen := map[string]bool{}
	for i := range names {
		switch {
		case len(given) == len(names) && given[i] != "":
			names[i] = given[i]
		case names[i] == "" && out.Arg(i) != nil:
			names[i] = out.Arg(i).Name()
		}
		for base, k := names[i], 1; seen[names[i]]; k++ {
			names[i] = base + "_" + strconv.Itoa(k)
		}
		seen[names[i]] = true
	}
	return names
}

func output(g *graph.Graph) *graph.Node {
	if n := g.Last(); n != nil && n.Opcode() == graph.Output {
		return n
	}
	return nil
}

// openWeights opens the job's file of weights, of which models in ONNX's format are one,
// with the names that -rename gives.
func openWeights(j *Job) (f weights.File, err error) {
	if file, _ := weights.Split(j.Weights); filepath.Ext(file) == ".onnx" {
		f, err = onnx.OpenWeights(j.Weights)
	} else {
		f, err = weights.Open(j.Weights)
	}
	if err != nil || len(j.Rename) == 0 {
		return f, err
	}
	renamed, err := weights.Rename(f, j.Rename...)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return renamed, nil
}

// wanted are the tensors that weights are for, in the order of the model.
type wanted struct {
	names   []string
	types   map[string]shape.Type
	aliases map[string][]string // further names of tied tensors
}

// in reports whether a file has a tensor, under any of its names.
func (w *wanted) in(f weights.File, name string) bool {
	return slices.ContainsFunc(append([]string{name}, w.aliases[name]...), func(name string) bool {
		_, _, ok := f.Type(name)
		return ok
	})
}

func (w *wanted) add(name string, t shape.Type) {
	w.names = append(w.names, name)
	w.types[name] = t
}

func wantedOfState(m any) wanted {
	w := wanted{types: map[string]shape.Type{}, aliases: map[string][]string{}}
	for _, e := range nn.StateDict(m) {
		w.add(e.Name, e.Tensor.Type())
		w.aliases[e.Name] = e.Aliases
	}
	return w
}

func wantedOfParams(m *graph.Module) wanted {
	w := wanted{types: map[string]shape.Type{}}
	for _, p := range m.Params() {
		w.add(p.Path, p.TypeOf())
	}
	return w
}

// unmatched adds to an error about unmatched names of weights the cure for this program's
// user: the cures of the codes are calls in Go.
func (j *Job) unmatched(err error, f weights.File, all wanted) error {
	var list diag.List
	if err == nil {
		return nil
	}
	list.Add(err)
	unexpected := map[string]bool{}
	for _, e := range list {
		if e.Code == nn.UnexpectedWeight || e.Code == graph.WeightUnexpected {
			unexpected[e.Op] = true
		}
	}
	// The order of the file and of the model, not that of the messages, says which is which where types are equal.
	have := slices.DeleteFunc(f.Names(), func(name string) bool { return !unexpected[name] })
	want := slices.DeleteFunc(slices.Clone(all.names), func(name string) bool { return all.in(f, name) }) // also the counters that may be missing
	hint := renaming(f, have, want, all.types)
	for _, e := range list {
		switch e.Code {
		case nn.UnexpectedWeight, graph.WeightUnexpected, nn.MissingWeight, graph.WeightMissing:
			e.Hint = hint
		case nn.WeightType, graph.WeightMismatch, nn.WeightShape:
			e.Hint = "give weights of these types; fxgen stats FILE lists what a file has"
		}
	}
	return list
}

// renaming is the hint for names that do not match: rules that make them, where there are any.
func renaming(f weights.File, have, want []string, types map[string]shape.Type) string {
	fits := func(have, want string) bool {
		d, dims, ok := f.Type(have)
		return ok && shape.TensorType(d, shape.ConstDims(dims...)).Same(types[want])
	}
	proposed := weights.Renames(have, want, fits)
	if len(proposed.Rules) == 0 {
		return "give the weights of this model, or rename those of the file with -rename 'FROM=TO', as in 'norm*=bn*'"
	}
	flags := make([]string, len(proposed.Rules))
	for i, rule := range proposed.Rules {
		flags[i] = "-rename " + quoted(rule)
	}
	return proposed.Hint(strings.Join(flags, " "))
}

// quoted quotes a word for a shell.
func quoted(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

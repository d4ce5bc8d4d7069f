package onnx

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	pb "github.com/gofx-dev/gofx/internal/onnxpb"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// Types that inputs are given when a model is imported (Options.Inputs), in place of the
// file's types, and errors that such types cure.

// given is the meaning that given types assign to the file's letters.
type given struct {
	types map[string]shape.Type // by input, those that are right
	// letters are the sizes that the file's names of sizes became; names that became
	// different ones in different inputs are left as they are.
	letters map[string]shape.Dim
}

// readGiven checks the types given, and notes the new values of the file's letters.
func (im *importer) readGiven(types map[string]shape.Type) {
	im.given = given{types: map[string]shape.Type{}, letters: map[string]shape.Dim{}}
	split := map[string]bool{}
	rest := maps.Clone(types)
	for _, in := range im.File.inputs() {
		held, of := holds(in.Type)
		if held == nil {
			held = in.Type
		}
		for _, name := range im.parts(in.Name, in.Type, im.lengths) {
			t, ok := types[name]
			if !ok {
				continue
			}
			delete(rest, name)
			if err := fitsFile(t, held); err != nil {
				im.fail("input "+diag.Quote(name), err)
				continue
			}
			im.given.types[name] = t
			if held.Tensor.Shape != nil && !of.sequence {
				im.given.note(t, held.Tensor.Shape, split)
			}
		}
	}
	maps.DeleteFunc(im.given.letters, func(name string, _ shape.Dim) bool { return split[name] })
	for _, name := range slices.Sorted(maps.Keys(rest)) {
		im.fail("", diag.New(CodeModel, "a type is given for "+diag.Quote(name)+", which is no input").
			WithHint("inputs are "+inputNames(im.model.Graph)))
	}
}

// note enters the values of an input's letters, and which letters get several values.
func (g *given) note(t shape.Type, s *pb.Shape, split map[string]bool) {
	for i, d := range s.Dims {
		to := t.Dim(i)
		if d.Known || letterOf(d) == "" || to.IsUnknown() {
			continue
		}
		if have, ok := g.letters[d.Param]; ok && !have.Equal(to) {
			split[d.Param] = true
		}
		g.letters[d.Param] = to
	}
}

// fitsFile compares a type that is given with the one of the file, whose sizes it replaces.
func fitsFile(t shape.Type, file *pb.Type) *diag.Error {
	if t.Kind() != shape.Tensor || !t.Ranked() {
		return diag.New(CodeModel, "the type given is "+t.String()+", expected one with sizes").WithHint("write sizes as numbers or letters: f32[N,3]")
	}
	if file == nil || file.Tensor == nil {
		return diag.New(CodeType, "the input is "+kindOf(file)+", expected a tensor")
	}
	d, err := dtypeOf(file.Tensor.Elem)
	if err != nil {
		return err
	}
	const hint = "give other sizes, with the file's element type and number of dimensions"
	if t.DType() != d && t.DType() != array.Invalid {
		return diag.New(CodeModel, "the type given is "+t.String()+", the file has elements of "+d.String()).WithHint(hint)
	}
	if s := file.Tensor.Shape; s != nil && len(s.Dims) != t.Rank() {
		return diag.New(CodeModel, "the type given is "+t.String()+", the file has "+strconv.Itoa(len(s.Dims))+" dimensions").WithHint(hint)
	}
	return checkRank("the type given", t.Rank())
}

// sizes are those of an input of a type that is given, and the symbols that it defines.
func (im *importer) givenSizes(name string, t shape.Type) (dims []shape.Dim, defines []string, err *diag.Error) {
	dims, defines = t.Dims().Slice(), make([]string, t.Rank())
	for i, d := range dims {
		if d.IsUnknown() {
			dims[i] = shape.Sym(im.freshSymbol(name, i))
		}
		if s, ok := dims[i].IsSymbol(); ok {
			defines[i] = s
			continue
		}
		for _, s := range d.Symbols() {
			if !im.defined[s] {
				return nil, nil, diag.New(CodeModel, "size "+d.String()+" of the type given needs "+s+", which is no size of an input by itself").
					WithHint("give letters of which an axis of some input has each one alone")
			}
		}
	}
	return dims, defines, nil
}

// Unsized is the cause of an error that sizes of inputs would cure, which are letters or
// unknown: something follows from them that must be a number.
type Unsized struct {
	Inputs []string     // those with such sizes
	Types  []shape.Type // their types
}

// Error names the inputs whose sizes are not known, with their types.
func (u *Unsized) Error() string {
	var list []string
	for i, name := range u.Inputs {
		list = append(list, diag.Quote(name)+" "+u.Types[i].String())
	}
	return "sizes are not known of " + strings.Join(list, ", ")
}

// sized gives an error the sizes of inputs as its cure, where some are open.
func (im *importer) sized(e *diag.Error) *diag.Error {
	u := &Unsized{}
	for n := range im.mod.Graph.Nodes() {
		name, ok := im.inputs[n]
		if !ok {
			continue
		}
		t := n.Type()
		if t.Ranked() {
			if _, known := t.Dims().Known(); known {
				continue
			}
		}
		u.Inputs, u.Types = append(u.Inputs, name), append(u.Types, t)
	}
	if len(u.Inputs) == 0 {
		return e
	}
	if e.Err == nil {
		e.Err = u
	}
	return e.WithHint("give the sizes of these inputs when importing (Options.Inputs)")
}

// mostBound is how many elements an input may have that is bound by its value: lists of
// sizes, axes, bounds, scales and counts are short.
const mostBound = 64

// isData reports whether an input is data, which change from run to run, and no list of
// numbers that say how the model is to compute: nothing may be bound to the former.
func isData(t shape.Type) bool {
	if !t.Ranked() {
		return true
	}
	n, known := t.Dims().Prod().Int()
	return t.Rank() > 1 || known && n > mostBound || !known && t.DType().IsFloat()
}

// curable names the facts that would make a node known when the model is imported: values of
// inputs, or their sizes. Data are never fixed by that: results for other data would be
// wrong ones.
func (im *importer) curable(e *diag.Error, n *graph.Node) *diag.Error {
	values, data, sizes := im.followsFrom(n)
	switch {
	case len(data) > 0:
		return e.WithHint("it follows from the elements of " + strings.Join(quoted(data), ", ") + ", which changes from run to run; export the model so that it follows from sizes")
	case len(values) > 0:
		e.Err = &Unbound{values}
		return e.WithHint("give values for these inputs when importing (Options.Values)")
	case sizes:
		return im.sized(e)
	}
	return e.WithHint("give values for the inputs that it follows from when importing (Options.Values)")
}

// followsFrom tells which inputs a node follows from: those whose values decide it, of which
// data are apart, and whether it follows from sizes, of which no value decides.
func (im *importer) followsFrom(n *graph.Node) (values, data []string, sizes bool) {
	seen := map[*graph.Node]bool{}
	todo := []*graph.Node{n}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[n] {
			continue
		}
		seen[n] = true
		if n.Op() == op.Dim && !im.isLate(n.Arg(0).Type().Dim(n.Attrs().(op.AxisAttrs).Axis)) {
			sizes = true
			continue
		}
		if name, ok := im.inputs[n]; ok && isData(n.Type()) {
			data = append(data, name)
		} else if ok {
			values = append(values, name)
		}
		for a := range n.Inputs() {
			todo = append(todo, a)
		}
	}
	slices.Sort(values)
	slices.Sort(data)
	return values, data, sizes
}

func quoted(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = diag.Quote(short(name))
	}
	return out
}

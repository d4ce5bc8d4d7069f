package importer

import (
	"maps"
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	pb "github.com/gofx-dev/gofx/internal/onnxpb"
	"github.com/gofx-dev/gofx/onnx/internal/modelfile"
	"github.com/gofx-dev/gofx/onnx/internal/spec"
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
	for _, in := range im.File.Inputs() {
		held, of := modelfile.Holds(in.Type)
		if held == nil {
			held = in.Type
		}
		for _, name := range im.Parts(in.Name, in.Type, im.lengths) {
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
			if held.Tensor.Shape != nil && !of.Sequence {
				im.given.note(t, held.Tensor.Shape, split)
			}
		}
	}
	maps.DeleteFunc(im.given.letters, func(name string, _ shape.Dim) bool { return split[name] })
	for _, name := range slices.Sorted(maps.Keys(rest)) {
		im.fail("", diag.New(spec.CodeModel, "a type is given for "+diag.Quote(name)+", which is no input").
			WithHint("inputs are "+modelfile.InputNames(im.Model.Graph)))
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
		return diag.New(spec.CodeModel, "the type given is "+t.String()+", expected one with sizes").WithHint("write sizes as numbers or letters: f32[N,3]")
	}
	if file == nil || file.Tensor == nil {
		return diag.New(spec.CodeType, "the input is "+modelfile.KindOf(file)+", expected a tensor")
	}
	d, err := modelfile.DTypeOf(file.Tensor.Elem)
	if err != nil {
		return err
	}
	const hint = "give other sizes, with the file's element type and number of dimensions"
	if t.DType() != d && t.DType() != array.Invalid {
		return diag.New(spec.CodeModel, "the type given is "+t.String()+", the file has elements of "+d.String()).WithHint(hint)
	}
	if s := file.Tensor.Shape; s != nil && len(s.Dims) != t.Rank() {
		return diag.New(spec.CodeModel, "the type given is "+t.String()+", the file has "+strconv.Itoa(len(s.Dims))+" dimensions").WithHint(hint)
	}
	return modelfile.CheckRank("the type given", t.Rank())
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
				return nil, nil, diag.New(spec.CodeModel, "size "+d.String()+" of the type given needs "+s+", which is no size of an input by itself").
					WithHint("give letters of which an axis of some input has each one alone")
			}
		}
	}
	return dims, defines, nil
}

package work

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/gguf"
	"github.com/gofx-dev/gofx/array/npy"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/proc"
	"github.com/gofx-dev/gofx/codegen"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/onnx"
	"github.com/gofx-dev/gofx/pt2"
	"github.com/gofx-dev/gofx/shape"
)

// openONNX opens a model. Its graph is imported when the source is captured: sizes may
// follow from values of the job.
func openONNX(path string) (*Source, error) {
	f, err := onnx.Read(path)
	if err != nil {
		return nil, err
	}
	return &Source{Name: filepath.Base(path), Outputs: f.Outputs(), path: path, onnx: f}, nil
}

// imported returns the source with the graph of its model. Inputs that sizes follow from
// are bound to the job's values and are none of the job's any more; the job's other inputs
// get the graph's names where they had the model's.
func (s *Source) imported(j *Job) (*Source, error) {
	values, err := s.given(j)
	if err != nil {
		return nil, err
	}
	c := *s
	s = &c
	if s.types, err = typesOf(s.onnx.Describe().Inputs, s.onnx.Targets(), j); err != nil {
		return nil, err
	}
	o := onnx.Options{Inputs: s.types, Values: map[string]*array.Array{}, Sizes: j.sizes()}
	for name, a := range values {
		if j.Verb == Gen && a.DType().IsInt() && a.Rank() <= 1 && a.Len() <= mostGuessed {
			o.Values[name] = a // which code is generated for, whether it must be known or not
		}
	}
	m, bound, err := s.onnx.ImportFor(values, o)
	if err != nil {
		return nil, s.explained(err, values, takesValues(j.Verb))
	}
	bound = slices.Sorted(slices.Values(slices.AppendSeq(bound, maps.Keys(o.Values))))
	c.Graph, c.bound, c.fixed = m, bound, values
	names := slices.DeleteFunc(s.onnx.Inputs(), func(name string) bool { return slices.Contains(bound, name) })
	c.Inputs = names
	isBound := func(in Named) bool { return slices.Contains(bound, in.Name) }
	j.In, j.Calib = slices.DeleteFunc(j.In, isBound), slices.DeleteFunc(j.Calib, isBound)
	for _, list := range [][]Named{j.In, j.Shapes, j.Calib} {
		for k, in := range list {
			// A sequence is several inputs of the graph, and the places are not those of the file.
			if at := slices.Index(names, in.Name); at >= 0 && len(names) == len(m.Graph.Inputs()) {
				list[k].Name = m.Graph.Inputs()[at].Target()
			}
		}
	}
	return &c, nil
}

// typesOf are the types that a job gives to inputs before a model is imported: those of
// -input, and sizes of -shape for inputs whose type is not given.
func typesOf(inputs []onnx.Described, targets []string, j *Job) (map[string]shape.Type, error) {
	types := map[string]shape.Type{}
	var errs diag.List
	find := func(name string) *onnx.Described {
		at := slices.IndexFunc(inputs, func(in onnx.Described) bool { return in.Name == name })
		if at < 0 {
			at = slices.Index(targets, name)
		}
		if at >= 0 {
			return &inputs[at]
		}
		var list []Named
		for _, in := range inputs {
			list = append(list, Named{Name: in.Name})
		}
		errs.Add(unknownInput(name, list))
		return nil
	}
	for _, given := range j.Inputs {
		in := find(given.Name)
		if in == nil {
			continue
		}
		t, err := shape.ParseType(given.Value)
		if err != nil {
			errs.Add(badValue("-input "+given.Name+"="+given.Value, err))
			continue
		}
		types[in.Name] = t
	}
	for _, given := range j.Shapes {
		in := find(given.Name)
		if in == nil {
			continue
		}
		if _, ok := types[in.Name]; ok {
			continue // the type stays open, the sizes are those of a run
		}
		t, err := sizedAs(in.Type, given.Value)
		if err != nil {
			errs.Add(badValue("-shape "+given.Name+"="+given.Value, err))
			continue
		}
		types[in.Name] = t
	}
	return types, errs.Err()
}

// sizedAs is the type of an input with sizes in place of its letters.
func sizedAs(t shape.Type, text string) (shape.Type, error) {
	dims, err := parseShape(text)
	if err != nil {
		return t, err
	}
	if t.Kind() == shape.Tensor && t.Ranked() {
		if t.Rank() != len(dims) {
			return t, diag.New(BadValue, strconv.Itoa(len(dims))+" sizes, the input is "+t.String())
		}
		for i, n := range dims {
			if have, known := t.Dim(i).Int(); known && have != n {
				return t, diag.New(BadValue, "size "+strconv.Itoa(n)+" on axis "+strconv.Itoa(i)+", the input is "+t.String()).
					WithHint("-input NAME=TYPE replaces what the file says")
			}
		}
	}
	return shape.TensorType(t.DType(), shape.ConstDims(dims...)), nil
}

// sizes are the job's sizes of inputs; an invalid one is reported where it is used.
func (j *Job) sizes() map[string][]int {
	all := map[string][]int{}
	for _, in := range j.Shapes {
		if dims, err := parseShape(in.Value); err == nil {
			all[in.Name] = dims
		}
	}
	return all
}

// export returns the files of an ONNX model.
func (c *captured) export(j *Job, res *Result) error {
	dir, remove, err := proc.TempDir()
	if err != nil {
		return err
	}
	defer remove()
	o := onnx.ExportOptions{Opset: j.ONNX.Opset, Inputs: c.src.Inputs, Outputs: c.outputNames(), External: j.ONNX.External}
	if err := onnx.ExportFile(filepath.Join(dir, j.ONNX.Name), c.gm, o); err != nil {
		return err
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			return err
		}
		res.Files = append(res.Files, File{Name: f.Name(), Data: data})
	}
	c.warnOfWeights(j, res)
	return nil
}

// about is the file's information on its model, for the comments of generated code.
func (s *Source) about() *codegen.About {
	if s.pt2 != nil {
		return s.aboutPT2()
	}
	if s.llama != nil {
		return &codegen.About{Origin: "Generated from " + s.Name}
	}
	if s.onnx == nil {
		return &codegen.About{}
	}
	d := s.onnx.Describe()
	about := &codegen.About{Origin: "Generated from " + s.Name, Doc: d.Doc}
	if origin := d.Origin(); origin != "" {
		about.Origin += ", " + origin
	}
	for _, in := range d.Inputs {
		if !slices.Contains(s.bound, in.Name) {
			about.Inputs = append(about.Inputs, in.Doc)
		}
	}
	for _, out := range d.Outputs {
		about.Outputs = append(about.Outputs, out.Doc)
	}
	return about
}

// fileEndings are those of files with the value of an input.
var fileEndings = []string{".npy", ".npz", ".pb"}

// IsFile reports whether the value of an input is in a file.
func IsFile(value string) bool { return slices.Contains(fileEndings, filepath.Ext(value)) }

func readValue(in Named) (*array.Array, error) {
	a, err := readArray(in.Name, in.Value)
	if err != nil {
		return nil, badValue("-in "+in.Name+"="+in.Value, err)
	}
	return a, nil
}

// readArray reads the array of an input from a file.
func readArray(name, path string) (*array.Array, error) {
	switch filepath.Ext(path) {
	case ".pb":
		return onnx.ReadTensor(path)
	case ".npz":
		return fromArchive(path, name)
	}
	return npy.ReadFile(path)
}

// fromArchive reads the array of an input's name, or the only one that there is.
func fromArchive(path, name string) (*array.Array, error) {
	a, err := npy.OpenArchive(path)
	if err != nil {
		return nil, err
	}
	names := a.Names()
	if len(names) == 1 && !slices.Contains(names, name) {
		name = names[0]
	}
	return a.Get(name)
}

// boundNotes tell which inputs are none any more.
func (s *Source) boundNotes() (notes diag.List) {
	for _, name := range s.bound {
		notes = append(notes, &diag.Error{Note: true, Msg: "input " + name + " is fixed to the value given: sizes follow from it"})
	}
	return notes
}

// unbound lists the inputs that errors say sizes follow from.
func unbound(l diag.List) (names []string) {
	for _, e := range l {
		var u *onnx.Unbound
		if errors.As(e, &u) {
			names = append(names, u.Inputs...)
		}
	}
	return names
}

// sizesHint says by which flags sizes are given that errors say are not known.
func sizesHint(l diag.List) string {
	var flags []string
	for _, e := range l {
		var u *onnx.Unsized
		if !errors.As(e, &u) {
			continue
		}
		for i, name := range u.Inputs {
			text := shellFlag("-shape", name+"=1,128")
			if t := u.Types[i]; t.Ranked() {
				text = shellFlag("-shape", name+"="+strings.ReplaceAll(strings.Trim(t.Dims().String(), "[]"), " ", ""))
			}
			if !slices.Contains(flags, text) {
				flags = append(flags, text)
			}
		}
	}
	return "give sizes before the model is imported, as numbers in place of the letters: " + strings.Join(flags, " ") + "; or a type: -input NAME=TYPE"
}

// advised says, of sizes that do not fit a graph and of types that are not known, by which
// flags this kind of source is given others.
func (s *Source) advised(err error, j *Job) error {
	hint := ""
	switch {
	case s.isModel() || s.values != nil:
		hint = "the sizes of a file's inputs are declared before it is imported: -input NAME=TYPE with other letters or numbers, or -shape NAME=1,128"
	case s.Graph != nil && len(j.Shapes) > 0:
		hint = "-shape says how large the inputs of a run are, not their types: write numbers into the graph's first line"
	default:
		return err
	}
	other := func(e *diag.Error) *diag.Error {
		if e.Code != lowering.UnknownSize && (e.Code != interp.GuardFailed || s.Graph != nil && s.values == nil) {
			return e
		}
		c := *e
		return c.WithHint(hint)
	}
	var l diag.List
	var e *diag.Error
	switch {
	case errors.As(err, &l):
		out := slices.Clone(l)
		for i := range out {
			out[i] = other(out[i])
		}
		return out
	case errors.As(err, &e):
		return other(e)
	}
	return err
}

// takesValues reports whether the command of a verb has -in.
func takesValues(verb string) bool {
	return slices.Contains([]string{Gen, Run, Bench, Profile, Values, Bisect, Shrink, Measure, Feed}, verb)
}

// explained adds to an importer's refusals the cure on the command line, with a command that takes
// values if this one does not, and sums up errors that many nodes share.
func (s *Source) explained(err error, given map[string]*array.Array, takes bool) error {
	var l diag.List
	if !errors.As(err, &l) {
		return err
	}
	var out, notes diag.List
	hint, sizes := "", sizesHint(l)
	if names := unbound(l); len(names) > 0 {
		if hint = s.cure(given, names); !takes {
			hint += "; gen, run, bench, profile and compare take values, this command does not"
		}
	}
	count := map[string]int{}
	for _, e := range l {
		c := *e
		var u *onnx.Unbound
		if errors.As(e, &u) {
			c.Hint = hint
		} else if errors.As(e, new(*onnx.Unsized)) {
			c.Hint = sizes
		}
		out = append(out, &c)
		if e.Code == onnx.CodeOperator || e.Code == onnx.CodeAttribute {
			count[e.Msg]++
		}
	}
	for _, e := range l {
		if n := count[e.Msg]; n > 1 {
			notes = append(notes, &diag.Error{Note: true, Msg: fmt.Sprintf("%d nodes: %s", n, e.Msg)})
			delete(count, e.Msg)
		}
	}
	return append(out, notes...)
}

// openPT2 opens a program. Its graph is imported when the source is captured: the job may give types.
func openPT2(path string) (*Source, error) {
	f, err := pt2.Read(path)
	if err != nil {
		return nil, err
	}
	return &Source{Name: filepath.Base(path), Outputs: f.Outputs(), path: path, pt2: f}, nil
}

// importedPT2 returns the source with the graph of its program.
func (s *Source) importedPT2(j *Job) (*Source, error) {
	c := *s
	var err error
	if c.types, err = typesOf(described(s.pt2), s.pt2.Inputs(), j); err != nil {
		return nil, err
	}
	if c.Graph, err = s.pt2.Import(pt2.Options{Inputs: c.types}); err != nil {
		return nil, err
	}
	c.Inputs = s.pt2.Inputs()
	for _, list := range [][]Named{j.In, j.Shapes, j.Calib} {
		for k, in := range list {
			if at := slices.Index(c.Inputs, in.Name); at >= 0 && at < len(c.Graph.Graph.Inputs()) {
				list[k].Name = c.Graph.Graph.Inputs()[at].Target()
			}
		}
	}
	return &c, nil
}

// described are the inputs of a program with their types.
func described(f *pt2.File) (list []onnx.Described) {
	types := f.InputTypes()
	for i, name := range f.Inputs() {
		list = append(list, onnx.Described{Name: name, Type: types[i]})
	}
	return list
}

func (s *Source) aboutPT2() *codegen.About {
	about := &codegen.About{Origin: "Generated from " + s.Name}
	if v := s.pt2.Torch(); v != "" {
		about.Origin += ", which PyTorch " + diag.Name(v) + " exported"
	}
	about.Inputs, about.Outputs = make([]string, len(s.pt2.Inputs())), make([]string, len(s.pt2.Outputs()))
	return about
}

// caches are the element types of keys and values by the values of Job.Cache.
var caches = map[string]array.DType{"": array.F32, "f32": array.F32, "f16": array.F16, "int8": array.U8}

// openGGUF opens the decoder of a language model, as a job asks for it.
func openGGUF(path string, j *Job) (*Source, error) {
	f, err := gguf.Open(path)
	if err != nil {
		return nil, err
	}
	var opts []models.LlamaOption
	if j.Activations == "int8" {
		opts = append(opts, models.Activations8())
	}
	cache := caches[j.Cache]
	m, err := models.LoadLlama(f, opts...)
	if err == nil {
		err = m.Config.CheckCache(cache)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		var e *diag.Error
		if errors.As(err, &e) && e.Pos.File == "" {
			c := *e
			c.Pos.File = path
			err = &c
		}
		return nil, err
	}
	c := m.Config
	entry := &models.Model{Name: filepath.Base(path), Outputs: []string{"logits", "present"}, Dims: map[string]int{"N": 1, "S": 8, "P": 8}, Inputs: []models.InputSpec{
		{Name: "input_ids", Type: "i64[N,S]", Rule: models.Integers{High: c.VocabSize}},
		{Name: "past", Type: c.PastTypeOf(cache), Rule: models.Uniform{}},
	}}
	if cache == array.U8 {
		entry.Inputs[1].Rule = models.Integers{High: 40} // of which scales are below 0.04
	}
	return &Source{Name: entry.Name, Outputs: entry.Outputs, path: path, llama: m, Model: entry}, nil
}

// capturedLlama returns the source with the graph of its decoder, for the types that the job gives.
func (s *Source) capturedLlama(ctx context.Context, j *Job) (*Source, error) {
	c := *s
	var inputs []onnx.Described
	for _, in := range s.Model.Inputs {
		inputs = append(inputs, onnx.Described{Name: in.Name, Type: in.ShapeType()})
		c.Inputs = append(c.Inputs, in.Name)
	}
	var err error
	if c.types, err = typesOf(inputs, c.Inputs, j); err != nil {
		return nil, err
	}
	opts := []fx.Option{fx.Name(graphName(s.Name))}
	for _, in := range s.Model.Inputs {
		text := in.Type
		if t, ok := c.types[in.Name]; ok {
			text = t.String()
		}
		opts = append(opts, fx.Input(in.Name, text))
	}
	gm, err := fx.Trace(ctx, s.llama, opts...)
	if err != nil {
		return nil, err
	}
	c.Graph = gm.Module
	return &c, nil
}

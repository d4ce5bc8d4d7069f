package onnx

import (
	"errors"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/goname"
	pb "github.com/gofx-dev/gofx/internal/onnxpb"
	"github.com/gofx-dev/gofx/shape"
)

// Sample is one set of values of a model: its inputs, and the expected outputs.
type Sample struct {
	Name   string // of its folder
	Inputs map[string]*array.Array
	// Lengths are those of inputs that are sequences or optionals, see Options.Lengths.
	Lengths map[string]int
	// Outputs are the tensors of all outputs, members of sequences in their places.
	Outputs []*array.Array

	file string // that the values are of
}

// Samples reads the values next to a model in the layout of ONNX's tests:
func (f *File) Samples(dir string) ([]Sample, error) {
	sets, err := filepath.Glob(filepath.Join(dir, "test_data_set_*"))
	if err != nil || len(sets) == 0 {
		return nil, diag.New(CodeRead, "has no folder test_data_set_0").At(diag.Pos{File: dir})
	}
	slices.Sort(sets)
	var out []Sample
	for _, set := range sets {
		s := Sample{Name: filepath.Base(set), file: f.name, Inputs: map[string]*array.Array{}, Lengths: map[string]int{}}
		for i, in := range f.inputs() {
			list, length, err := readParts(filepath.Join(set, "input_"+strconv.Itoa(i)+".pb"), in.Type)
			if err != nil {
				return nil, err
			}
			if held, _ := holds(in.Type); held != nil {
				s.Lengths[in.Name] = length
			}
			for k, name := range f.parts(in.Name, in.Type, s.Lengths) {
				s.Inputs[name] = list[k]
			}
		}
		for i, o := range f.model.Graph.Outputs {
			list, _, err := readParts(filepath.Join(set, "output_"+strconv.Itoa(i)+".pb"), o.Type)
			if err != nil {
				return nil, err
			}
			s.Outputs = append(s.Outputs, list...)
		}
		out = append(out, s)
	}
	return out, nil
}

// Args are the values of a sample in the order of the inputs that the graph has when
// those that bound names are bound.
func (f *File) Args(s Sample, bound []string) (args []*array.Array) {
	for _, name := range f.argNames(s, bound) {
		args = append(args, s.Inputs[name])
	}
	return args
}

// argNames are the names of the graph's inputs when those that bound names are bound.
func (f *File) argNames(s Sample, bound []string) (names []string) {
	for _, in := range f.inputs() {
		for _, name := range f.parts(in.Name, in.Type, s.Lengths) {
			if !slices.Contains(bound, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// Tolerance says how far results may be from those of a sample: for each element
// |got - want| <= Abs + Rel*|want|, NaN for NaN, and types and sizes alike.
type Tolerance struct{ Rel, Abs float64 }

// StandardTolerance is that of ONNX's own tests.
var StandardTolerance = Tolerance{Rel: 1e-3, Abs: 1e-7}

// Difference tells how far results are from those of a sample.
type Difference struct {
	Max float64 // the largest difference of two elements
	Rel float64 // the least Rel of a Tolerance that has this one's Abs and allows all
}

// Check compares results with the outputs of the sample. The error says where they
// differ by more than is allowed.
func (s Sample) Check(got []*array.Array, tol Tolerance) (d Difference, err error) {
	at := diag.Pos{File: s.Name}
	if s.file != "" {
		at.File = s.file + ": " + s.Name
	}
	if len(got) != len(s.Outputs) {
		return d, diag.New(CodeDiffers, "there are "+strconv.Itoa(len(got))+" outputs, expected "+strconv.Itoa(len(s.Outputs))).At(at)
	}
	for i, want := range s.Outputs {
		if e := d.compare(got[i], want, tol); e != nil {
			e.Msg = "output " + strconv.Itoa(i) + " " + e.Msg
			return d, e.At(at)
		}
	}
	return d, nil
}

// compare notes how one output differs.
func (d *Difference) compare(got, want *array.Array, tol Tolerance) *diag.Error {
	if got.DType() != want.DType() || !slices.Equal(got.Shape(), want.Shape()) {
		return diag.New(CodeDiffers, "is "+shape.TypeOf(got).String()+", expected "+shape.TypeOf(want).String())
	}
	for i := range got.Len() {
		a, b := array.Float64At(got, i), array.Float64At(want, i)
		if a == b || math.IsNaN(a) && math.IsNaN(b) {
			continue
		}
		diff := math.Abs(a - b)
		if !(diff <= tol.Abs+tol.Rel*math.Abs(b)) || math.IsInf(a, 0) || math.IsInf(b, 0) {
			return diag.New(CodeDiffers, "differs: element "+strconv.Itoa(i)+" is "+number(a)+", expected "+number(b))
		}
		d.Max = max(d.Max, diff)
		if over := diff - tol.Abs; over > 0 {
			d.Rel = max(d.Rel, over/math.Abs(b))
		}
	}
	return nil
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// Inputs are the names of the model's inputs that are not initializers.
func (f *File) Inputs() []string {
	var names []string
	for _, v := range f.inputs() {
		names = append(names, v.Name)
	}
	return names
}

// Targets are the names that the graph's inputs have, in the order of Inputs, where none is
// bound by value: names that are no identifiers are made legal.
func (f *File) Targets() []string {
	var l goname.Labels
	names := f.Inputs()
	for i, name := range names {
		names[i] = l.Fresh(goname.Legal(name, "input"))
	}
	return names
}

func (f *File) inputs() (list []*pb.ValueInfo) {
	initial := initializerNames(f.model.Graph)
	for _, v := range f.model.Graph.Inputs {
		if !initial[v.Name] {
			list = append(list, v)
		}
	}
	return list
}

// ImportFor imports a model to be run on the given values: inputs that sizes follow from
// are bound to theirs, and are no inputs of the graph then. It returns their names. Data are
// never bound, only short lists of numbers and single ones. Lengths, ranks and sizes that the
// options do not give are those of the values. Where two sizes that the file leaves open
// must be equal for the graph, and one of them is 1 in the values, it is 1 in the graph.
func (f *File) ImportFor(values map[string]*array.Array, o Options) (m *graph.Module, bound []string, err error) {
	m, _, bound, _, err = f.importFor(values, o)
	return m, bound, err
}

func (f *File) importFor(values map[string]*array.Array, o Options) (m *graph.Module, of *form, bound []string, e *equalities, err error) {
	given := map[string]*array.Array{}
	for name, a := range o.Values {
		given[name] = a
	}
	o.Values, o.Lengths = given, f.lengthsOf(values, o.Lengths)
	if o.Ranks == nil {
		o.Ranks = map[string]int{}
		for name, a := range values {
			o.Ranks[name] = a.Rank()
		}
	}
	sizes := maps.Clone(o.Sizes)
	for name, a := range values {
		if sizes == nil {
			sizes = map[string][]int{}
		}
		if sizes[name] == nil {
			sizes[name] = a.Shape()
		}
	}
	o.Sizes = sizes
	bind := func(names []string) (more bool) {
		for _, name := range names {
			if a := values[name]; a != nil && given[name] == nil {
				given[name], more = a, true
				bound = append(bound, name)
			}
		}
		return more
	}
	for {
		if m, of, err = f.importForm(o); err == nil {
			if bind(of.decide) {
				continue
			}
			e = f.equalitiesOf(m, Sample{Lengths: o.Lengths}, slices.AppendSeq(slices.Clone(bound), maps.Keys(o.Values)))
			if ones := e.ones(values); len(ones) > 0 {
				o.Inputs = e.declare(o.Inputs, ones)
				continue // each time there are fewer letters
			}
			slices.Sort(bound)
			return m, of, bound, e, nil
		}
		if !bind(unbound(err)) {
			return nil, nil, nil, nil, err
		}
	}
}

// unbound lists the inputs of which an error says that their values are needed.
func unbound(err error) (names []string) {
	var l diag.List
	if !errors.As(err, &l) {
		return nil
	}
	for _, e := range l {
		var u *Unbound
		if errors.As(e, &u) {
			names = append(names, u.Inputs...)
		}
	}
	return names
}

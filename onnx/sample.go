package onnx

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/onnx/internal/modelfile"
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
		if err := surplus(set, len(f.f.Inputs()), len(f.f.Model.Graph.Outputs)); err != nil {
			return nil, err
		}
		s := Sample{Name: filepath.Base(set), file: f.f.Name, Inputs: map[string]*array.Array{}, Lengths: map[string]int{}}
		for i, in := range f.f.Inputs() {
			list, length, err := modelfile.ReadParts(filepath.Join(set, "input_"+strconv.Itoa(i)+".pb"), in.Type)
			if err != nil {
				return nil, err
			}
			if held, _ := modelfile.Holds(in.Type); held != nil {
				s.Lengths[in.Name] = length
			}
			for k, name := range f.f.Parts(in.Name, in.Type, s.Lengths) {
				s.Inputs[name] = list[k]
			}
		}
		for i, o := range f.f.Model.Graph.Outputs {
			list, _, err := modelfile.ReadParts(filepath.Join(set, "output_"+strconv.Itoa(i)+".pb"), o.Type)
			if err != nil {
				return nil, err
			}
			s.Outputs = append(s.Outputs, list...)
		}
		out = append(out, s)
	}
	return out, nil
}

// surplus reports values that a model does not take or give: nobody would compute with them, or
// compare with them.
func surplus(set string, inputs, outputs int) error {
	for _, c := range []struct {
		kind  string
		count int
		hint  string
	}{
		{"input", inputs, "initializers that the model also lists as inputs keep their values; remove those of the file to give others"},
		{"output", outputs, "give the values of the model's outputs, in their order"},
	} {
		name := c.kind + "_" + strconv.Itoa(c.count) + ".pb"
		if _, err := os.Stat(filepath.Join(set, name)); err == nil {
			return diag.New(CodeRead, "has "+name+", and the model has "+strconv.Itoa(c.count)+" "+c.kind+"s").WithHint(c.hint).At(diag.Pos{File: set})
		}
	}
	return nil
}

// Args are the values of a sample in the order of the inputs that the graph has when
// those that bound names are bound.
func (f *File) Args(s Sample, bound []string) (args []*array.Array) {
	for _, name := range f.f.ArgNames(s.Lengths, bound) {
		args = append(args, s.Inputs[name])
	}
	return args
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

package work

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/onnx"
	"github.com/gofx-dev/gofx/pt2"
)

// CaseSet is a case in the layout of ONNX's tests with one of its samples: a source that
// has the values of its inputs, and the expected outputs.
type CaseSet struct {
	Source *Source
	Sample onnx.Sample
	Bound  []string // inputs that have the sample's values for good, since sizes follow from them
}

// OpenCase reads the folder of a case and imports its model for each sample, with the types
// and sizes of the job. Inputs are bound to the sample only where nothing else would do, as
// other commands need their values as well.
func OpenCase(dir string, j *Job) ([]CaseSet, error) {
	path := filepath.Join(dir, "model.onnx")
	if other := filepath.Join(dir, "model.pt2"); !exists(path) && exists(other) {
		return openProgram(other, j)
	}
	f, err := onnx.Read(path)
	if err != nil {
		return nil, err
	}
	samples, err := f.Samples(dir)
	if err != nil {
		return nil, err
	}
	types, err := typesOf(f.Describe().Inputs, f.Targets(), j)
	if err != nil {
		return nil, err
	}
	var sets []CaseSet
	for _, s := range samples {
		m, bound, err := f.ImportFor(s.Inputs, onnx.Options{Lengths: s.Lengths, Inputs: types})
		if err != nil {
			return nil, (&Source{path: path, onnx: f, types: types}).explained(err, s.Inputs, false)
		}
		src := &Source{Name: filepath.Base(dir), Graph: m, Outputs: f.Outputs(), values: f.Args(s, bound)}
		sets = append(sets, CaseSet{src, s, bound})
	}
	return sets, nil
}

// verify leaves the outputs of a run in the result.
func (c *captured) verify(ctx context.Context, j *Job, res *Result) error {
	in, _, err := c.values(j)
	if err != nil {
		return err
	}
	r, note, err := c.runner(j)
	if err != nil {
		return err
	}
	res.StandIn = note
	defer r.close()
	out, err := r.run(ctx, in)
	for _, a := range out {
		res.Outputs = append(res.Outputs, array.Contiguous(a)) // which outlive the run
	}
	return err
}

// samples reads those of a folder, in ONNX's layout.
func (s *Source) samples(dir string) ([]onnx.Sample, error) {
	if s.onnx != nil {
		return s.onnx.Samples(dir)
	}
	return samplesOf(s.pt2, dir)
}

// args are the values of a sample in the order of the graph's inputs.
func (s *Source) args(set onnx.Sample) (list []*array.Array) {
	if s.onnx != nil {
		return s.onnx.Args(set, s.bound)
	}
	for _, name := range s.pt2.Inputs() {
		list = append(list, set.Inputs[name])
	}
	return list
}

// samplesOf reads the samples next to a program: test_data_set_N/input_I.pb and output_I.pb.
func samplesOf(f *pt2.File, dir string) (list []onnx.Sample, err error) {
	for n := 0; ; n++ {
		folder := filepath.Join(dir, fmt.Sprint("test_data_set_", n))
		if !exists(folder) {
			break
		}
		for i, n := range []int{len(f.Inputs()), len(f.Outputs())} {
			kind := []string{"input", "output"}[i]
			if name := fmt.Sprint(kind, "_", n, ".pb"); exists(filepath.Join(folder, name)) {
				return nil, diag.New(BadValue, folder+" has "+name+", and the program has "+fmt.Sprint(n, " ", kind, "s"))
			}
		}
		s := onnx.Sample{Name: filepath.Base(folder), Inputs: map[string]*array.Array{}}
		for i, name := range f.Inputs() {
			if s.Inputs[name], err = onnx.ReadTensor(filepath.Join(folder, fmt.Sprint("input_", i, ".pb"))); err != nil {
				return nil, err
			}
		}
		for i := range f.Outputs() {
			a, err := onnx.ReadTensor(filepath.Join(folder, fmt.Sprint("output_", i, ".pb")))
			if err != nil {
				return nil, err
			}
			s.Outputs = append(s.Outputs, a)
		}
		list = append(list, s)
	}
	if len(list) == 0 {
		return nil, diag.New(BadValue, dir+" has no test_data_set_0, expected one with input_0.pb and output_0.pb")
	}
	return list, nil
}

// openProgram reads a case whose model is a program of torch.export.
func openProgram(path string, j *Job) ([]CaseSet, error) {
	src, err := openPT2(path)
	if err != nil {
		return nil, err
	}
	samples, err := samplesOf(src.pt2, filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	if src, err = src.importedPT2(j); err != nil {
		return nil, err
	}
	var sets []CaseSet
	for _, s := range samples {
		one := &Source{Name: filepath.Base(filepath.Dir(path)), Graph: src.Graph, Outputs: src.Outputs, values: src.args(s)}
		sets = append(sets, CaseSet{one, s, nil})
	}
	return sets, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

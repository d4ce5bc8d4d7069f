package work

import (
	"context"
	"path/filepath"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/onnx"
)

// CaseSet is a case in the layout of ONNX's tests with one of its samples: a source that
// has the values of its inputs, and what must come out.
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

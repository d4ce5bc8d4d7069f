package work

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/codegen"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/onnx"
	"github.com/gofx-dev/gofx/pt2"
)

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

// samplesOf reads the samples beside a program: test_data_set_N/input_I.pb and output_I.pb.
func samplesOf(f *pt2.File, dir string) (list []onnx.Sample, err error) {
	for n := 0; ; n++ {
		folder := filepath.Join(dir, fmt.Sprint("test_data_set_", n))
		if !exists(folder) {
			break
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

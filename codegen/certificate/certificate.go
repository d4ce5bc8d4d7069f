package certificate

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/safetensors"
	"github.com/gofx-dev/gofx/diag"
)

// Certificate is the content of the file.
type Certificate struct {
	Digest  string // of the sources; equal digests, equal certificates
	Origin  string // the engine that computed the outputs, for people
	Samples []Sample
}

// Sample is one call.
type Sample struct {
	Name string
	// Continues is set where the call comes next to that of the sample before, on the same
	// model, whose state it finds.
	Continues bool
	Inputs    []Input
	Outputs   []Output
}

// Input is an argument. One with a seed is made of it, and not stored. From, where it is not
// 0, says that the argument is result From-1 of the sample before, which has no value then.
type Input struct {
	Value *array.Array
	Seed  uint64
	From  int
}

// Arrays are the arguments of a sample. before are the results of the sample before, for a
// sample that continues it.
func (s *Sample) Arrays(before ...*array.Array) []*array.Array {
	list := make([]*array.Array, len(s.Inputs))
	for i, in := range s.Inputs {
		list[i] = in.Value
		if k := in.From - 1; k >= 0 && k < len(before) {
			list[i] = before[k]
		}
	}
	return list
}

// The file is in the safetensors format: the tensors S/in/I and S/out/I of sample S, and
// S/out/I/sums of outputs that are not stored whole. The rest is JSON in its metadata.
const (
	metaKey = "certificate"
	version = 1
)

type fileHeader struct {
	Version int            `json:"version"`
	Digest  string         `json:"digest"`
	Origin  string         `json:"origin"`
	Samples []sampleHeader `json:"samples"`
}

type sampleHeader struct {
	Name string `json:"name"`
	// Continues is as in Sample.
	Continues bool `json:"continues,omitempty"`

	Inputs  []inputHeader  `json:"inputs"`
	Outputs []outputHeader `json:"outputs"`
}

type inputHeader struct {
	DType string `json:"dtype"`
	Shape []int  `json:"shape"`
	Seed  uint64 `json:"seed,omitempty"` // of the formula, 0 for stored ones
	From  int    `json:"from,omitempty"` // 1 + the result of the sample before, 0 for none
	// Packed is set where the tensor is the bytes of the value, compressed.
	Packed bool `json:"packed,omitempty"`
}

type outputHeader struct {
	DType   string    `json:"dtype"`
	Shape   []int     `json:"shape"`
	Allowed Tolerance `json:"allowed"`
	Reached Tolerance `json:"reached"`
}

// Bytes is the certificate as a file.
func (c *Certificate) Bytes() ([]byte, error) {
	h := fileHeader{Version: version, Digest: c.Digest, Origin: c.Origin}
	var list []safetensors.Named
	add := func(name string, a *array.Array) {
		if a != nil {
			list = append(list, safetensors.Named{Name: name, Array: array.Contiguous(a)})
		}
	}
	for i, s := range c.Samples {
		sh := sampleHeader{Name: s.Name, Continues: s.Continues}
		for k, in := range s.Inputs {
			if in.From > 0 {
				sh.Inputs = append(sh.Inputs, inputHeader{From: in.From})
				continue
			}
			ih := inputHeader{DType: in.Value.DType().String(), Shape: sizes(in.Value.Shape()), Seed: in.Seed}
			if in.Seed == 0 {
				a := in.Value
				if small := packed(a); small != nil {
					a, ih.Packed = small, true
				}
				add(inputName(i, k), a)
			}
			sh.Inputs = append(sh.Inputs, ih)
		}
		for k, out := range s.Outputs {
			sh.Outputs = append(sh.Outputs, outputHeader{out.DType.String(), sizes(out.Shape), out.Allowed, out.Reached})
			add(outputName(i, k), out.picked)
			add(sumsName(i, k), out.sums)
		}
		h.Samples = append(h.Samples, sh)
	}
	text, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = safetensors.Write(&b, list, map[string]string{metaKey: string(text)})
	return b.Bytes(), err
}

func sizes(dims []int) []int { return append([]int{}, dims...) }

func inputName(sample, i int) string  { return strconv.Itoa(sample) + "/in/" + strconv.Itoa(i) }
func outputName(sample, i int) string { return strconv.Itoa(sample) + "/out/" + strconv.Itoa(i) }
func sumsName(sample, i int) string   { return outputName(sample, i) + "/sums" }

// Read reads a certificate. A file that is none, or damaged, is refused with FX8058.
func Read(data []byte) (*Certificate, error) {
	f, err := safetensors.Parse(data)
	if err != nil {
		return nil, err
	}
	var h fileHeader
	if err := json.Unmarshal([]byte(f.Metadata()[metaKey]), &h); err != nil || h.Version != version {
		return nil, damaged("the file has no certificate of version " + strconv.Itoa(version))
	}
	c := &Certificate{Digest: h.Digest, Origin: h.Origin}
	if err := h.bounded(); err != nil {
		return nil, err
	}
	for i, sh := range h.Samples {
		s := Sample{Name: sh.Name, Continues: sh.Continues}
		for k, in := range sh.Inputs {
			if in.From < 0 || in.From > 0 && (!s.Continues || i == 0 || in.From > len(h.Samples[i-1].Outputs)) {
				return nil, damaged("sample " + strconv.Quote(sh.Name) + " takes a result that the one before has not")
			}
			x, err := readInput(f, in, inputName(i, k))
			if err != nil {
				return nil, err
			}
			s.Inputs = append(s.Inputs, x)
		}
		for k, out := range sh.Outputs {
			x, err := readOutput(f, out, i, k)
			if err != nil {
				return nil, err
			}
			s.Outputs = append(s.Outputs, x)
		}
		c.Samples = append(c.Samples, s)
	}
	return c, nil
}

// bounded checks how much the formulas would make.
func (h *fileHeader) bounded() error {
	left := 2 * MaxMade
	for _, s := range h.Samples {
		for _, in := range s.Inputs {
			if in.Seed == 0 && !in.Packed {
				continue
			}
			n, ok := array.NumElems(in.Shape)
			if left -= n; !ok || n > MaxMade || left < 0 {
				return damaged("inputs have more elements than " + strconv.Itoa(MaxMade))
			}
		}
	}
	return nil
}

func damaged(msg string) *diag.Error {
	return diag.New(Damaged, msg).WithHint("generate the package again")
}

func readInput(f *safetensors.File, h inputHeader, name string) (Input, error) {
	if h.From > 0 {
		return Input{From: h.From}, nil
	}
	d, err := describe(h.DType, h.Shape)
	if err != nil {
		return Input{}, err
	}
	if h.Seed != 0 {
		return Made(d, h.Shape, h.Seed), nil
	}
	if h.Packed {
		a, err := unpacked(f, name, d, h.Shape)
		return Input{Value: a}, err
	}
	a, err := stored(f, name, d, h.Shape)
	return Input{Value: a}, err
}

func readOutput(f *safetensors.File, h outputHeader, sample, i int) (out Output, err error) {
	out = Output{Shape: h.Shape, Allowed: h.Allowed, Reached: h.Reached}
	if out.DType, err = describe(h.DType, h.Shape); err != nil {
		return out, err
	}
	n, _ := array.NumElems(h.Shape)
	if n <= mostStored {
		out.picked, err = stored(f, outputName(sample, i), out.DType, h.Shape)
		return out, err
	}
	if out.picked, err = stored(f, outputName(sample, i), out.DType, []int{mostStored}); err != nil {
		return out, err
	}
	out.sums, err = stored(f, sumsName(sample, i), array.F64, []int{runs, sumColumns})
	return out, err
}

// describe checks the type that a header gives.
func describe(dtype string, dims []int) (array.DType, error) {
	d, ok := array.ParseDType(dtype)
	_, fits := array.NumElems(dims)
	for _, n := range dims {
		fits = fits && n >= 0
	}
	if !ok || !fits {
		return d, damaged("a value is " + strconv.Quote(dtype) + " of sizes that do not fit")
	}
	return d, nil
}

// stored returns a tensor of the file, which must have the type.
func stored(f *safetensors.File, name string, d array.DType, dims []int) (*array.Array, error) {
	have, shape, _, _, ok := f.Info(name)
	if !ok || have != d || len(shape) != len(dims) {
		return nil, damaged("tensor " + name + " is missing, or of another type than the header says")
	}
	for i := range dims {
		if shape[i] != dims[i] {
			return nil, damaged("tensor " + name + " has other sizes than the header says")
		}
	}
	return f.Get(name)
}

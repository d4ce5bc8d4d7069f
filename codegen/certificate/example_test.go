package certificate_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/safetensors"
	"github.com/gofx-dev/gofx/codegen/certificate"
	"github.com/gofx-dev/gofx/tensor"
)

// logger stands for the testing.T of a test.
type logger struct{}

func (logger) Helper()                      {}
func (logger) Errorf(f string, args ...any) { fmt.Printf(f+"\n", args...) }
func (logger) Fatalf(f string, args ...any) { fmt.Printf(f+"\n", args...) }
func (logger) Logf(f string, args ...any)   { fmt.Printf(f+"\n", args...) }

// double is a sample of a model that doubles.
func double() certificate.Sample {
	return certificate.Sample{
		Name:    "ones",
		Inputs:  []certificate.Input{{Value: array.FromSlice([]float32{1, 1})}},
		Outputs: []certificate.Output{certificate.Expect(array.FromSlice([]float32{2, 2}))},
	}
}

func ExampleCheck() {
	c := &certificate.Certificate{Samples: []certificate.Sample{double()}}
	data, err := c.Bytes()
	if err != nil {
		panic(err)
	}
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "samples.safetensors")
	if err := os.WriteFile(file, data, 0o666); err != nil {
		panic(err)
	}
	certificate.Check(logger{}, file, func(in []*array.Array) (any, error) {
		x := tensor.New(in[0])
		return x.Add(x), nil
	})
	certificate.Check(logger{}, file, func(in []*array.Array) (any, error) { return in[0], nil })
	// Output:
	// ones: output 0 is within 0, relative 0
	// ones: output 0 differs: element 0 is 1, expected 2 [FX8059]
	//     hint: check that the samples belong to the model and its weights; else report it
}

// A model that counts its calls: the second sample is the second call.
func ExampleCheckSteps() {
	count := func(n float32) []certificate.Output {
		return []certificate.Output{certificate.Expect(array.FromSlice([]float32{n}))}
	}
	c := &certificate.Certificate{Samples: []certificate.Sample{
		{Name: "first", Outputs: count(1)},
		{Name: "second", Continues: true, Outputs: count(2)},
	}}
	data, err := c.Bytes()
	if err != nil {
		panic(err)
	}
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "samples.safetensors")
	if err := os.WriteFile(file, data, 0o666); err != nil {
		panic(err)
	}
	certificate.CheckSteps(logger{}, file, func() (certificate.Call, error) {
		n := float32(0)
		return func([]*array.Array) (any, error) {
			n++
			return array.FromSlice([]float32{n}), nil
		}, nil
	})
	// Output:
	// first: output 0 is within 0, relative 0
	// second: output 0 is within 0, relative 0
}

func ExampleRead() {
	c := &certificate.Certificate{Digest: "5a", Samples: []certificate.Sample{double()}}
	data, err := c.Bytes()
	if err != nil {
		panic(err)
	}
	again, err := certificate.Read(data)
	fmt.Println(again.Digest, again.Samples[0].Name, err)
	// Output: 5a ones <nil>
}

func ExampleMade() {
	in := certificate.Made(array.Bool, []int{4}, 1)
	fmt.Println(in.Value.DType(), in.Value.Shape(), array.Data[bool](in.Value))
	// Output: bool [4] [false true true true]
}

func ExampleExpect() {
	out := certificate.Expect(array.FromSlice([]float32{100}))
	fmt.Printf("%.3g %.3g %d\n", out.Allowed.Abs, out.Allowed.Rel, out.Stored().Len())
	// Output: 0.01 0.001 1
}

func ExampleOutput_Compare() {
	out := certificate.Expect(array.FromSlice([]int64{1, 2}))
	_, err := out.Compare(array.FromSlice([]int64{1, 3}))
	fmt.Println(err)
	// Output:
	// differs: element 1 is 3, expected 2 [FX8059]
	//     hint: check that the samples belong to the model and its weights; else report it
}

func ExampleSample_Compare() {
	s := double()
	reached, err := s.Compare([]*array.Array{array.FromSlice([]float32{2, 2.001})})
	fmt.Printf("%.1g %v\n", reached[0].Abs, err)
	// Output: 0.001 <nil>
}

func ExampleSample_Reach() {
	s := double()
	if err := s.Reach([]*array.Array{array.FromSlice([]float32{2, 2.01})}); err != nil {
		panic(err)
	}
	fmt.Printf("%.1g, allowed %.1g\n", s.Outputs[0].Reached.Abs, s.Outputs[0].Allowed.Abs)
	// Output: 0.01, allowed 0.02
}

func ExampleLoad() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	var b bytes.Buffer
	if err := safetensors.Write(&b, []safetensors.Named{{Name: "w", Array: array.New(array.F32, 2)}}, nil); err != nil {
		panic(err)
	}
	file := filepath.Join(dir, "weights.safetensors")
	if err := os.WriteFile(file, b.Bytes(), 0o666); err != nil {
		panic(err)
	}
	f, err := certificate.Load(file, safetensors.Open)
	fmt.Println(f != nil, err)
	// Output: true <nil>
}

func ExampleUnpack() {
	x := tensor.Ones(2)
	out := certificate.Unpack([]any{map[string]*tensor.Tensor{"b": x, "a": x}, x, error(nil)})
	fmt.Println(len(out))
	// Output: 3
}

// A package that takes its tensors by name gets those of a file.
func ExampleBind() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "weights.safetensors")
	var data bytes.Buffer
	if err := safetensors.Write(&data, []safetensors.Named{{Name: "bias", Array: array.FromSlice([]float32{1, 2})}}, nil); err != nil {
		panic(err)
	}
	if err := os.WriteFile(file, data.Bytes(), 0o666); err != nil {
		panic(err)
	}
	bias, err := certificate.Bind(file, func(find func(name string) (*array.Array, error), _ int) (*array.Array, error) {
		return find("bias")
	})
	fmt.Println(array.Format(bias, 8), err)
	// Output: tensor([1., 2.]) <nil>
}

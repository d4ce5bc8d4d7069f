package pt2_test

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/pt2"
	"github.com/gofx-dev/gofx/shape"
)

// The archive was written by torch.export.save(torch.export.export(model, args), "mlp.pt2").
func ExampleRead() {
	f, err := pt2.Read("testdata/mlp.pt2")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	m, err := f.Import(pt2.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	out, err := fx.NewGraphModule(m).RunArrays(context.Background(), []*array.Array{array.New(array.F32, 3, 4)})
	fmt.Println(out[0].Shape(), err)
	// Output: [3 3] <nil>
}

func ExampleParse() {
	_, err := pt2.Parse([]byte("no archive"), "net.pt2")
	fmt.Println(err)
	// Output:
	// net.pt2: the file begins with "no a", expected an archive of torch.export.save [FX8202]
	//     hint: write it by torch.export.save(torch.export.export(model, args), "net.pt2")
}

func ExampleFile_Import() {
	f, err := pt2.Read("testdata/mlp.pt2")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	batch := shape.TensorType(array.F32, shape.Of(shape.Sym("N"), shape.Const(4)))
	m, err := f.Import(pt2.Options{Inputs: map[string]shape.Type{"args_0": batch}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, g := range m.Graph.Guards() {
		fmt.Println(g)
	}
	fmt.Println(m.Graph.Inputs()[0].Type(), m.Graph.Output().Type())

	batch = shape.TensorType(array.F32, shape.ConstDims(100, 4))
	_, err = f.Import(pt2.Options{Inputs: map[string]shape.Type{"args_0": batch}})
	fmt.Println(err)
	// Output:
	// N <= 64
	// f32[N,4] f32[N,3]
	// testdata/mlp.pt2: the program needs "s33 <= 64", which the sizes of its inputs do not have [FX8209]
	//     hint: give other sizes, or export the program for these
}

func ExampleFile_Inputs() {
	f, err := pt2.Read("testdata/dictionary.pt2")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	fmt.Println(f.Inputs(), f.InputTypes())
	fmt.Println(f.Outputs())
	// Output:
	// [args_0 args_1_a args_1_b_0] [f32[s33,4] f32[s55,4] f32[s55,4]]
	// [sum parts_0 parts_1_0 parts_1_1 number]
}

func ExampleFile_Torch() {
	data, err := os.ReadFile("testdata/mlp.pt2")
	if err != nil {
		fmt.Println(err)
		return
	}
	f, err := pt2.Parse(data, "mlp.pt2")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(f.Torch()[:4])
	// Output: 2.15
}

func ExampleOperators() {
	list := pt2.Operators()
	fmt.Println(slices.Contains(list, "relu"), slices.Contains(list, "add.Tensor"), slices.Contains(list, "randn"))
	// Output: true true false
}

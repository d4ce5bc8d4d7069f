package onnx_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/onnx"
	"github.com/gofx-dev/gofx/tensor"
)

// A module takes its weights from a model.
func ExampleOpenWeights() {
	dir, err := os.MkdirTemp("", "gofx")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "net.onnx")
	trained := nn.NewLinear(2, 1)
	trained.Weight.AssignInPlace(tensor.FromSlice([]float32{3, 4}, 1, 2))
	m, err := fx.Trace(context.Background(), trained, fx.Input("x", "f32[N,2]"))
	if err != nil {
		panic(err)
	}
	if err := onnx.ExportFile(path, m.Module, onnx.ExportOptions{}); err != nil {
		panic(err)
	}
	w, err := onnx.OpenWeights(path)
	if err != nil {
		panic(err)
	}
	net := nn.NewLinear(2, 1)
	fmt.Println(w.Names(), nn.LoadStateDict(net, w))
	fmt.Println(net.Weight.Shape(), array.Data[float32](net.Weight.Array()))
	// Output:
	// [weight bias] <nil>
	// [1 2] [3 4]
}

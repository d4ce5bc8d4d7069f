package weights_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/safetensors"
	"github.com/gofx-dev/gofx/array/weights"
)

// A model in two shards, as model hubs keep large ones.
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "gofx")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	put := func(name string, b []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			panic(err)
		}
		return path
	}
	for i, name := range []string{"weight", "bias"} {
		var b bytes.Buffer
		if err := safetensors.Write(&b, []safetensors.Named{{Name: name, Array: array.FromSlice([]float32{1, 2})}}, nil); err != nil {
			panic(err)
		}
		put(fmt.Sprintf("%d.safetensors", i+1), b.Bytes())
	}
	f, err := weights.Open(put("model.safetensors.index.json", []byte(`{"weight_map": {"weight": "1.safetensors", "bias": "2.safetensors"}}`)))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, name := range f.Names() {
		d, shape, _ := f.Type(name)
		fmt.Println(name, d, shape, f.Format(name))
	}
	// Output:
	// weight f32 [2] F32
	// bias f32 [2] F32
}

// Sub takes the model out of a checkpoint of several things.
func ExampleSub() {
	f, err := weights.Open("../torchpt/testdata/checkpoint.pt")
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := weights.Sub(f, "model")
	fmt.Println(len(f.Names()), m.Names()[0], err)
	_, err = weights.Sub(f, "net")
	fmt.Println(err)
	// Output:
	// 19 0.weight <nil>
	// weights: no tensor's name begins with "net.", expected one of "model", "optimizer" [FX8075]
}

func ExampleSplit() {
	fmt.Println(weights.Split("checkpoint.pt#model"))
	fmt.Println(weights.Split("state.pth"))
	// Output:
	// checkpoint.pt model
	// state.pth
}

func ExampleIsFile() {
	fmt.Println(weights.IsFile("model.gguf"), weights.IsFile("model.onnx"))
	// Output: true false
}

package pjrt_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/lowering/xla/pjrt"
)

// twice compiles and runs a program in StableHLO with whatever plugin is installed.
func twice(ctx context.Context, x *array.Array) (*array.Array, error) {
	plugin, err := pjrt.Open("") // GOFX_PJRT_PLUGIN, or the one that is found
	if err != nil {
		return nil, err
	}
	client, err := plugin.NewClient()
	if err != nil {
		return nil, err
	}
	defer client.Close()
	program, err := client.Compile(`module @twice {
  func.func public @main(%x: tensor<2xf32>) -> tensor<2xf32> {
    %y = stablehlo.add %x, %x : tensor<2xf32>
    return %y : tensor<2xf32>
  }
}`, pjrt.CompileOptions{})
	if err != nil {
		return nil, err
	}
	in, err := client.Upload(ctx, x, nil)
	if err != nil {
		return nil, err
	}
	out, err := program.Execute(ctx, []*pjrt.Buffer{in})
	if err != nil {
		return nil, err
	}
	return out[0].Download(ctx)
}

// A machine without a plugin computes in another way.
func Example() {
	x := array.FromSlice([]float32{1, 2})
	y, err := twice(context.Background(), x)
	if errors.Is(err, pjrt.NoPlugin) {
		y, err = array.FromSlice([]float32{2, 4}), nil
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(array.Data[float32](y))
	// Output: [2 4]
}

// What a compiled program needs on a device, where a plugin is installed.
func ExampleExecutable_Memory() {
	arguments := int64(8) // of a machine without one
	if plugin, err := pjrt.Open(""); err == nil {
		client, err := plugin.NewClient()
		if err != nil {
			fmt.Println(err)
			return
		}
		defer client.Close()
		program, err := client.Compile(`module @twice {
  func.func public @main(%x: tensor<2xf32>) -> tensor<2xf32> {
    %y = stablehlo.add %x, %x : tensor<2xf32>
    return %y : tensor<2xf32>
  }
}`, pjrt.CompileOptions{})
		if err != nil {
			fmt.Println(err)
			return
		}
		memory, err := program.Memory()
		if err != nil {
			fmt.Println(err)
			return
		}
		arguments = memory.Arguments
	}
	fmt.Println(arguments, "bytes")
	// Output: 8 bytes
}

// A program without a plugin goes on with another target.
func ExampleOpen() {
	os.Setenv("GOFX_PJRT_PLUGIN", "/no/such/plugin.so")
	defer os.Unsetenv("GOFX_PJRT_PLUGIN")
	_, err := pjrt.Open("")
	fmt.Println(errors.Is(err, pjrt.NoPlugin))
	// Output: true
}

// The plugins that lie where they are looked for.
func ExampleAvailable() {
	dir, err := os.MkdirTemp("", "plugins")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	os.Setenv("PJRT_PLUGIN_LIBRARY_PATH", dir)
	defer os.Unsetenv("PJRT_PLUGIN_LIBRARY_PATH")
	path := filepath.Join(dir, "pjrt_c_api_toy_plugin.so") // no library, which only Load finds out
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range pjrt.Available() {
		if f.Path == path {
			fmt.Println(f.Name)
		}
	}
	_, err = pjrt.Load(path)
	fmt.Println(errors.Is(err, pjrt.NoPlugin))
	// Output:
	// toy
	// true
}

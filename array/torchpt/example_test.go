package torchpt_test

import (
	"fmt"
	"os"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/torchpt"
)

// The file was made by torch.save(net.state_dict(), "state.pth").
func ExampleOpen() {
	f, err := torchpt.Open("testdata/state.pth")
	if err != nil {
		fmt.Println(err)
		return
	}
	d, shape, _ := f.Type("0.weight")
	fmt.Println(f.Names()[:2], d, shape)
	w, err := f.Get("0.weight")
	fmt.Println(array.Data[float32](w), err)

	_, err = torchpt.Open("testdata/hostile.pt") // a pickle that would run a command
	fmt.Println(err)
	// Output:
	// [0.weight 0.bias] f32 [2 3]
	// [0 1 2 3 4 5] <nil>
	// testdata/hostile.pt: torch: file has "posix.system": only tensors, numbers, texts, lists, tuples and dictionaries are read, and nothing is executed [FX8069]
	//     hint: save tensors alone: torch.save(model.state_dict(), f)
}

// A program that torch.export.save wrote has constants next to its state.
func ExampleParseConstants() {
	data, err := os.ReadFile("../../pt2/testdata/mlp.pt2")
	if err != nil {
		fmt.Println(err)
		return
	}
	f, err := torchpt.ParseConstants(data)
	if err != nil {
		fmt.Println(err)
		return
	}
	a, err := f.Get("lifted_tensor_0")
	fmt.Println(f.Names(), array.Data[float32](a), err)
	// Output: [lifted_tensor_0] [1 2 3] <nil>
}

func ExampleScalarType() {
	d, name := torchpt.ScalarType(7)
	fmt.Println(d, name)
	d, name = torchpt.ScalarType(10)
	fmt.Println(d == array.Invalid, name)
	// Output:
	// f32 float32
	// true complex64
}

package torchpt_test

import (
	"fmt"

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

package nn_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofx-dev/gofx/array/weights"
	"github.com/gofx-dev/gofx/nn"
)

// Ours has the names that the program expects, Theirs those of the file.
type (
	Ours struct {
		Bn1, Bn2 *nn.LayerNorm
		Fc       *nn.Linear
	}
	Theirs struct {
		Norm1, Norm2 *nn.LayerNorm
		Head         *nn.Linear
	}
)

// loadTheirs loads a file with other names; all that do not match are in the error.
func loadTheirs(net *Ours, path string) error {
	file, err := weights.Open(path)
	if err != nil {
		return err
	}
	defer file.Close() // LoadStateDict copies
	renamed, err := weights.Rename(file, "norm*=bn*", "head.*=fc.*")
	if err != nil {
		return err
	}
	return nn.LoadStateDict(net, renamed)
}

// Weights of a file with other names go through weights.Rename.
func ExampleLoadStateDict_otherNames() {
	dir, err := os.MkdirTemp("", "weights")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "theirs.safetensors")
	theirs := &Theirs{nn.NewLayerNorm([]int{3}), nn.NewLayerNorm([]int{3}), nn.NewLinear(3, 1, nn.Seed(7))}
	if err := nn.SaveFile(path, theirs, nil); err != nil {
		fmt.Println(err)
		return
	}
	net := &Ours{nn.NewLayerNorm([]int{3}), nn.NewLayerNorm([]int{3}), nn.NewLinear(3, 1)}
	fmt.Println(loadTheirs(net, path), net.Fc.Weight.Equal(theirs.Head.Weight))
	// Output: <nil> true
}

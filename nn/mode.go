package nn

import "github.com/gofx-dev/gofx/tensor"

// Trainable is a module that behaves differently in training.
type Trainable interface{ SetTraining(on bool) }

// Train puts m and all modules in it into training mode: batch normalisation
// uses and updates statistics, dropout drops.
func Train(m any) { setTraining(m, true) }

// Eval puts m and all modules in it into evaluation mode, in which new modules are.
func Eval(m any) { setTraining(m, false) }

func setTraining(m any, on bool) {
	tensor.Walk(m, func(it tensor.Item) bool {
		if t, ok := it.Module.(Trainable); ok {
			t.SetTraining(on)
		}
		return it.Module != nil
	})
}

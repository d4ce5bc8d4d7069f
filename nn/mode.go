package nn

import (
	"path"
	"strconv"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/near"
	"github.com/gofx-dev/gofx/tensor"
)

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

// Parameters returns the tensors of a module that are trained, in the order of the state dict:
// those of float types that are neither buffers nor frozen. Tied tensors are listed once.
// They are the tensors by which GraphModule.ValueAndGrad differentiates when none
// are named.
func Parameters(m any) []*tensor.Tensor {
	var list []*tensor.Tensor
	for _, e := range NamedParameters(m) {
		list = append(list, e.Tensor)
	}
	return list
}

// NamedParameters returns the tensors that Parameters does, with their paths.
func NamedParameters(m any) []Entry {
	var list []Entry
	for _, e := range StateDict(m) {
		if !e.Buffer && e.Tensor.DType().IsFloat() {
			list = append(list, e)
		}
	}
	return list
}

// Freeze leaves parameters out of training: those whose paths fit one of the patterns
// (path.Match: "encoder.*"), all when there is none. A captured module has them as
// buffers. Tied tensors are frozen under each of their names. A pattern that fits no tensor
// is an error (FX8039), and nothing is frozen then.
func Freeze(m any, patterns ...string) error { return setFrozen(m, true, patterns) }

// Unfreeze undoes Freeze for the parameters whose paths fit one of the patterns, for all
// when there is none. Buffers stay buffers.
func Unfreeze(m any, patterns ...string) error { return setFrozen(m, false, patterns) }

func setFrozen(m any, on bool, patterns []string) error {
	if len(patterns) == 0 {
		patterns = []string{"*"}
	}
	all := StateDict(m)
	var names []string
	var found []Entry
	used := make([]bool, len(patterns))
	for _, e := range all {
		hit := false
		for _, name := range append([]string{e.Name}, e.Aliases...) {
			names = append(names, name)
			for i, p := range patterns {
				if ok, _ := path.Match(p, name); ok {
					used[i], hit = true, true
				}
			}
		}
		if hit {
			found = append(found, e)
		}
	}
	var errs diag.List
	for i, p := range patterns {
		if _, err := path.Match(p, ""); err != nil {
			errs.Add(diag.New(NoParameter, strconv.Quote(p)+" is no pattern").WithHint("* stands for any text, ? for a letter, [ab] for one of several").At(diag.Here()))
		} else if !used[i] && p != "*" {
			errs.Add(diag.New(NoParameter, "no tensor of the module is called "+strconv.Quote(p)).WithHint(near.Hint(p, names, "nn.StateDict lists the names")).At(diag.Here()))
		}
	}
	if err := errs.Err(); err != nil {
		return err
	}
	for _, e := range found {
		e.Tensor.Freeze(on)
	}
	return nil
}

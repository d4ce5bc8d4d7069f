package oracle

import (
	"context"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/safetensors"
)

// GradientCall is a call whose gradient is asked for, with the derivatives with respect
// to its results: nil for results that are no floats.
type GradientCall struct {
	Call
	Seeds []*array.Array
}

// Backward is the outcome of a call that PyTorch computes and does not differentiate.
const Backward Outcome = "backward"

// Gradients is PyTorch's outcome of a call and its gradient.
type Gradients struct {
	Outcome Outcome
	Text    string         // the error or the reason
	Results []*array.Array // of Computed and Backward
	// By are the derivatives with respect to operands that are floats, by their places;
	// empty where the results have other types or sizes than the seeds.
	By map[int]*array.Array
}

// AskGradients computes calls and their gradients with PyTorch's autograd, all in one
// process, with files in dir. The answers are in the order of the calls.
func AskGradients(ctx context.Context, dir string, calls []GradientCall) ([]Gradients, error) {
	plain, seeds := make([]Call, len(calls)), make([][]*array.Array, len(calls))
	for i, c := range calls {
		c.Key = "g" + strconv.Itoa(i)
		plain[i], seeds[i] = c.Call, c.Seeds
	}
	if err := dump(dir, plain, seeds); err != nil {
		return nil, err
	}
	results := filepath.Join(dir, "results")
	if err := execute(ctx, dir, "gradient.py", dir, results); err != nil {
		return nil, err
	}
	return loadGradients(filepath.Join(results, "gradients.safetensors"), calls)
}

func loadGradients(path string, calls []GradientCall) ([]Gradients, error) {
	f, err := safetensors.ReadFile(path)
	if err != nil {
		return nil, err
	}
	all := make([]Gradients, len(calls))
	for key, text := range f.Metadata() {
		what, name, _ := strings.Cut(key, " ")
		i, err := strconv.Atoi(strings.TrimPrefix(name, "g"))
		if what == "sample" || err != nil || i >= len(all) {
			continue
		}
		all[i].Outcome, all[i].Text = Outcome(what), text
	}
	for i := range all {
		key := "g" + strconv.Itoa(i)
		if all[i].Results, err = tensors(f, key); err != nil {
			return nil, err
		}
		all[i].By = map[int]*array.Array{}
		for k := range calls[i].In {
			name := key + "/grad/" + strconv.Itoa(k)
			if _, _, _, _, ok := f.Info(name); !ok {
				continue
			}
			if all[i].By[k], err = f.Get(name); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/safetensors"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/nn"
)

// saveWeights writes a tensor of two elements for each name.
func saveWeights(t *testing.T, path string, names ...string) {
	var list []safetensors.Named
	for i, name := range names {
		a := array.New(array.F32, 2)
		array.SetFloat64At(a, 1, float64(40+i))
		list = append(list, safetensors.Named{Name: name, Array: a})
	}
	w, err := os.Create(path)
	require.NoError(t, err)
	require.NoError(t, safetensors.Write(w, list, nil))
	require.NoError(t, w.Close())
}

// Weights with other names are refused with the rules that make them match, and these work.
func TestWeightsAreRenamed(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("net.fx", []byte("gofx 1\n\ngraph g(%x: f32[2]) {\n  %w = get_attr[bn.weight] : f32[2]\n  %b = get_attr[bn.bias] : f32[2]\n"+
		"  %y = call_function[mul](%x, %w)\n  %z = call_function[add](%y, %b)\n  return %z\n}\nparam bn.weight : f32[2]\nparam bn.bias : f32[2]\n"), 0o666))
	saveWeights(t, "w.safetensors", "norm.weight", "norm.bias")
	code, _, stderr := call("run", "-weights", "w.safetensors", "-in", "x=1,1", "net.fx")
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "    hint: the names match with -rename 'norm.*=bn.*'\n")
	require.NotContains(t, stderr, "nn.")
	for _, rule := range []string{"norm.*=bn.*", "norm*=bn*"} {
		code, stdout, stderr := call("run", "-json", "-weights", "w.safetensors", "-rename", rule, "-in", "x=1,1", "net.fx")
		require.Zero(t, code, stderr)
		require.Contains(t, stdout, "\"data\": [\n        0,\n        81\n      ]")
	}
	code, _, stderr = call("print", "-weights", "w.safetensors", "-rename", "absent*=x*", "net.fx")
	require.Equal(t, 1, code)
	require.Contains(t, stderr, `rule "absent*=x*" fits no tensor's name, the file has "norm.weight" for instance [FX8081]`)
	code, _, stderr = call("run", "-rename", "a=b", "net.fx")
	require.Equal(t, 2, code)
	require.Contains(t, stderr, "-rename is for the names in a file")

	// Tensors of one type are taken in the order of the file and of the model, and the hint says so.
	require.NoError(t, os.WriteFile("two.fx", []byte("gofx 1\n\ngraph g(%x: f32[2]) {\n  %w = get_attr[fc.weight] : f32[2]\n  %b = get_attr[bn.weight] : f32[2]\n"+
		"  %y = call_function[mul](%x, %w)\n  %z = call_function[add](%y, %b)\n  return %z\n}\nparam fc.weight : f32[2]\nparam bn.weight : f32[2]\n"), 0o666))
	saveWeights(t, "w.safetensors", "second.weight", "first.weight")
	code, _, stderr = call("run", "-weights", "w.safetensors", "-in", "x=1,1", "two.fx")
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "    hint: the names match with -rename 'second.*=fc.*' -rename 'first.*=bn.*'; tensors of one type")

	// A module's: the hints of package nn speak of Go.
	saveWeights(t, "mlp.safetensors", "model.fc1.weight")
	code, _, stderr = call("run", "-weights", "mlp.safetensors", "mlp")
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "-rename")
	require.NotContains(t, stderr, "nn.")
}

// One rule takes a prefix away from all names, also from those of counters, which a model does not need.
func TestWeightsAreRenamed_prefix(t *testing.T) {
	t.Chdir(t.TempDir())
	m := models.Lookup("resnet18")
	require.NoError(t, nn.SaveFile("w.safetensors", struct{ Module any }{m.New()}, nil))
	code, _, stderr := call("print", "-weights", "w.safetensors", "resnet18")
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "    hint: the names match with -rename 'module.*=*'\n")
	code, _, stderr = call("print", "-weights", "w.safetensors", "-rename", "module.*=*", "resnet18")
	require.Zero(t, code, stderr)
}

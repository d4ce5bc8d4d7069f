package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Whatever name is mistyped, the one that was meant is proposed.
func TestDidYouMean(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "net"), 0o777))
	for name, text := range map[string]string{
		"go.mod":     "module example.com/m\n\ngo 1.26.0\n",
		"net/net.go": "package net\n\nfunc Double(x []int) []int { return x }\n",
		"typo.fx":    "gofx 1\n\ngraph g(%x: f32[2]) {\n  %y = call_function[rleu](%x) : f32[2]\n  return %y\n}\n",
		"block.fx":   "gofx 1\n\ngraph g(%image: f32[2]) {\n  return %image\n}\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	t.Chdir(dir)
	for _, c := range []struct {
		meant string
		code  int
		args  []string
	}{
		{"fxgen print", 2, []string{"pritn", "mlp"}},
		{"fxgen gen", 2, []string{"gne", "mlp"}},
		{"fxgen draw", 2, []string{"help", "drow"}},
		{"-weights", 2, []string{"run", "-wieghts", "a.safetensors", "mlp"}},
		{"-input", 2, []string{"print", "-inputs", "x=f32[2]", "mlp"}},
		{"bert_base", 1, []string{"print", "bert-bse"}},
		{"block.fx", 1, []string{"print", "./blokc.fx"}},
		{"conv-bn", 1, []string{"print", "-passes", "conv-nb", "mlp"}},
		{"dce", 1, []string{"print", "-passes", "conv-bn,dce", "-after", "dec", "mlp"}},
		{"Double", 1, []string{"print", "./net#Duoble"}},
		{"image", 1, []string{"run", "-in", "imgae=ramp", "block.fx"}},
		{"image", 1, []string{"run", "-shape", "Image=2", "block.fx"}},
		{"interp", 1, []string{"run", "-engine", "intrep", "block.fx"}},
		{"relu", 1, []string{"print", "typo.fx"}},
		{"FX8050", 1, []string{"explain", "FX850"}},
	} {
		code, _, stderr := call(c.args...)
		require.Equal(t, c.code, code, "%s: %s", c.args, stderr)
		require.Contains(t, stderr, "    hint: did you mean "+c.meant+"?\n", c.args)
	}
	_, _, stderr := call("pineapples", "mlp")
	require.Contains(t, stderr, "hint: fxgen -h lists the commands")
}

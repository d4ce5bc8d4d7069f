package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
)

func TestBytesOf(t *testing.T) {
	for text, want := range map[string]int64{"1": 1, "1024": 1024, "2KiB": 2 << 10, "3MiB": 3 << 20, "4GiB": 4 << 30} {
		n, ok := bytesOf(text)
		require.True(t, ok, text)
		require.Equal(t, want, n, text)
	}
	for _, text := range []string{"", "0", "-1", "1e9", "1 MiB", "MiB", "1GB", "9223372036854775807KiB", "99999999999999999999"} {
		_, ok := bytesOf(text)
		require.False(t, ok, text)
	}
}

// -max-bytes holds for every verb, and for the code that gen writes; without it a file gets
// half of the memory.
func TestMaxBytes(t *testing.T) {
	defer array.SetMaxBytes(array.SetMaxBytes(1 << 40))
	t.Setenv(limitVar, "")
	dir := t.TempDir()
	file := filepath.Join(dir, "grow.fx")
	require.NoError(t, os.WriteFile(file, []byte(`gofx 1

graph g(%x: f32[16]) {
  %a = call_function[cat](%x, %x) {dim=0} : f32[32]
  %b = call_function[cat](%a, %a) {dim=0} : f32[64]
  %c = call_function[exp](%b) : f32[64]
  return %c
}
`), 0o600))
	fxgen := func(args ...string) (int, string) {
		var out, errs bytes.Buffer
		require.NoError(t, os.Unsetenv(limitVar))
		code := Main(args, &out, &errs)
		return code, errs.String()
	}
	for _, verb := range [][]string{{"run", "-engine", "plan"}, {"run", "-engine", "interp"}, {"bench", "-repeat", "1"}, {"gen", "-o", filepath.Join(dir, "net")}} {
		code, text := fxgen(append(verb, "-max-bytes", "200", file)...)
		require.Equal(t, 1, code, "%v: %s", verb, text)
		require.Contains(t, text, "FX2009", verb)
		code, text = fxgen(append(verb, "-max-bytes", "1MiB", file)...)
		require.Zero(t, code, "%v: %s", verb, text)
		require.Equal(t, "1048576", os.Getenv(limitVar), "programs that are started have the limit")
	}
	code, text := fxgen("run", "-max-bytes", "many", file)
	require.Equal(t, exitUsage, code)
	require.Contains(t, text, "-max-bytes many")
	array.SetMaxBytes(1 << 30)
	code, text = fxgen("run", file)
	require.Zero(t, code, text)
	require.Equal(t, int64(1<<29), array.MaxBytes())
}

// A package with weights that nobody has chosen says so, and gen does.
func TestWeightsThatNobodyChose(t *testing.T) {
	dir := t.TempDir()
	gen := func(args ...string) (code, notes string) {
		var out, errs bytes.Buffer
		require.Zero(t, Main(append([]string{"gen", "-o", filepath.Join(dir, "net"), "-package", "net"}, args...), &out, &errs), errs.String())
		b, err := os.ReadFile(filepath.Join(dir, "net", "model.go"))
		require.NoError(t, err)
		return string(b), errs.String()
	}
	code, notes := gen("mlp")
	require.Contains(t, notes, "no -weights is given")
	require.Contains(t, code, `const WeightsOrigin = "synthetic:gofx-1, values that mean nothing"`)
	require.Contains(t, code, "// The weights are from synthetic:gofx-1, values that mean nothing.")
	code, notes = gen("-weights", "synthetic:7", "mlp")
	require.Empty(t, notes)
	require.Contains(t, code, `const WeightsOrigin = "synthetic:7, values that mean nothing"`)
}

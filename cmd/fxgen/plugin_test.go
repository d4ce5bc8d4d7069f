package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/internal/testkit/pyenv"
)

// TestPlugin: XLA's plugin for processors runs networks, measures them and agrees with results that
// are stored; the processor runs the operators that it does not take.
func TestPlugin(t *testing.T) {
	plugin := pyenv.File(t, "fastatomstruct_xla_cpu", "libpjrt_cpu.so")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("GOFX_PJRT_PLUGIN", "")
	engine := func(args ...string) string {
		code, stdout, stderr := call(append(args, "-engine", "xla", "-device", plugin)...)
		require.Zero(t, code, stderr)
		return stdout
	}
	networks := []string{"mlp"}
	if fxtest.IsNightly() {
		networks = append(networks, "resnet18", "bert_base", "gpt2", "lstm_10x256")
	}
	for _, name := range networks {
		require.Contains(t, engine("run", name), "tensor(")
		require.Contains(t, engine("compare", name, name, "-engine2", "interp"), "all values agree")
		require.Contains(t, engine("bench", name, "-repeat", "2", "-min-time", "0s", "-json"), `"engine":"xla"`)
	}
	cases, err := filepath.Glob("../../onnx/testdata/ml/*")
	require.NoError(t, err)
	if !fxtest.IsNightly() {
		cases = cases[:4]
	}
	lines := strings.Split(strings.TrimSpace(engine(append([]string{"verify"}, cases...)...)), "\n")
	require.Len(t, lines, len(cases))
	for _, line := range lines {
		require.Regexp(t, "^agrees ", line)
	}
	require.Contains(t, strings.Join(lines, "\n"), "1 call runs on the processor: pairwise_coupling")
	t.Setenv("VIRTUAL_ENV", filepath.Join(filepath.Dir(plugin), "..", "..", "..", ".."))
	_, stdout, _ := call("devices")
	require.Regexp(t, `(?m)^xla +Target xla: plugin .*libpjrt_cpu.so, PJRT 0\.`, stdout)
}

package grad_test

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

var askGoMLX = flag.Bool("gomlx", false, "ask GoMLX, which is then downloaded, and write its answers to testdata/gomlx.jsonl")

// TestNetworksAsGoMLX holds losses and gradients of ten small networks to those of GoMLX on the same formulas, in f64. The answers are
// in testdata; go test ./passes/grad -run GoMLX -gomlx asks the module internal/testkit/gomlx for new ones.
func TestNetworksAsGoMLX(t *testing.T) {
	inputs, ask := askNetworks(t)
	const kept = "testdata/gomlx.jsonl"
	if *askGoMLX {
		cmd := exec.Command("go", "run", "-C", "../../internal/testkit/gomlx", ".")
		cmd.Stdin = ask
		require.NoError(t, os.WriteFile(kept, answersOf(t, cmd), 0o644))
	}
	said, err := os.ReadFile(kept)
	require.NoError(t, err)
	compareNetworks(t, inputs, bytes.NewReader(said))
}

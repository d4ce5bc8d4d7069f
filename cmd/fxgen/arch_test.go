package main

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
)

// TestOtherMachinesGenerateTheSameBytes builds fxgen for linux/arm64, runs it under
// qemu, and masks this machine's CPU features: source and weights, batch norms
// folded, must not differ.
func TestOtherMachinesGenerateTheSameBytes(t *testing.T) {
	fxtest.Nightly(t)
	qemu, why := fxtest.EmulatorOfArm64(t)
	if qemu == "" {
		t.Skip(why)
	}
	dir := t.TempDir()
	native, arm := fxgenFor(t, "amd64"), fxgenFor(t, "arm64")
	for _, model := range []string{"mlp", "resnet18", "gpt2"} {
		want := generated(t, dir, model, nil, native)
		require.Equal(t, want, generated(t, dir, model, []string{"GOFX_CPU=generic"}, native), "%s with features masked", model)
		require.Equal(t, want, generated(t, dir, model, nil, qemu, arm), "%s on arm64", model)
	}
}

// generated runs fxgen gen and returns a hash over the files that it wrote.
func generated(t *testing.T, dir, model string, env []string, command ...string) string {
	out, err := os.MkdirTemp(dir, model)
	require.NoError(t, err)
	args := append(command[1:], "gen", "-o", out, "-package", "net", model)
	cmd := exec.Command(command[0], args...)
	cmd.Env = append(os.Environ(), env...)
	msg, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", msg)
	files, err := os.ReadDir(out)
	require.NoError(t, err)
	require.NotEmpty(t, files)
	h := sha256.New()
	for _, f := range files {
		b, err := os.ReadFile(filepath.Join(out, f.Name()))
		require.NoError(t, err)
		h.Write([]byte(f.Name()))
		h.Write(b)
	}
	return hex.EncodeToString(h.Sum(nil))
}

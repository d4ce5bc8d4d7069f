package gpu_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/gpu"
	clang "github.com/gofx-dev/gofx/lowering/gpu/internal/ptx"
)

// block is the part of a residual network between two sums: a window of 3 by 3, then one of 1 by 1 with
// a sum and an activation after it.
const block = `gofx 1
graph block(%x: DTYPE[32,256,28,28], %a: DTYPE[128,256,1,1], %w: DTYPE[128,128,3,3], %b: DTYPE[128], %v: DTYPE[256,128,1,1], %c: DTYPE[256]) {
  %s = call_function[conv2d](%x, %a)
  %y = call_function[conv2d](%s, %w, %b) {padding=[1,1]}
  %r = call_function[relu](%y)
  %z = call_function[conv2d](%r, %v, %c)
  %t = call_function[add](%z, %x)
  %u = call_function[relu](%t)
  %p = call_function[conv2d](%u, %a)
  return %p
}
`

// machineCode returns the kernels on tensor cores of block in a type, as PTX, each with all that it has.
func machineCode(t *testing.T, dtype string) (whole string, entries []string) {
	t.Helper()
	m, err := graph.Parse([]byte(strings.ReplaceAll(block, "DTYPE", dtype)), "block.fx")
	require.NoError(t, err)
	text, err := gpu.Target{TF32: true}.Text(m, lowering.Options{}, gpu.CUDA)
	require.NoError(t, err)
	made, err := clang.Compile(text, clang.Ampere)
	if errors.Is(err, clang.ErrNoCompiler) {
		t.Skip(err)
	}
	require.NoError(t, err)
	for _, e := range strings.Split(string(made), ".visible .entry ")[1:] {
		if strings.Contains(e, "mma.sync") {
			entries = append(entries, e)
		}
	}
	return string(made), entries
}

// mostInstructions is how many a convolution's kernel has: what rounds 64 results and stores them is most of it. With
// conversions written out there were twenty thousand, which a driver compiled for seconds.
const mostInstructions = 2000

// instructions are the lines of a kernel that are no comments.
func instructions(entry string) (n int) {
	for line := range strings.Lines(entry) {
		if line = strings.TrimSpace(line); strings.HasSuffix(line, ";") {
			n++
		}
	}
	return n
}

// TestConvolutionsOfResidualNetworks: their kernels for tensor cores are short, keep nothing in memory of a thread,
// and read and write 16 bytes at once, in halves as in tf32.
func TestConvolutionsOfResidualNetworks(t *testing.T) {
	narrow := regexp.MustCompile(`(ld|st)\.global(\.nc)?\.[a-z]?(8|16|32)\b`)
	types := []string{"f16", "bf16", "f32"}
	if !fxtest.IsNightly() {
		types = types[:1]
	}
	for _, dtype := range types {
		t.Run(dtype, func(t *testing.T) {
			whole, entries := machineCode(t, dtype)
			require.Len(t, entries, 4)
			read, wrote, both := 0, 0, 0
			for _, e := range entries {
				name, _, _ := strings.Cut(e, "(")
				require.NotContains(t, e, ".local", name)
				require.Less(t, instructions(e), mostInstructions, name)
				rounds, after, found := strings.Cut(e, "mma.sync")
				require.True(t, found)
				wideRead, wideWrite := !narrow.MatchString(rounds), !narrow.MatchString(after)
				if wideRead {
					read++
				}
				if wideWrite {
					wrote++
				}
				if wideRead && wideWrite {
					both++
				}
			}
			require.Equal(t, 3, read, "all read quads except the first, whose image is the caller's")
			require.Equal(t, 2, wrote, "all write quads except those with the caller's image and the graph's result, which lie in order")
			require.Equal(t, 1, both)
			assembled(t, whole)
		})
	}
}

// assembled holds that NVIDIA's assembler, where there is one, has registers for everything.
func assembled(t *testing.T, code string) {
	path, err := exec.LookPath("ptxas")
	if err != nil {
		t.Log("no ptxas is installed, which tells what does not fit into registers")
		return
	}
	file := filepath.Join(t.TempDir(), "block.ptx")
	require.NoError(t, os.WriteFile(file, []byte(code), 0o600))
	said, err := exec.Command(path, "-arch=sm_90", "-v", "-o", file+".cubin", file).CombinedOutput()
	require.NoError(t, err, "%s", said)
	spills := regexp.MustCompile(`(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads`).FindAllStringSubmatch(string(said), -1)
	require.NotEmpty(t, spills)
	for _, s := range spills {
		require.Equal(t, []string{"0", "0", "0"}, s[1:])
	}
}

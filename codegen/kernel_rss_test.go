//go:build unix

package codegen_test

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// measuredBuild is the variable that has TestMeasuredBuild build a folder.
const measuredBuild = "GOFX_MEASURED_BUILD"

// buildRSS builds all packages below dir and returns the most memory in bytes that a
// process took. A process begins with the memory of the one that starts it, so a
// fresh one, not this, starts the build.
func buildRSS(t testing.TB, dir string) (n int64) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestMeasuredBuild$")
	cmd.Env = append(os.Environ(), measuredBuild+"="+dir)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	_, err = fmt.Sscanf(string(out), "took %d bytes", &n)
	require.NoError(t, err, "%s", out)
	return n
}

// TestMeasuredBuild is the process that buildRSS starts.
func TestMeasuredBuild(t *testing.T) {
	dir := os.Getenv(measuredBuild)
	if dir == "" {
		t.Skip("tests that measure builds run it")
	}
	cmd := exec.Command("go", "build", "-o", os.DevNull, "./...")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off")
	var text strings.Builder
	cmd.Stdout, cmd.Stderr = &text, &text
	require.NoError(t, cmd.Run(), "%s", &text)
	fmt.Println("took", maxRSS(cmd), "bytes")
}

// maxRSS returns the most memory in bytes that a finished command and its child
// processes took.
func maxRSS(cmd *exec.Cmd) int64 {
	n := int64(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)
	if runtime.GOOS == "linux" {
		n <<= 10
	}
	return n
}

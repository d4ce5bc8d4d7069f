package kernel

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestGeneratedQuantizedAssembly is TestGeneratedAssembly for the generator of
// the quantised kernels.
func TestGeneratedQuantizedAssembly(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the generator")
	}
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go command: ", err)
	}
	run := func(args ...string) ([]byte, error) {
		c := exec.Command(tool, args...)
		c.Dir = filepath.Join("..", "internal", "asmgen")
		c.Env = append(os.Environ(), "GOFLAGS=-mod=readonly", "GOWORK=off", "GOOS=", "GOARCH=")
		return c.CombinedOutput()
	}
	if out, err := run("mod", "download"); err != nil {
		t.Skipf("the generator's dependencies cannot be loaded: %s", out)
	}
	if out, err := run("test", "-count=1", "./q"); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

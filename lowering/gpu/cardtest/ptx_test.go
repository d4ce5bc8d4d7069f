package cardtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// findClang returns a compiler for CUDA C.
func findClang() (string, error) {
	for _, name := range []string{"clang-22", "clang-21", "clang-20", "clang-19"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("no clang here that compiles CUDA C: install clang-22")
}

// clang compiles a program to PTX.
func clang(source string) ([]byte, error) {
	path, err := findClang()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "cardtest")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	cu, out := filepath.Join(dir, "k.cu"), filepath.Join(dir, "k.ptx")
	if err := os.WriteFile(cu, []byte(source), 0o600); err != nil {
		return nil, err
	}
	said, err := exec.Command(path, "-x", "cuda", "--cuda-device-only", "--cuda-gpu-arch=sm_80", "-Xclang", "-target-feature", "-Xclang", "+ptx70",
		"-nocudainc", "-nocudalib", "-ffp-contract=off", "-std=c++17", "-O2", "-include", filepath.Join("..", "testdata", "cuda.h"), "-S", "-o", out, cu).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, said)
	}
	return os.ReadFile(out)
}

var external = regexp.MustCompile(`(?m)^\.extern \.func[^;]*?(\w+)\s*\n?\(`)

// resolved compiles a program, and refuses one that calls what is not in it.
func resolved(source string) ([]byte, error) {
	image, err := clang(source)
	if err != nil {
		return nil, err
	}
	var missing []string
	for _, m := range external.FindAllSubmatch(image, -1) {
		missing = append(missing, string(m[1]))
	}
	if slices.Sort(missing); len(missing) > 0 {
		return nil, fmt.Errorf("the PTX calls functions that no driver has: %s", strings.Join(slices.Compact(missing), ", "))
	}
	return image, nil
}

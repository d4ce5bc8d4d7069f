package ptx

import (
	"bytes"
	_ "embed"
	"os/exec"
	"regexp"
	"strings"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/device"
)

//go:embed cuda.h
var words string

//go:embed common.h
var common string

//go:embed float32.h
var floats string

//go:embed float64.h
var doubles string

//go:embed names.h
var names string

// ErrNoCompiler is the error of Compile where no clang is found that compiles CUDA C for the
// devices that Compile makes PTX for.
var ErrNoCompiler = diag.New(device.NoDevice, "no clang is installed that compiles CUDA C to PTX").
	WithHint("install clang 19 or later (Debian: clang-22), or compile with a CUDA toolkit: nvcc -ptx --fmad=false")

// compilers are the names of clang, newest first.
var compilers = []string{"clang-22", "clang-21", "clang-20", "clang-19"}

// external finds functions that PTX declares and does not have.
var external = regexp.MustCompile(`\.extern\s+\.func\s+(?:\([^)]*\)\s*)?([\w$]+)`)

// Arch is an architecture that Compile makes PTX for; later ones run it, too.
type Arch struct{ name, isa string }

// Ampere is the first architecture with the instructions of tensor cores that kernels use, Hopper
// that of the H100 and H200. Each goes with the first version of PTX that has it.
var (
	Ampere = Arch{"sm_80", "ptx70"}
	Hopper = Arch{"sm_90", "ptx78"}
)

// Compile returns the PTX of a program in CUDA C, which needs no library: a program that calls
// functions which neither it nor this package has is refused, and they are named.
func Compile(source string, least Arch) ([]byte, error) {
	for _, name := range compilers {
		if path, err := exec.LookPath(name); err == nil {
			return compile(path, source, least)
		}
	}
	return nil, ErrNoCompiler
}

func compile(path, source string, least Arch) ([]byte, error) {
	cmd := exec.Command(path, "-x", "cuda", "--cuda-device-only", "--cuda-gpu-arch="+least.name, "-Xclang", "-target-feature", "-Xclang", "+"+least.isa,
		"-nocudainc", "-nocudalib", "-fno-math-errno", "-ffp-contract=off", "-std=c++17", "-O2", "-S", "-o", "-", "-")
	cmd.Stdin = strings.NewReader(words + common + floats + doubles + names + "#line 1 \"kernels.cu\"\n" + source)
	var image, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &image, &said
	if err := cmd.Run(); err != nil {
		return nil, diag.New(device.BuildFailed, "clang refuses the program: "+err.Error()+"\n"+shortened(said.String()))
	}
	var missing []string
	for _, m := range external.FindAllSubmatch(image.Bytes(), -1) {
		missing = append(missing, string(m[1]))
	}
	if len(missing) > 0 {
		return nil, diag.New(device.BuildFailed, "the program calls functions that no driver has: "+strings.Join(missing, ", ")).
			WithHint("write them in the program, or compile it with a CUDA toolkit")
	}
	return image.Bytes(), nil
}

// shortened cuts what a compiler says to a length that an error can have.
func shortened(log string) string {
	const most = 4000
	return log[:min(len(log), most)]
}

package ptx

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/device"
)

// compiled skips the test where there is no clang.
func compiled(t *testing.T, source string) (string, error) {
	t.Helper()
	made, err := Compile(source, Ampere)
	if errors.Is(err, ErrNoCompiler) {
		t.Skip(err)
	}
	return string(made), err
}

// TestFunctionsNeedNoLibrary: what is called is there, f32 is computed in f32 without
// approximate instructions, and nothing is kept in memory of a thread.
func TestFunctionsNeedNoLibrary(t *testing.T) {
	kinds := []struct{ c, other string }{{"float", ".f64"}, {"double", ".f32"}}
	calls := map[string]string{"pow": "pow(p[0], p[1])", "fmod": "fmod(p[0], p[1])", "sqrt": "sqrt(p[0])", "rint": "rint(p[0])", "round": "round(p[0])", "floor": "floor(p[0])", "fma": "fma(p[0], p[1], p[2])", "fmax": "fmax(p[0], p[1])", "copysign": "copysign(p[0], p[1])"}
	for name := range ones {
		calls[name] = name + "(p[0])"
	}
	for name, call := range calls {
		for _, k := range kinds {
			if name == "erf" && k.c == "float" {
				continue
			}
			made, err := compiled(t, "extern \"C\" __global__ void k("+k.c+" *p) { p[0] = "+call+"; }\n")
			require.NoError(t, err, name)
			require.Contains(t, made, ".visible .entry k(", name)
			for _, not := range []string{".extern", ".local", ".approx", ".ftz", "ex2", k.other} {
				require.NotContains(t, made, not, "%s of %s", name, k.c)
			}
		}
	}
}

func TestProgramsThatAreRefused(t *testing.T) {
	for name, c := range map[string]struct{ source, want string }{
		"a function that nobody has":   {"extern \"C\" __device__ float lgammaf(float);\nextern \"C\" __global__ void k(float *p) { p[0] = lgammaf(p[0]); }\n", "no driver has: lgammaf"},
		"one without a result":         {"extern \"C\" __device__ void tell(int);\nextern \"C\" __global__ void k(int *p) { tell(p[0]); }\n", "no driver has: tell"},
		"an error at its line":         {"extern \"C\" __global__ void k(float *p) {\n\tp[0] = q;\n}\n", "kernels.cu:2:9: error: use of undeclared identifier 'q'"},
		"more errors than are printed": {strings.Repeat("extern \"C\" __global__ int;;; 5\n", 4000), "error"},
	} {
		_, err := compiled(t, c.source)
		var d *diag.Error
		require.ErrorAs(t, err, &d, name)
		require.Equal(t, device.BuildFailed, d.Code, name)
		require.ErrorContains(t, err, c.want, name)
		require.Less(t, len(err.Error()), 5000, name)
	}
}

func TestNoCompiler(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := Compile("", Ampere)
	require.ErrorIs(t, err, ErrNoCompiler)
	require.ErrorIs(t, err, device.NoDevice)
	require.ErrorContains(t, err, "install clang")
}

// TestNamesAreThoseOfKernels: names.h has a name for every function of the headers that is one of mathematics.
func TestNamesAreThoseOfKernels(t *testing.T) {
	for name := range ones {
		require.Regexp(t, regexp.MustCompile(`\b`+name+`\b`), names)
		require.Regexp(t, regexp.MustCompile(`\bfxm_`+name+`\(`), common+floats+doubles)
	}
}

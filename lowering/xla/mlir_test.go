package xla_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/xla"
	"github.com/gofx-dev/gofx/lowering/xla/internal/stablehlo"
	"github.com/gofx-dev/gofx/op"
)

const irdl = "testdata/stablehlo.irdl.mlir"

// undescribed are the operations whose operands IRDL cannot describe: any number of values of
// several types.
var undescribed = []string{"concatenate", "while"}

// mlirOpt returns the path of mlir-opt and skips the test where it is not installed.
func mlirOpt(t *testing.T) string {
	for _, name := range []string{"mlir-opt-22", "mlir-opt"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("mlir-opt-22 is not installed (Debian's mlir-22-tools)")
	return ""
}

var (
	pairOf     = regexp.MustCompile(`(%\d+:2 = "stablehlo\.)(reduce|reduce_window)"`)
	several    = regexp.MustCompile(`"stablehlo\.(concatenate|while)"`)
	moduleName = regexp.MustCompile(`module @\w+`)
	many       = regexp.MustCompile(`%\d+:\d+ = "stablehlo\.(if)"|(^|\n) *"stablehlo\.(if)"`)
)

// renamed is a program as mlir-opt takes it with the description: attributes of the dialect and
// returns are of a dialect that nothing is known of, and so is what IRDL cannot describe.
func renamed(text string) string {
	text = strings.ReplaceAll(text, "#stablehlo", "#other")
	text = strings.ReplaceAll(text, `"stablehlo.return"`, `"other.return"`)
	text = pairOf.ReplaceAllString(text, `${1}${2}_2"`)
	text = many.ReplaceAllStringFunc(text, func(s string) string { return strings.ReplaceAll(s, "stablehlo.", "other.") })
	return several.ReplaceAllString(text, `"other.$1"`)
}

// verifies runs mlir-opt on programs and requires it to accept them.
func verifies(t *testing.T, texts []string) {
	t.Helper()
	out, err := mlir(t, texts)
	require.NoError(t, err, out)
}

func mlir(t *testing.T, texts []string) (string, error) {
	t.Helper()
	tool := mlirOpt(t)
	file := filepath.Join(t.TempDir(), "programs.mlir")
	var all bytes.Buffer
	for i, p := range texts { // modules in one are read much faster than one by one
		all.WriteString(moduleName.ReplaceAllString(renamed(p), "module @p"+strconv.Itoa(i)))
	}
	require.NoError(t, os.WriteFile(file, all.Bytes(), 0o600))
	out, err := exec.Command(tool, "--irdl-file="+irdl, "--allow-unregistered-dialect", "-o", os.DevNull, file).CombinedOutput()
	if len(out) > 4000 {
		out = out[:4000]
	}
	return string(out), err
}

func TestDescriptionHasEveryOperation(t *testing.T) {
	data, err := os.ReadFile(irdl)
	require.NoError(t, err)
	for _, name := range stablehlo.Names() {
		found := bytes.Contains(data, []byte("irdl.operation @"+name+" {"))
		if contains(undescribed, name) {
			require.False(t, found, name)
		} else {
			require.True(t, found, name)
		}
	}
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// TestMLIRAcceptsEverySample: what this package's verifier accepts is MLIR, and has the operands,
// attributes and types that the description asks for.
func TestMLIRAcceptsEverySample(t *testing.T) {
	mlirOpt(t)
	var texts []string
	for _, o := range op.All() {
		if o.Structural() || o.AdHoc {
			continue
		}
		for _, s := range o.Samples() {
			m := oneCall(o, s.Attrs, s.In)
			if p, err := xla.Emit(m, lowering.Options{}); err == nil {
				texts = append(texts, p.String())
			}
		}
	}
	require.Greater(t, len(texts), 2000)
	verifies(t, texts)
}

// TestMLIRRefuses shows that the check can fail.
func TestMLIRRefuses(t *testing.T) {
	good := `module @m {
  func.func public @main(%arg0: tensor<2xf32>) -> (tensor<2xf32>) {
    %0 = "stablehlo.add"(%arg0, %arg0) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %1 = "stablehlo.reverse"(%0) {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<2xf32>
    "func.return"(%1) : (tensor<2xf32>) -> ()
  }
}
`
	verifies(t, []string{good})
	for _, bad := range [][2]string{
		{`"stablehlo.add"(%arg0, %arg0) : (tensor<2xf32>, tensor<2xf32>)`, `"stablehlo.add"(%arg0) : (tensor<2xf32>)`},
		{`{dimensions = array<i64: 0>} `, ``},
		{`-> tensor<2xf32>
    %1`, `-> tensor<2xf64>
    %1`},
	} {
		require.Contains(t, good, bad[0])
		_, err := mlir(t, []string{strings.Replace(good, bad[0], bad[1], 1)})
		require.Error(t, err, bad[1])
	}
}

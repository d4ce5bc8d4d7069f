package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
)

// fxgenFor builds fxgen for linux and a processor.
func fxgenFor(t *testing.T, arch string) string {
	bin := filepath.Join(t.TempDir(), "fxgen-"+arch)
	cmd := exec.Command("go", "build", "-o", bin, ".")
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH="+arch, "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return bin
}

// TestQuantisedModelsAreTheSameEverywhere quantises networks once and runs the integer
// graphs in every engine with whatever instructions there are: all bits are the same.
// Attention is expanded first: as one operator it stays in floats, whose sums differ in
// their last bits. Nightly, the plan runs on arm64 under qemu, too.
func TestQuantisedModelsAreTheSameEverywhere(t *testing.T) {
	digits, err := filepath.Abs("../../examples/digits")
	require.NoError(t, err)
	dynamic := filepath.Join(digits, "dynamic.json")
	if testing.Short() {
		t.Skip("-short: builds generated code")
	}
	native := fxgenBinary(t)
	arm, qemu := "", ""
	if fxtest.IsNightly() {
		if path, why := fxtest.EmulatorOfArm64(t); path != "" {
			arm, qemu = fxgenFor(t, "arm64"), path
		} else {
			t.Log("not on arm64: " + why)
		}
	}
	expand := []string{"-passes", "functionalize,decompose,const-fold,cse,dce"}
	tokens := []string{"-shape", "input_ids=1,16", "-shape", "attention_mask=1,16"}
	for _, c := range []struct {
		name    string
		dir     string
		source  []string // arguments of fxgen quant
		sizes   []string // of fxgen run
		nightly bool
	}{
		{"digits", digits, []string{"-weights", "digits.safetensors", "-calib", "calibration.npy", "-input", "x=f32[N,1,8,8]", "-new", "NewNet", ".#Net"}, []string{"-shape", "x=3,1,8,8"}, false},
		{"resnet18", ".", []string{"resnet18"}, nil, false},
		{"resnet50", ".", []string{"resnet50"}, nil, true},
		{"mobilenet_v3_large", ".", []string{"mobilenet_v3_large"}, nil, true},
		{"bert_base", ".", append(expand, "bert_base"), tokens, true},
		{"bert_base dynamic", ".", append(expand, "-config", dynamic, "bert_base"), tokens, true},
		{"deep_recommender", ".", []string{"deep_recommender"}, []string{"-shape", "x=5,17768"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.nightly {
				fxtest.Nightly(t)
			}
			folder := filepath.Join(t.TempDir(), "net")
			command(t, c.dir, nil, append([]string{native, "quant", "-o", folder}, c.source...)...)
			text := command(t, c.dir, nil, native, "print", "-passes", "none", folder)
			require.Regexp(t, `call_function\[q_`, text, "nothing is quantised")
			results := regexp.MustCompile(`%(\w+)`).FindAllStringSubmatch(text[strings.LastIndex(text, "\n  return "):strings.LastIndex(text, "\n}")], -1)
			require.NotEmpty(t, results)
			run := func(env []string, engine string, fxgen ...string) (all string) {
				dir := t.TempDir()
				args := append(append(fxgen, "run", "-passes", "none", "-engine", engine), c.sizes...)
				for _, r := range results {
					args = append(args, "-out", r[1]+"="+filepath.Join(dir, r[1]+".npy"))
				}
				command(t, c.dir, env, append(args, folder)...)
				for _, r := range results {
					b, err := os.ReadFile(filepath.Join(dir, r[1]+".npy"))
					require.NoError(t, err)
					all += string(b)
				}
				return all
			}
			want := run(nil, "interp", native)
			require.Regexp(t, `[^\x00]{16}`, want[128:], "the result is more than zeros")
			for _, level := range []string{"generic", "avx2", "avx512"} {
				for _, engine := range []string{"interp", "plan", "gen"} {
					require.True(t, want == run([]string{"GOFX_CPU=" + level}, engine, native), "%s, %s", level, engine)
				}
			}
			if arm != "" {
				require.True(t, want == run(nil, "plan", qemu, arm), "arm64")
			}
		})
	}
}

// command runs a program in a folder and returns its output.
func command(t *testing.T, dir string, env []string, args ...string) string {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var errs []byte
	out, err := cmd.Output()
	if e, ok := err.(*exec.ExitError); ok {
		errs = e.Stderr
	}
	require.NoError(t, err, "%q: %s", args, errs)
	return string(out)
}

package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/npy"
)

// sourceFolder returns a folder in this module, which has to hold the source.
func sourceFolder(t *testing.T) string {
	require.NoError(t, os.MkdirAll("build", 0o755))
	dir, err := os.MkdirTemp("build", "test-")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// command runs the command and returns its output on either stream.
func runCommand(t *testing.T, args ...string) (out, log string, err error) {
	var o, l bytes.Buffer
	err = run(t.Context(), args, &o, &l)
	return o.String(), l.String(), err
}

// requireFile compares a .npy file with one of PyTorch's.
func requireFile[T array.Elem](t *testing.T, want, got string) {
	w, err := npy.ReadFile(want)
	require.NoError(t, err)
	g, err := npy.ReadFile(got)
	require.NoError(t, err)
	require.Equal(t, w.DType(), g.DType())
	require.Equal(t, w.Shape(), g.Shape())
	if w.DType() == array.F32 {
		require.InDeltaSlice(t, array.Data[float32](w), array.Data[float32](g), 1e-4)
		return
	}
	require.Equal(t, array.Data[T](w), array.Data[T](g))
}

// One command makes the program, which gives PyTorch's results on this machine and on
// an emulated one.
func TestFromFileToProgram(t *testing.T) {
	source := sourceFolder(t)
	for _, c := range []struct{ goos, goarch, emulator string }{
		{runtime.GOOS, runtime.GOARCH, ""},
		{"linux", "arm64", "qemu-aarch64"},
		{"windows", "amd64", "none"},
	} {
		t.Run(c.goos+"/"+c.goarch, func(t *testing.T) {
			if os.Getenv("GOFX_NIGHTLY") == "" && c.emulator == "none" {
				t.Skip("compiled by the nightly tests")
			}
			program := filepath.Join(t.TempDir(), "digits")
			out, log, err := runCommand(t, "-os", c.goos, "-arch", c.goarch, "-o", program, "-source", source, "digits.onnx")
			require.NoError(t, err, log)
			require.Contains(t, out, c.goos+"/"+c.goarch)
			cmd := exec.Command(program)
			switch c.emulator {
			case "":
			case "none":
				return
			default:
				emulator, err := exec.LookPath(c.emulator)
				if err != nil {
					t.Skip("compiled, but not run: no " + c.emulator)
				}
				cmd = exec.Command(emulator, program)
			}
			logits := filepath.Join(t.TempDir(), "logits.npy")
			cmd.Args = append(cmd.Args, "-in", "image=testdata/image.npy", "-out", "logits="+logits)
			text, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", text)
			require.Contains(t, string(text), "logits tensor(")
			requireFile[float32](t, "testdata/logits.npy", logits)

			cmd = exec.Command(cmd.Path, cmd.Args[1:len(cmd.Args)-4]...)
			cmd.Args = append(cmd.Args, "-in", "image=testdata/mask.npy")
			text, err = cmd.CombinedOutput()
			require.Error(t, err)
			require.Contains(t, string(text), `input "image" is f32[3,5], expected f32[N,1,8,8] [FX1022]`)
		})
	}
}

// A bag of words has inputs and outputs of several types.
func TestSeveralInputsAndOutputs(t *testing.T) {
	source, dir := sourceFolder(t), t.TempDir()
	program := filepath.Join(dir, "bag")
	_, log, err := runCommand(t, "-o", program, "-source", source, "testdata/bag.onnx", "-weights-mode", "literal")
	require.NoError(t, err, log)
	require.NoFileExists(t, filepath.Join(source, "net", "weights.safetensors"), "the flag after the model was not passed on")
	args := []string{"-in", "mask=testdata/mask.npy", "-in", "tokens=testdata/tokens.npy"}
	for _, name := range []string{"scores", "best", "kept"} {
		args = append(args, "-out", name+"="+filepath.Join(dir, name+".npy"))
	}
	text, err := exec.Command(program, args...).CombinedOutput()
	require.NoError(t, err, "%s", text)
	requireFile[float32](t, "testdata/scores.npy", filepath.Join(dir, "scores.npy"))
	requireFile[int64](t, "testdata/best.npy", filepath.Join(dir, "best.npy"))
	requireFile[bool](t, "testdata/kept.npy", filepath.Join(dir, "kept.npy"))
	text, err = exec.Command(program, "-in", "tokens=ramp:2,3", "-in", "mask=ramp:2,3").CombinedOutput()
	require.NoError(t, err, "%s", text)
	text, err = exec.Command(program, "-in", "tokens=ramp:2,3").CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(text), `input "mask" is missing`)
}

func TestMistakes(t *testing.T) {
	source, dir := sourceFolder(t), t.TempDir()
	broken := filepath.Join(dir, "broken.onnx")
	require.NoError(t, os.WriteFile(broken, []byte("\x3a\xff no model"), 0o644))
	program := filepath.Join(dir, "program")
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "no model"},
		{[]string{"absent.onnx"}, "absent.onnx"},
		{[]string{"-source", dir, "digits.onnx"}, "is not a folder below the module"},
		{[]string{"-source", ".", "digits.onnx"}, "is not a folder below the module"},
		{[]string{"-o", program, "-source", source, broken}, "FX8101"},
		{[]string{"-o", program, "-source", source, "digits.onnx", "-in", "nothing=1"}, "nothing"},
		{[]string{"-os", "plan10", "-o", program, "-source", source, "digits.onnx"}, "plan10"},
	} {
		_, log, err := runCommand(t, c.args...)
		require.Error(t, err, "%v", c.args)
		require.Contains(t, log+err.Error(), c.want)
		require.NoFileExists(t, program)
	}
	main := filepath.Join(source, "main.go")
	require.NoError(t, os.WriteFile(main, []byte("package main // mine\n"), 0o644))
	_, _, err := runCommand(t, "-o", program, "-source", source, "digits.onnx")
	require.ErrorContains(t, err, "was not written by this command")
	text, err := os.ReadFile(main)
	require.NoError(t, err)
	require.Equal(t, "package main // mine\n", string(text))
	require.NoFileExists(t, program)
}

// The end of the context ends the commands that were started.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := run(ctx, []string{"-source", sourceFolder(t), "digits.onnx"}, &bytes.Buffer{}, &bytes.Buffer{})
	require.ErrorIs(t, err, context.Canceled)
}

func TestProgramNames(t *testing.T) {
	for model, want := range map[string]string{
		"digits.onnx": "digits", "a/b/net v1.2.onnx": "net_v1_2", "net.go.onnx": "net_go", "..onnx": "_", ".onnx": "model", "größe.onnx": "gr__e", "plain": "plain",
	} {
		require.Equal(t, want, programName(model), model)
	}
	require.Equal(t, ".exe", ending("windows", "arm64"))
	require.Equal(t, ".wasm", ending("js", "wasm"))
	require.Empty(t, ending("linux", "amd64"))
}

package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/npy"
	"github.com/gofx-dev/gofx/array/safetensors"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/keep"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/work"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/internal/testkit/clib"
	"github.com/gofx-dev/gofx/internal/testkit/links"
	"github.com/gofx-dev/gofx/internal/testkit/workdir"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/gpu"
	"github.com/gofx-dev/gofx/models"
)

func TestMain(m *testing.M) {
	testscript.Main(sharing{m}, map[string]func(){"fxgen": main})
}

// sharing runs tests with a folder for all the programs that they link, which the next run finds again:
// nearly all of the time is linking. Scripts have folders of their own, because one holds 1 GiB; those
// that name another link again.
type sharing struct{ m *testing.M }

func (s sharing) Run() int {
	dir, err := workdir.Kept("programs")
	if err != nil { // the user has no cache folder that can be written to
		if dir, err = os.MkdirTemp("", "fxgen-programs-"); err == nil {
			defer func() { _ = os.RemoveAll(dir) }() // no test depends on it
		}
	}
	if err == nil {
		err = os.Setenv(keep.Variable, dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer links.Watch(time.Minute)()
	return s.m.Run()
}

// fxgenBinary is the command as a program, which is this test itself: signals and
// settings of the processor need a process of their own.
func fxgenBinary(t *testing.T) string {
	bin, err := exec.LookPath("fxgen")
	require.NoError(t, err)
	return bin
}

func repo(t *testing.T) string {
	dir, err := filepath.Abs("../..")
	require.NoError(t, err)
	return dir
}

// downloaded has the module cache hold what the go command reads without a network: a build
// alone leaves out the go.mod of modules that it does not need.
var downloaded = sync.OnceValue(func() error {
	cmd := exec.Command("go", "mod", "download")
	cmd.Dir = filepath.Join("..", "..")
	return cmd.Run()
})

// goEnv asks the go command for its caches, which scripts share: their home
// folders are empty.
func goEnv(t *testing.T) []string {
	require.NoError(t, downloaded())
	out, err := exec.Command("go", "env", "-json", "GOCACHE", "GOMODCACHE", "GOROOT").Output()
	require.NoError(t, err)
	var m map[string]string
	require.NoError(t, json.Unmarshal(out, &m))
	env := []string{"REPO=" + repo(t), "GOFLAGS=", "GOPROXY=off", "GOTOOLCHAIN=local", "NO_COLOR=1"}
	for k, v := range m {
		env = append(env, k+"="+v)
	}
	return env
}

// TestScripts runs the command line. Modules of scripts use this checkout: the
// command `module PATH` writes go.mod and go.sum.
func TestScripts(t *testing.T) {
	env := goEnv(t)
	sum, err := os.ReadFile(filepath.Join(repo(t), "go.sum"))
	require.NoError(t, err)
	mod, err := os.ReadFile(filepath.Join(repo(t), "go.mod"))
	require.NoError(t, err)
	requires := string(mod[bytes.Index(mod, []byte("require (")):])
	testscript.Run(t, testscript.Params{
		Dir:         "testdata/script",
		WorkdirRoot: workdir.Of(t),
		Setup: func(e *testscript.Env) error {
			programs, err := workdir.Kept("programs of " + filepath.Base(e.WorkDir))
			if err != nil {
				programs = os.Getenv(keep.Variable)
			}
			e.Vars = append(append(e.Vars, env...), keep.Variable+"="+programs)
			return nil
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "root": // who may read and write everything
				return os.Geteuid() == 0, nil
			case "gpu":
				_, err := gpu.Open("")
				return err == nil, nil
			case "cc":
				return clib.C.Missing() == "", nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits": exits, "close": closeArrays, "keys": keys, "trained": trained, "wrong": wrong, "onnxmodel": onnxModel, "onnxsample": onnxSample, "program": program,
			"library": func(ts *testscript.TestScript, _ bool, args []string) {
				ts.Check(clib.C.Library(ts.MkAbs(args[0]), args[1:]...))
			},
			"module": func(ts *testscript.TestScript, _ bool, args []string) {
				mod := "module " + args[0] + "\n\ngo 1.26.0\n\nrequire github.com/gofx-dev/gofx v0.0.0\n\nreplace github.com/gofx-dev/gofx => " +
					ts.Getenv("REPO") + "\n\ntool github.com/gofx-dev/gofx/cmd/fxgen\n" + requires
				ts.Check(os.WriteFile(ts.MkAbs("go.mod"), []byte(mod), 0o666))
				ts.Check(os.WriteFile(ts.MkAbs("go.sum"), sum, 0o666))
			},
		},
	})
}

// exits CODE command...: the command ends with exactly this exit code.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	var e *exec.ExitError
	if errors.As(err, &e) {
		code = e.ExitCode()
	} else {
		ts.Check(err)
	}
	if want, _ := strconv.Atoi(args[0]); code != want {
		ts.Fatalf("%s exits with %d, expected %s", args[1], code, args[0])
	}
}

// close A.npy B.npy: the arrays differ by at most 1e-4 of the largest element.
func closeArrays(ts *testscript.TestScript, _ bool, args []string) {
	a, err := npy.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	b, err := npy.ReadFile(ts.MkAbs(args[1]))
	ts.Check(err)
	if a.DType() != b.DType() || a.Len() != b.Len() || a.Len() == 0 {
		ts.Fatalf("%s has %d elements of %s, %s %d of %s", args[0], a.Len(), a.DType(), args[1], b.Len(), b.DType())
	}
	top, worst := 0.0, 0.0
	for i := range a.Len() {
		x, y := array.Float64At(a, i), array.Float64At(b, i)
		top, worst = max(top, math.Abs(x)), max(worst, math.Abs(x-y))
	}
	if !(worst <= 1e-4*top) || top == 0 {
		ts.Fatalf("%s and %s differ by %g, the largest element is %g", args[0], args[1], worst, top)
	}
}

// wrong CODE REGEXP argument...: fxgen with these arguments exits with the code,
// prints an error that the expression matches and its cure, prints no result, and
// touches no file. "$WORK" in the expression stands for the folder.
func wrong(ts *testscript.TestScript, _ bool, args []string) {
	before := snapshot(ts)
	exits(ts, false, append([]string{args[0], "fxgen"}, args[2:]...))
	errs := ts.ReadFile("stderr")
	what := strings.Join(args[2:], " ")
	if !regexp.MustCompile("(?m)" + args[1]).MatchString(errs) {
		ts.Fatalf("fxgen %s: %q does not match\n%s", what, args[1], errs)
	}
	cures := strings.Count(errs, "    hint: ")
	if last := errs[strings.LastIndex(errs, "[FX")+1:]; args[0] == "1" && !strings.Contains(last, "    hint: ") || cures == 0 || cures > strings.Count(errs, "\nfxgen: ")+strings.Count(errs, "[FX")+1 {
		ts.Fatalf("fxgen %s: not every mistake has a code and a cure:\n%s", what, errs)
	}
	if bad := regexp.MustCompile(`(?m)FX9001|goroutine \d|^panic:|0x[0-9a-f]{6}`).FindString(errs); bad != "" {
		ts.Fatalf("fxgen %s: the message holds %q:\n%s", what, bad, errs)
	}
	if out := ts.ReadFile("stdout"); out != "" && !slices.Contains(args, "-json") { // whose document holds the text of stderr
		ts.Fatalf("fxgen %s: printed a result:\n%s", what, out)
	}
	if after := snapshot(ts); after != before {
		ts.Fatalf("fxgen %s: touched files:\n%s\nbefore:\n%s", what, after, before)
	}
}

// snapshot lists the files of a script with times and contents.
func snapshot(ts *testscript.TestScript) string {
	var b strings.Builder
	ts.Check(filepath.WalkDir(ts.MkAbs("."), func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrPermission) {
			fmt.Fprintln(&b, err)
			return nil
		}
		if err != nil {
			return err
		}
		info, err := d.Info()
		if d.Name() == ".tmp" { // where the go command works; files that stay in it are listed
			return err
		}
		if err == nil {
			fmt.Fprintln(&b, path, info.Mode(), info.ModTime().UnixNano(), digest(path, info))
		}
		return err
	}))
	return b.String()
}

// digest is the hash of a file's contents, or where a link points to.
func digest(path string, info fs.FileInfo) any {
	switch {
	case info.Mode().IsRegular():
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return crc32.ChecksumIEEE(data)
	case info.Mode()&fs.ModeSymlink != 0:
		to, err := os.Readlink(path)
		return []any{to, err}
	}
	return ""
}

// trained FILE: weights that some other program wrote, w = (0, 42), in the format of the
// file's ending.
func trained(ts *testscript.TestScript, _ bool, args []string) {
	var b bytes.Buffer
	w := array.New(array.F32, 2)
	array.SetFloat64At(w, 1, 42)
	switch filepath.Ext(args[0]) {
	case ".npz":
		ts.Check(npy.WriteArchive(&b, []npy.Named{{Name: "w", Array: w}}, true))
	case ".gguf": // no metadata, one tensor of f32
		b.WriteString("GGUF")
		for _, v := range []any{uint32(3), uint64(1), uint64(0), uint64(1), byte('w'), uint32(1), uint64(2), uint32(0), uint64(0), make([]byte, 7), array.Bytes(w)} {
			ts.Check(binary.Write(&b, binary.LittleEndian, v))
		}
	default:
		ts.Check(safetensors.Write(&b, []safetensors.Named{{Name: "w", Array: w}}, map[string]string{"format": "pt"}))
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b.Bytes(), 0o666))
}

// keys NAME...: the standard output is one line with a JSON object of exactly
// these keys.
func keys(ts *testscript.TestScript, _ bool, args []string) {
	text := ts.ReadFile("stdout")
	var m map[string]any
	if err := json.Unmarshal([]byte(text), &m); err != nil || strings.Count(text, "\n") != 1 {
		ts.Fatalf("%q is not one line of JSON: %v", text, err)
	}
	for _, k := range args {
		if _, ok := m[k]; !ok {
			ts.Fatalf("%s lacks %s", text, k)
		}
	}
	if len(m) != len(args) {
		ts.Fatalf("%s has %d keys, expected %d", text, len(m), len(args))
	}
}

// Commands that draw nothing must not link Graphviz, which takes seconds to start.
func TestGraphvizIsNotLinked(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	require.NoError(t, err)
	require.Contains(t, string(out), "github.com/gofx-dev/gofx/codegen")
	require.NotRegexp(t, regexp.MustCompile(`go-graphviz|wazero|draw/graphviz`), string(out))
}

// The documented example of each code of the command line is a command that
// reports it.
func TestDocumentedExamples(t *testing.T) {
	for _, c := range []diag.Code{"FX8050", "FX8051", "FX8052", "FX8053", "FX8054", "FX8055", "FX8056", "FX8076", "FX8077", "FX8078", "FX8079", "FX8080", "FX8084"} {
		info, ok := diag.Lookup(c)
		require.True(t, ok, c)
		args := strings.Fields(info.Example)
		require.Equal(t, "fxgen", args[0])
		dir := t.TempDir()
		require.NoError(t, os.Mkdir(filepath.Join(dir, "broken"), 0o777))
		require.NoError(t, os.Mkdir(filepath.Join(dir, "kinds"), 0o777))
		for name, text := range map[string]string{
			"go.mod":           "module example.com/m\n\ngo 1.26.0\n",
			"broken/broken.go": "package broken\n\nfunc Net() { undefined() }\n",
			"kinds/kinds.go":   "package kinds\n\ntype Net struct{}\n\nfunc (Net) Forward(x []any) []any { return x }\n\nfunc NewNet() *Net { return &Net{} }\n\nfunc Number(n int) int { return n }\n",
			"notes.fx":         "my own words",
			"unfixed.go":       "package m\n\nimport \"github.com/gofx-dev/gofx/tensor\"\n\nfunc rows(x *tensor.Tensor, opts ...tensor.ReduceAttrs) { x.Sum(opts...) }\n",
			"net.fx":           "gofx 1\n\ngraph g(%x: f32[2]) {\n  %w = get_attr[w] : f32[2]\n  %y = call_function[add](%x, %w)\n  return %y\n}\nparam w : f32[2]\n",
		} {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
		}
		t.Chdir(dir)
		code, _, stderr := call(args[1:]...)
		require.Equal(t, 1, code, info.Example)
		require.Contains(t, stderr, "["+string(c)+"]", info.Example)
	}
}

// A program around generated code is linked for each network: it must not link what captures,
// plans and prints.
func TestProgramsLinkLittle(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "./drive").Output()
	require.NoError(t, err)
	deps := strings.Fields(string(out))
	require.Contains(t, deps, "github.com/gofx-dev/gofx/tensor")
	for _, path := range deps {
		require.NotRegexp(t, regexp.MustCompile(`gofx/(passes|lowering|codegen/[^c]|onnx|pt2|draw|fx$|cmd/fxgen/internal/work)|jennifer|x/tools|^testing$|^net$`), path)
	}
}

// The first go generate on a fresh machine compiles all that fxgen links. The
// packages for networking and encryption are a large part of the standard library,
// come with a dependency unnoticed, and are of no use here.
func TestFxgenLinksNoNetwork(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".", "./harness", "./drive", "./fxdraw").Output()
	require.NoError(t, err)
	deps := strings.Fields(string(out))
	require.Contains(t, deps, "go/types")
	for _, path := range []string{"net/http", "crypto/tls", "crypto/x509"} {
		require.NotContains(t, deps, path)
	}
}

// A file that lower writes is the source by which a pack of kernels knows its image, as docs/devices.md has it.
func TestLoweredFilesAreSourcesOfPacks(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mlp.cu")
	code, _, stderr := call("lower", "mlp", "-target", "cuda", "-shape", "x=2,784", "-o", file)
	require.Zero(t, code, stderr)
	source, err := os.ReadFile(file)
	require.NoError(t, err)
	m := models.Lookup("mlp")
	gm, err := fx.Trace(t.Context(), m.New(), fx.Input(m.Inputs[0].Name, m.Inputs[0].Type))
	require.NoError(t, err)
	text, err := gpu.Text(gm.Module, lowering.Options{Shapes: map[string]int{"N": 2}}, gpu.CUDA)
	require.NoError(t, err)
	var p gpu.Pack
	p.Add(string(source), []byte("its image"))
	require.True(t, p.Has(text))
}

// docs/cli.md has a row for each command that the help lists.
func TestDocumentedCommands(t *testing.T) {
	code, help, _ := call("-h")
	require.Zero(t, code)
	_, list, found := strings.Cut(help, "Available Commands:\n")
	require.True(t, found, help)
	list, _, _ = strings.Cut(list, "\n\n")
	page, err := os.ReadFile(filepath.Join(repo(t), "docs", "cli.md"))
	require.NoError(t, err)
	commands := strings.Split(list, "\n")
	require.Greater(t, len(commands), 10)
	for _, line := range commands {
		if name := strings.Fields(line)[0]; name != "help" { // cobra's own
			require.Regexp(t, "(?m)^\\|[^|]*`"+name+"[` ]", string(page), "docs/cli.md does not say what fxgen %s does", name)
		}
	}
}

// docs/cli.md names, for each flag that some commands take, all of these; check and diff take those of gen.
func TestDocumentedFlags(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(repo(t), "docs", "cli.md"))
	require.NoError(t, err)
	_, help, _ := call("-h")
	_, list, _ := strings.Cut(help, "Available Commands:\n")
	list, _, _ = strings.Cut(list, "\n\n")
	takes := map[string]string{}
	for _, line := range strings.Split(list, "\n") {
		name := strings.Fields(line)[0]
		_, takes[name], _ = call(name, "-h")
	}
	delete(takes, "check")
	delete(takes, "diff")
	_, table, _ := strings.Cut(string(page), "| flag | of | meaning |")
	said, flags := map[string]string{}, map[string][][]string{}
	for _, row := range regexp.MustCompile(`(?m)^\| ([^|]*) \| ([^|]+) \|`).FindAllStringSubmatch(table, -1) {
		list := regexp.MustCompile("`-([a-z-]+)").FindAllStringSubmatch(row[1], -1)
		if first := list[0][1]; first != "input" && first != "o" { // which all take, for files of their own
			said[first] += " " + row[2]
			flags[first] = list
		}
	}
	require.Greater(t, len(said), 8)
	for first, of := range said {
		for name, text := range takes {
			has := slices.ContainsFunc(flags[first], func(f []string) bool { return regexp.MustCompile(`(?m)^ +--` + f[1] + `\b`).MatchString(text) })
			require.Equal(t, has, slices.ContainsFunc(regexp.MustCompile(`[a-z]+`).FindAllString(of, -1), func(s string) bool { return s == name || strings.TrimSpace(of) == "all" }), "-%s of %s, which docs/cli.md says of%s", first, name, of)
		}
	}
}

// docs/cli.md spells out the default pipeline, which is a list in fx.
func TestDocumentedPipeline(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(repo(t), "docs", "cli.md"))
	require.NoError(t, err)
	spelt := regexp.MustCompile("(?m)^\\| `-passes a,b` .* run `([^`]*)` \\|$").FindSubmatch(page)
	require.NotNil(t, spelt, "docs/cli.md does not say what runs without -passes")
	require.Equal(t, strings.Join(work.Optimise(), ","), string(spelt[1]), "docs/cli.md, fx.Optimise")
}

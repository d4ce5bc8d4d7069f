package conform

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/safetensors"
	"github.com/gofx-dev/gofx/codegen"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/repo"
	"github.com/gofx-dev/gofx/internal/testkit/workdir"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
)

// program is a Go module with generated packages, which one command runs: it
// calls every package with the inputs of a file and writes the results to another.
type program struct {
	t        testing.TB
	dir      string
	packages []string // folder and name
	inputs   []safetensors.Named
	runs     map[string][]int // number of inputs of each call, by package
	refuse   bool             // the inputs do not fit
}

// The path lies below this module's, so that generated code may name its
// internal packages, as the code of a user's module names the user's.
const programPath = "github.com/gofx-dev/gofx/conformrun"

func newProgram(t testing.TB) *program {
	t.Helper()
	p := &program{t: t, dir: workdir.Of(t), runs: map[string][]int{}}
	require.NoError(t, repo.WriteModule(p.dir, programPath))
	return p
}

func (p *program) write(name string, data []byte) {
	path := filepath.Join(p.dir, name)
	require.NoError(p.t, os.MkdirAll(filepath.Dir(path), 0o777))
	require.NoError(p.t, os.WriteFile(path, data, 0o666))
}

// add enters a package, which is called once for each set of inputs.
func (p *program) add(pkg string, files *codegen.Files, sets ...[]*array.Array) {
	for _, f := range files.List {
		p.write(pkg+"/"+f.Name, f.Data)
	}
	p.packages = append(p.packages, pkg)
	for k, set := range sets {
		p.runs[pkg] = append(p.runs[pkg], len(set))
		for i, a := range set {
			p.inputs = append(p.inputs, safetensors.Named{Name: resultName(pkg, k, i), Array: array.Contiguous(a)})
		}
	}
}

func resultName(pkg string, run, i int) string {
	return pkg + "/" + strconv.Itoa(run) + "/" + strconv.Itoa(i)
}

// kernelStyle lowers and prints a module.
func kernelStyle(m *graph.Module, pkg string) (*codegen.Files, error) {
	e, err := cpu.Compile(m, lowering.Options{})
	if err != nil {
		return nil, err
	}
	return codegen.Kernel(e.Plan(), m.Values(), codegen.KernelOptions{Package: pkg, Weights: codegen.WeightsEmbed})
}

// moduleStyle prints a module that has its state with it.
func moduleStyle(m *graph.Module, pkg string) (*codegen.Files, error) {
	return codegen.Module(m, codegen.ModuleOptions{Package: pkg, Path: programPath + "/" + pkg, Weights: true})
}

// run builds and runs the program and returns the results by name.
func (p *program) run() map[string][]*array.Array {
	t := p.t
	t.Helper()
	p.main()
	var b bytes.Buffer
	require.NoError(t, safetensors.Write(&b, p.inputs, nil))
	p.write("in.safetensors", b.Bytes())
	runs, err := json.Marshal(p.runs)
	require.NoError(t, err)
	p.write("runs.json", runs)
	p.goTool("vet", "./...")
	p.goTool("run", ".")
	f, err := safetensors.ReadFile(filepath.Join(p.dir, "out.safetensors"))
	require.NoError(t, err)
	out := map[string][]*array.Array{}
	for _, name := range f.Names() { // in the order of the calls
		a, err := f.Get(name)
		require.NoError(t, err)
		call := name[:strings.LastIndexByte(name, '/')]
		out[call] = append(out[call], a)
	}
	return out
}

// refusals builds and runs the program and returns what each call says of its inputs.
func (p *program) refusals() map[string]string {
	t := p.t
	t.Helper()
	p.refuse = true
	p.run()
	data, err := os.ReadFile(filepath.Join(p.dir, "refusals.json"))
	require.NoError(t, err)
	said := map[string]string{}
	require.NoError(t, json.Unmarshal(data, &said))
	return said
}

func (p *program) goTool(args ...string) {
	p.t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off", "CGO_ENABLED=0")
	if p.refuse {
		cmd.Env = append(cmd.Env, "REFUSALS=1")
	}
	out, err := cmd.CombinedOutput()
	if len(out) > 4000 {
		out = out[:4000]
	}
	require.NoError(p.t, err, "go %s\n%s", strings.Join(args, " "), out)
}

// main writes the program's own package.
func (p *program) main() {
	var imports, table strings.Builder
	for _, pkg := range p.packages {
		name := strings.ReplaceAll(pkg, "/", "_")
		fmt.Fprintf(&imports, "\t%s %q\n", name, programPath+"/"+pkg)
		fmt.Fprintf(&table, "\tcall(%q, %s)\n", pkg, entry(p.t, filepath.Join(p.dir, pkg), name))
	}
	src, err := os.ReadFile("testdata/main.go.txt")
	require.NoError(p.t, err)
	text := strings.Replace(string(src), "\t// IMPORTS\n", imports.String(), 1)
	p.write("main.go", []byte(strings.Replace(text, "\t// CALLS\n", table.String(), 1)))
}

// entry is the expression of a package's function to call.
func entry(t testing.TB, dir, name string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	for _, f := range files {
		src, err := os.ReadFile(f)
		require.NoError(t, err)
		for _, c := range []struct{ decl, expr string }{
			{"\nfunc New() (*Model, error)", "forward(must(" + name + ".New()))"},
			{"\nfunc LoadModel(", "load(" + strconv.Quote(filepath.Join(dir, "weights.safetensors")) + ", " + name + ".LoadModel).Forward"},
			{"\nfunc Forward(", name + ".Forward"},
		} {
			if bytes.Contains(src, []byte(c.decl)) {
				return c.expr
			}
		}
	}
	t.Fatalf("%s offers nothing to be called", dir)
	return ""
}

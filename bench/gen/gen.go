// Package gen builds programs of kernel-style code, which answer the benchmark's
// requests: Build writes and builds one, package harness is their common part.
package gen

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/codegen"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/repo"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/lowering/plan"
)

// folder of this module in which the program seems to be; it never exists.
const folder = "zz_generated"

// Build writes the code of a graph at sizes into dir and builds a program of it.
func Build(dir string, m *graph.Module, dims map[string]int) (program string, err error) {
	o := lowering.Options{Shapes: dims}
	ready, err := lowering.Prepare(m, o)
	if err != nil {
		return "", err
	}
	p, err := cpu.Plan(ready, o)
	if err != nil {
		return "", err
	}
	state := map[string]*array.Array{}
	for _, q := range ready.Params() {
		state[q.Path] = q.Value
	}
	files, err := codegen.Kernel(p, state, codegen.KernelOptions{Weights: codegen.WeightsExternal})
	if err != nil {
		return "", err
	}
	root, err := repo.Root()
	if err != nil {
		return "", err
	}
	seen := filepath.Join(root, "bench", folder)
	replace := map[string]string{filepath.Join(seen, "main.go"): filepath.Join(dir, "main.go")}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dir, "main.go"), source(p), 0o600); err != nil {
		return "", err
	}
	for _, f := range files.List {
		path := filepath.Join(dir, f.Name)
		if err := os.WriteFile(path, f.Data, 0o600); err != nil {
			return "", err
		}
		if strings.HasSuffix(f.Name, ".go") {
			replace[filepath.Join(seen, "model", f.Name)] = path
		}
	}
	return build(dir, filepath.Join(root, "bench"), replace)
}

// build builds the program from files that the go command sees elsewhere.
func build(dir, module string, replace map[string]string) (program string, err error) {
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	overlay, program := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "program")
	if err := os.WriteFile(overlay, text, 0o600); err != nil {
		return "", err
	}
	cmd := exec.Command("go", "build", "-overlay", overlay, "-o", program, "./"+folder)
	cmd.Dir = module
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("the generated code does not build: %w\n%s", err, bytes.TrimSpace(out))
	}
	return program, nil
}

// source is the program's main file.
func source(p *plan.Plan) []byte {
	var b bytes.Buffer
	b.WriteString(`package main

import (
	"context"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/bench/gen/harness"
	"github.com/gofx-dev/gofx/bench/` + folder + `/model"
)

func main() {
	s := harness.Open()
	m, err := model.Load(s.Weights())
	s.Check(err)
	ctx := context.Background()
`)
	var args []string
	if len(p.Written()) > 0 {
		b.WriteString("\tstate, err := m.NewState()\n\ts.Check(err)\n")
		args = append(args, "state")
	}
	for i, k := range p.Inputs {
		fmt.Fprintf(&b, "\tx%d := array.Dense[%s]{Array: s.In(%d)}\n", i, element(p.Buffers[k].Type.DType()), i)
		args = append(args, fmt.Sprintf("x%d", i))
	}
	for i, k := range p.Outputs {
		t := p.Buffers[k].Type
		_, dims, _ := t.Concrete()
		fmt.Fprintf(&b, "\ty%d := array.Dense[%s]{Array: s.Out(%q, %s)}\n", i, element(t.DType()), t.DType(), strings.Trim(fmt.Sprintf("%#v", dims), "[]int{}"))
		args = append(args, fmt.Sprintf("y%d", i))
	}
	fmt.Fprintf(&b, "\ts.Serve(func() error { return m.ForwardInto(ctx, %s) })\n}\n", strings.Join(args, ", "))
	return b.Bytes()
}

// element is the Go type of the elements of a dense array.
func element(d array.DType) string {
	name := d.String()
	switch name {
	case "bool":
		return name
	case "f16":
		return "array.Half"
	case "bf16":
		return "array.BFloat"
	}
	return map[byte]string{'f': "float", 'i': "int", 'u': "uint"}[name[0]] + name[1:]
}

package capturefuzz

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofx-dev/gofx/internal/testkit/repo"
)

// Mutation is a fault put into the mechanism of capture: in the file, whose path
// is relative to the repository, Old is replaced by New. Old occurs there exactly
// once, and the result compiles. To add one, write a row; TestMutationsApply
// checks the text, TestMutationsAreFound (nightly) that the programs notice. Faults
// of passes and plans that no capture can show, because it reads state once and
// stores it at the end, are for the tests of those.
type Mutation struct {
	Name, File, Old, New string
	// Generate tells that generated code shows the fault, not the engines.
	Generate bool
}

// Mutations is the table.
var Mutations = []Mutation{
	// Storages and views.
	{Name: "a view that was read stays as it is after a write", File: "tracer/alias/alias.go",
		Old: "if e.node == none || e.version != version || e.node.Erased() {", New: "if e.node == none || e.node.Erased() {"},
	{Name: "writes are not counted", File: "tracer/alias/alias.go",
		Old: "\ts.Version++\n\tfor _, o := range s.others() {", New: "\tfor _, o := range s.others() {"},
	{Name: "memory that may be shared is not lost by a write", File: "tracer/alias/alias.go", Old: "o.lost = &pos", New: "_ = o"},
	{Name: "a view that may be a copy is one", File: "tracer/alias/layout.go", Old: "\tcase shape.True:\n\t\treturn View", New: "\tcase shape.True:\n\t\treturn Fresh"},
	{Name: "tensors over one Go slice have nothing to do with each other", File: "array/storage.go",
		Old: "return a < bEnd && b < aEnd", New: "return a == bEnd && b == aEnd"},
	// Inverses of views.
	{Name: "the inverse of transpose is dropped", File: "op/std/view.go",
		Old: "Scatter: func(b op.Builder, a TransposeAttrs, _ int, _, v op.Value) op.Value {",
		New: "Scatter: func(b op.Builder, a TransposeAttrs, _ int, _, v op.Value) op.Value {\n\t\treturn v"},
	{Name: "the inverse of select writes another index", File: "op/std/copy.go",
		Old: "&kernel.SelectScatter{Dim: axis, Index: a.Index}", New: "&kernel.SelectScatter{Dim: axis, Index: 0}"},
	{Name: "the inverse of slice forgets the step", File: "op/std/copy.go", Old: "&kernel.SliceScatter{Dim: axis, Step: max(a.Step, 1)}", New: "&kernel.SliceScatter{Dim: axis, Step: 1}"},
	{Name: "the inverse of diagonal forgets the axes", File: "op/std/copy.go",
		Old: "return &kernel.DiagonalScatter{Offset: a.Offset, Dim1: d1, Dim2: d2}", New: "_, _ = d1, d2\n\t\treturn &kernel.DiagonalScatter{Offset: a.Offset, Dim1: 0, Dim2: 1}"},
	// State, constants, inputs.
	{Name: "what is written to state is not stored", File: "tracer/policy.go", Old: "if now == nil || now == read {", New: "if now != nil || now == read {"},
	{Name: "writes to inputs are not seen", File: "tracer/policy.go", Old: "input, state := m.Input(), \"\"\n", New: "input, state := false, \"\"\n"},
	{Name: "memory edited by Go code counts as unchanged", File: "tracer/record/memory.go",
		Old: "return m.snapshot != nil && !array.Equal(m.snapshot, m.Array())", New: "return false"},
	{Name: "a recipe holds though its tensor was written", File: "tensor/eager.go",
		Old: "if storageVersion(x) != r.own || x.storage().Exposed() != r.exposed {", New: "if r == nil {"},
	{Name: "writes to state without a traced value are not seen", File: "tracer/unseen.go",
		Old: "if o.m.Array().Storage().Version() != o.version || o.m.Changed() {", New: "if o.m.Array().Storage() == nil {"},
	// Regions.
	{Name: "a region forgets what it writes", File: "tracer/record/write.go", Old: "\t\tin.wrote = append(in.wrote, s)\n", New: ""},
	{Name: "what a region wrote holds outside of it", File: "tracer/record/region.go", Old: "s.Value = c.old\n", New: "_ = c.old\n"},
	{Name: "the last round of a loop stays where it lies", File: "kernel/loop.go", Old: "if in[i] != a {", New: "if in[i] == nil && a != nil {"},
	{Name: "generated code writes to a copy of the state", File: "codegen/kernelstyle/forward.go", Generate: true,
		Old: `Op("=").Id("state").Dot(x.field).Dot("Array"))`, New: `Op("=").Add(fromArray("Clone")).Call(jen.Id("state").Dot(x.field).Dot("Array")))`},
	// Sessions.
	{Name: "a number that changes stays a constant of the plan", File: "lazy/lift.go",
		Old: "if always || !slices.EqualFunc(l.Values, p.last[i].Values, sameNumber) {", New: "if always || len(l.Values) > 99 {"},
	{Name: "a lifted call of a session has the value of the run before", File: "lazy/lift.go", Old: "\tp.last = k.lifts\n", New: "\tk.lifts, p.last = p.last, k.lifts\n\tif first {\n\t\tk.lifts = p.last\n\t}\n"},
	// Guards.
	{Name: "a size fixed on request is not guarded", File: "tracer/sizes.go", Old: "g.AddGuard(d, shape.Const(v), n)", New: "_ = shape.Const(v)"},
	{Name: "the interpreter does not check guards", File: "interp/guards.go", Old: "errs.Add(f.refused(g, node))", New: "_ = f.refused(g, node)"},
	{Name: "inputs of other sizes are let in", File: "graph/guard/guard.go", Old: "wanted && known && w != g {", New: "wanted && known && w != g && w < 0 {"},
	{Name: "the plan does not check its inputs", File: "lowering/cpu/inputs.go", Old: "e.entry.Check(x.given); err != nil {", New: "e.entry.Check(x.given); err != nil && len(in) > 9 {"},
}

// Overlay writes the mutated file below dir and returns the overlay for go build.
func (m Mutation) Overlay(dir string) (string, error) {
	root, err := repo.Root()
	if err != nil {
		return "", err
	}
	path := filepath.Join(root, m.File)
	text, err := m.Apply(root)
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "mutated.go")
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{path: file}})
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		return "", err
	}
	name := filepath.Join(dir, "overlay.json")
	return name, os.WriteFile(name, overlay, 0o666)
}

// Apply returns the text of the mutated file.
func (m Mutation) Apply(root string) (string, error) {
	src, err := os.ReadFile(filepath.Join(root, m.File))
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(src), m.Old); n != 1 {
		return "", fmt.Errorf("mutation %q: the old text occurs %d times in %s, expected once: bring the row up to date", m.Name, n, m.File)
	}
	return strings.Replace(string(src), m.Old, m.New, 1), nil
}

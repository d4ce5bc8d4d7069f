package conform

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
)

// Matrix holds the outcome of the samples of each operator in each engine.
type Matrix struct {
	cells map[[2]string]*Cell
	// Computed counts, by the operator's key, the samples whose programs XLA has compiled and run.
	Computed map[string]int
}

// Cell says how many samples of an operator an engine ran, with the right result
// or not, and the errors of the others.
type Cell struct {
	Passed, Total int
	Failed        []Failure
}

// Failure is a sample that an engine refused, or whose result was another one.
type Failure struct{ Sample, Why string }

// Cell returns the cell of an operator and an engine, nil when it was not run.
func (m *Matrix) Cell(o *op.Op, engine string) *Cell { return m.cells[[2]string{o.Name, engine}] }

// Add enters the outcome of a sample: nil when the engine gave the right result.
func (m *Matrix) Add(o *op.Op, engine, sample string, err error) {
	if m.cells == nil {
		m.cells = map[[2]string]*Cell{}
	}
	key := [2]string{o.Name, engine}
	c := m.cells[key]
	if c == nil {
		c = &Cell{}
		m.cells[key] = c
	}
	c.Total++
	if err == nil {
		c.Passed++
		return
	}
	var e *diag.Error
	if errors.As(err, &e) { // without the place, which is one of the test on this machine
		bare := *e
		bare.Pos, bare.Node = diag.Pos{}, ""
		err = &bare
	}
	why, _, _ := strings.Cut(err.Error(), "\n")
	c.Failed = append(c.Failed, Failure{sample, why})
}

// Doc returns docs/ops.md: for each operator how many samples it has, and which engine or target
// does not take all of them; below the tables, why.
func (m *Matrix) Doc() string {
	var b strings.Builder
	b.WriteString(opsDoc(Engines, Count, m.except))
	b.WriteString("\n## Engines\n\n")
	var failed strings.Builder
	for _, o := range Ops() {
		for _, engine := range Engines {
			if c := m.Cell(o, engine); c != nil {
				c.print(&failed, o, engine)
			}
		}
	}
	if failed.Len() == 0 {
		b.WriteString("Every engine takes every sample and gives the operator's own result, to the last bit.\n")
	} else {
		b.WriteString("Samples that did not pass:\n\n| operator | engine | sample | why |\n|---|---|---|---|\n" + failed.String())
	}
	m.left(&b)
	return b.String()
}

// except says which engines and targets pass over samples of an operator, and whether XLA has
// not computed all that the target stablehlo takes.
func (m *Matrix) except(o *op.Op) (list []string) {
	for _, engine := range slices.Concat(Engines, Targets) {
		c := m.Cell(o, engine)
		if c == nil {
			continue
		}
		if c.Passed < c.Total {
			list = append(list, fmt.Sprintf("%s %d of %d", engine, c.Passed, c.Total))
		}
		if engine == StableHLO && c.Passed > 0 && m.Computed[o.Key()] != c.Passed {
			list = append(list, fmt.Sprintf("XLA has run %d of %d", m.Computed[o.Key()], c.Passed))
		}
	}
	return list
}

// left writes which calls targets leave to others, by reason.
func (m *Matrix) left(b *strings.Builder) {
	b.WriteString("\n## Targets\n\nA target takes a sample call if it has rules for the operator, or for the operators that expand it. gpu is counted for a device that has\n" +
		"floats of 64 bits. XLA itself has compiled and run the programs that stablehlo writes ([how](lowering.md#stablehlo)). `lowering.Split` gives\n" +
		"the calls that a target leaves to another target:\n\n" +
		"| operator | target | calls | why |\n|---|---|---|---|\n")
	for _, o := range Ops() {
		for _, target := range Targets {
			c := m.Cell(o, target)
			if c == nil {
				continue
			}
			for _, r := range causes(c.Failed) {
				fmt.Fprintf(b, "| %s | %s | %d of %d | %s |\n", o.Name, target, r.calls, c.Total, cell(r.String()))
			}
		}
	}
}

// print writes why samples failed, in one line for all when that is the same.
func (c *Cell) print(b *strings.Builder, o *op.Op, engine string) {
	failed := c.Failed
	alike := func(f Failure) bool { return f.Why == failed[0].Why }
	if len(failed) > 1 && len(failed) == c.Total && !slices.ContainsFunc(failed, func(f Failure) bool { return !alike(f) }) {
		failed = []Failure{{"all", failed[0].Why}}
	}
	for _, f := range failed {
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", o.Name, engine, cell(f.Sample), cell(f.Why))
	}
}

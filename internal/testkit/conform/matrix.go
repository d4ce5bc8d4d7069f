package conform

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
)

// Matrix says what became of the samples of each operator in each engine.
type Matrix struct {
	cells map[[2]string]*Cell
	// Computed says of operators, by their keys, of how many of the samples that StableHLO takes XLA has computed
	// the programs.
	Computed map[string]int
}

// Cell says how many samples of an operator an engine ran, with the right result
// or not, and what was wrong with the others.
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

// Doc returns docs/ops.md: in each cell how many samples the engine ran with the
// right result, of how many, or the target takes; below the tables, why the others did not pass.
func (m *Matrix) Doc() string {
	var b strings.Builder
	columns := append(slices.Clone(Engines), Targets...)
	b.WriteString(opsDoc(columns, m.text))
	b.WriteString("\n## Engines\n\nThe tables tell how many sample calls each engine has run, and how many of them gave the same result as the\n" +
		"operator's own evaluation, to the last bit. – stands for what is no call: structural operators are parts of graphs.\n")
	var failed strings.Builder
	for _, o := range Ops() {
		for _, engine := range Engines {
			if c := m.Cell(o, engine); c != nil {
				c.print(&failed, o, engine)
			}
		}
	}
	if failed.Len() == 0 {
		b.WriteString("No engine refuses one, or gives another result.\n")
	} else {
		b.WriteString("Samples that did not pass:\n\n| operator | engine | sample | why |\n|---|---|---|---|\n" + failed.String())
	}
	m.left(&b)
	return b.String()
}

// text is what a cell says.
func (m *Matrix) text(o *op.Op, engine string) string {
	c := m.Cell(o, engine)
	if c == nil {
		return "–"
	}
	s := strconv.Itoa(c.Passed) + "/" + strconv.Itoa(c.Total)
	if engine == StableHLO && c.Passed > 0 && m.Computed[o.Key()] == c.Passed {
		s += " XLA"
	}
	return s
}

// left writes which calls targets leave to others, by reason.
func (m *Matrix) left(b *strings.Builder) {
	b.WriteString("\n## Targets\n\nThe columns gpu and stablehlo tell how many of the sample calls the target takes, by rules for the operator or for those that\n" +
		"it is expanded into. XLA stands where XLA itself has compiled the programs of all of them, and computed what the operator does\n" +
		"([how](lowering.md#stablehlo)). A device takes them with floats of 64 bits. What a target leaves, `lowering.Split` gives to another one:\n\n" +
		"| operator | target | calls | why |\n|---|---|---|---|\n")
	for _, o := range Ops() {
		for _, target := range Targets {
			c := m.Cell(o, target)
			if c == nil {
				continue
			}
			count := map[string]int{}
			for _, f := range c.Failed {
				count[f.Why]++
			}
			for _, why := range slices.Sorted(maps.Keys(count)) {
				fmt.Fprintf(b, "| %s | %s | %d of %d | %s |\n", o.Name, target, count[why], c.Total, cell(why))
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

package nets

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
)

// Clock adds up how long this CPU compiles and runs graphs.
type Clock struct{ Compiling, Running time.Duration }

// Target is this CPU with the clock.
func (c *Clock) Target() lowering.Target { return clocked{clock: c} }

type clocked struct {
	cpu.Target
	clock *Clock
}

// Compile implements lowering.Target.
func (c clocked) Compile(m *graph.Module, o lowering.Options) (lowering.Executable, error) {
	start := time.Now()
	e, err := c.Target.Compile(m, o)
	c.clock.Compiling += time.Since(start)
	return clockedRun{e, c.clock}, err
}

type clockedRun struct {
	lowering.Executable
	clock *Clock
}

// Run implements lowering.Executable.
func (c clockedRun) Run(ctx context.Context, in []*array.Array) ([]*array.Array, error) {
	start := time.Now()
	out, err := c.Executable.Run(ctx, in)
	c.clock.Running += time.Since(start)
	return out, err
}

// comparisons matches what Explain tells of a record.
var comparisons = regexp.MustCompile(`record 1: (\d+) comparisons`)

// Comparisons is how many words the guard of the first record compares.
func (n *Network) Comparisons() (int, error) {
	var text bytes.Buffer
	if err := n.Explain(&text); err != nil {
		return 0, err
	}
	found := comparisons.FindSubmatch(text.Bytes())
	if found == nil {
		return 0, fmt.Errorf("no record is told of: %s", text.Bytes())
	}
	return strconv.Atoi(string(found[1]))
}

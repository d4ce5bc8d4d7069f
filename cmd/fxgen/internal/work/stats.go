package work

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/graph/count"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/shape"
)

// statsJSON is the document of stats -json.
type statsJSON struct {
	Model      string         `json:"model"`
	Nodes      int            `json:"nodes"`
	Opcodes    map[string]int `json:"opcodes"`
	Ops        map[string]int `json:"ops"`
	Parameters int            `json:"parameters"`
	Buffers    int            `json:"buffers"`
	Bytes      int            `json:"bytes"`
	FLOPs      string         `json:"flops"` // an expression over the symbols
	FLOPsAt    *int           `json:"flops_at"`
	Sizes      map[string]int `json:"sizes"`
	PeakBytes  *int64         `json:"peak_bytes"`
	Steps      int            `json:"steps"`              // of the plan
	Packed     int64          `json:"packed_bytes"`       // weights laid out for this processor
	Products   string         `json:"products,omitempty"` // what -products is granted
	PeakWhy    string         `json:"peak_unknown,omitempty"`
	Cost       *costJSON      `json:"cost,omitempty"` // with -by or -device
}

func (c *captured) stats(j *Job, res *Result) error {
	dims, err := c.sizes(j)
	if err != nil {
		return err
	}
	s := statsJSON{Model: c.src.Name, Opcodes: map[string]int{}, Ops: map[string]int{}, Sizes: dims}
	flops := shape.Const(0)
	for n := range c.gm.Graph.All() {
		s.Nodes++
		s.Opcodes[n.Opcode().String()]++
		if n.Op() != nil {
			s.Ops[n.Op().Key()]++
		}
	}
	for n := range c.gm.Graph.Nodes() {
		flops = flops.Add(count.Flops(n))
	}
	for _, p := range c.gm.Params() {
		d, dims, ok := p.TypeOf().Concrete()
		if !ok {
			continue
		}
		n, _ := array.NumElems(dims)
		s.Bytes += n * d.Size()
		if p.Buffer {
			s.Buffers += n
		} else {
			s.Parameters += n
		}
	}
	s.FLOPs = flops.String()
	if !j.costs() {
		if err := j.turned(flops.Symbols()); err != nil {
			return err
		}
	}
	if n, err := flops.Eval(func(name string) (int, bool) { v, ok := dims[name]; return v, ok }); err == nil {
		s.FLOPsAt = &n
	}
	if j.costs() {
		if s.Cost, err = costOf(c, j); err != nil {
			return err
		}
		if !j.JSON {
			at := sizesText(dims)
			if at != "" {
				at = " at " + at
			}
			res.Text = s.Cost.text(s.Model, at, j.Top)
			return nil
		}
		if j.Top > 0 && len(s.Cost.Rows) > j.Top {
			s.Cost.Rows = s.Cost.Rows[:j.Top]
		}
	}
	s.peak(c.gm, j.options())
	s.Sizes = sizesOf(c.gm.Graph, flops, s.Sizes)
	if j.JSON {
		return document(res, s)
	}
	res.Text = s.text()
	return nil
}

// sizesOf leaves out the sizes of symbols that stand in no type of a value and not in the
// number of operations: a symbol may be declared and be used by nothing.
func sizesOf(g *graph.Graph, flops shape.Dim, sizes map[string]int) map[string]int {
	used := flops.Symbols()
	var enter func(t shape.Type)
	enter = func(t shape.Type) {
		for i := range t.Len() {
			enter(t.Member(i))
		}
		if t.Ranked() {
			for i := range t.Rank() {
				used = append(used, t.Dim(i).Symbols()...)
			}
		}
	}
	for n := range g.All() {
		enter(n.Type())
	}
	kept := map[string]int{}
	for name, n := range sizes {
		if slices.Contains(used, name) {
			kept[name] = n
		}
	}
	return kept
}

// sizes are those of the graph's symbols in a run on the job's inputs, and the turns of
// its loops that are given.
func (c *captured) sizes(j *Job) (map[string]int, error) {
	f := feed{job: j, graph: c.gm.Graph, model: c.src.Model, files: map[string]*array.Array{}, dims: map[string]int{}}
	if err := f.known(); err != nil {
		return nil, err
	}
	err := f.sizes()
	for name, n := range j.Turns {
		f.dims[count.Turns(name)] = n
	}
	return f.dims, err
}

// peak asks the plan for the memory of a run.
func (s *statsJSON) peak(m *graph.Module, o lowering.Options) {
	exe, err := cpu.Compile(m, o)
	if err == nil {
		var n int64
		if n, err = exe.PeakBytes(s.Sizes); err == nil {
			s.PeakBytes = &n
		}
		s.Steps, s.Packed = len(exe.Plan().Steps), exe.Footprint().Packed
		s.Products = exe.Granted()
		exe.Close()
	}
	if err != nil {
		s.PeakWhy, _, _ = strings.Cut(err.Error(), "\n")
	}
}

func (s *statsJSON) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d nodes\n", s.Model, s.Nodes)
	counts(&b, "opcode", s.Opcodes)
	counts(&b, "op", s.Ops)
	fmt.Fprintf(&b, "parameters  %d\nbuffers     %d\nbytes       %d\nflops       %s", s.Parameters, s.Buffers, s.Bytes, s.FLOPs)
	at := sizesText(s.Sizes)
	if s.FLOPsAt != nil && at != "" {
		fmt.Fprintf(&b, " = %d at %s", *s.FLOPsAt, at)
	}
	b.WriteString("\npeak memory ")
	if s.PeakBytes == nil {
		fmt.Fprintf(&b, "unknown: %s\n", s.PeakWhy)
		return b.String()
	}
	fmt.Fprintf(&b, "%d bytes", *s.PeakBytes)
	if at != "" {
		b.WriteString(" at " + at)
	}
	fmt.Fprintf(&b, "\nplan        %d steps, %d bytes of weights packed\n", s.Steps, s.Packed)
	if s.Products != "" {
		fmt.Fprintf(&b, "products    %s\n", s.Products)
	}
	return b.String()
}

func sizesText(sizes map[string]int) string {
	var list []string
	for name, n := range sizes {
		list = append(list, fmt.Sprintf("%s=%d", name, n))
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// counts prints a table, the greatest first.
func counts(b *strings.Builder, title string, m map[string]int) {
	names := make([]string, 0, len(m))
	for n := range m {
		names = append(names, n)
	}
	sort.Slice(names, func(i, k int) bool {
		if m[names[i]] != m[names[k]] {
			return m[names[i]] > m[names[k]]
		}
		return names[i] < names[k]
	})
	for _, n := range names {
		fmt.Fprintf(b, "  %-6s %-24s %d\n", title, n, m[n])
	}
}

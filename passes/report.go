package passes

import (
	"fmt"
	"strings"
	"time"
)

// Report says what the passes of one Run did.
type Report struct {
	Passes []PassReport // those that ran, in order
}

// PassReport says what one pass did.
type PassReport struct {
	Name        string
	Changed     bool
	Matches     int  // rewrites and removals
	Stopped     bool // ended at Options.StopAt
	Time        time.Duration
	Allocated   uint64 // bytes that the whole program allocated meanwhile, small values counted in blocks
	NodesBefore int    // those of regions included
	NodesAfter  int
	Log         []Event // rewrites and removals
	Refused     []Event // candidates that were left as they are, with reasons
	Notes       []string
}

// Matches returns how often the passes of that name matched.
func (r *Report) Matches(pass string) int {
	n := 0
	for _, p := range r.Passes {
		if p.Name == pass {
			n += p.Matches
		}
	}
	return n
}

// Changed reports whether any pass changed the graph.
func (r *Report) Changed() bool {
	for _, p := range r.Passes {
		if p.Changed || p.Matches > 0 {
			return true
		}
	}
	return false
}

// String returns a table with a line for each pass: matches, nodes, time, memory.
func (r *Report) String() string {
	var b strings.Builder
	for _, p := range r.Passes {
		fmt.Fprintf(&b, "%-20s %6d matches %6d left %8d nodes (%+d) %12s %8s\n", p.Name, p.Matches, len(p.Refused),
			p.NodesAfter, p.NodesAfter-p.NodesBefore, p.Time.Round(time.Microsecond), bytesText(p.Allocated))
	}
	return b.String()
}

// Explain returns what was rewritten, removed and left as it is, pass by pass,
// each with the user's line.
func (r *Report) Explain() string {
	var b strings.Builder
	for _, p := range r.Passes {
		fmt.Fprintf(&b, "%s: %d matches, %d left as they are\n", p.Name, p.Matches, len(p.Refused))
		for _, s := range p.Notes {
			fmt.Fprintf(&b, "  %s\n", s)
		}
		for _, e := range p.Log {
			fmt.Fprintf(&b, "  %s\n", e)
		}
		for _, e := range p.Refused {
			fmt.Fprintf(&b, "  %s\n", e)
		}
	}
	return b.String()
}

// bytesText returns "1.5 MB".
func bytesText(n uint64) string {
	switch {
	case n >= 1e6:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	case n >= 1e3:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%d B", n)
}

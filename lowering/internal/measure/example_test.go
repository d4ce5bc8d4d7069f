package measure

import (
	"fmt"
	"time"

	"github.com/gofx-dev/gofx/lowering"
)

// Of two ways that a step has close together the one that a meter finds faster is taken.
func ExampleNew() {
	p := net(100)
	meter := func(what string, run func()) time.Duration {
		if run(); what == "fast" {
			return time.Millisecond
		}
		return 2 * time.Millisecond
	}
	New(meter).Choose(p, lowering.Options{Measure: lowering.Measure{On: true, Folder: "-"}}, 1)
	m := p.Measured[0]
	fmt.Println(m.Nodes, m.Ways[m.Chosen].Name, m.Stored, p.Steps[0].Kernel.(*forked).Way)
	// Output: [n0] fast false fast
}

// The clock runs what it is given.
func ExampleClock() {
	took := Clock("plain", func() { fmt.Println("runs") })
	fmt.Println(took >= 0)
	// Output:
	// runs
	// true
}

// A plan for other sizes is computed as the first one is.
func ExampleFollow() {
	first, second := net(100), net(200)
	New(by(2*ms, ms).measure).Choose(first, lowering.Options{Measure: lowering.Measure{On: true, Folder: "-"}}, 1)
	Follow(second, first)
	fmt.Println(second.Steps[0].Kernel.(*forked).Way)
	// Output: fast
}

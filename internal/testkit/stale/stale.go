// Package stale makes tests fail on an answer about a graph (graph.Analysis) that an edit
// should have ended: each look-up computes it again and compares. Import it for that, with a
// blank name, in the tests of a room whose passes edit graphs; benchmarks of that room then
// compute every answer, too.
package stale

import (
	"fmt"

	"github.com/gofx-dev/gofx/internal/kept"
)

func init() { kept.Check(Panic) }

// Panic reports a stale answer.
func Panic(name string, old, fresh any) {
	panic(fmt.Sprintf("the kept answer %q is stale: it is %v, computed again %v", name, old, fresh))
}

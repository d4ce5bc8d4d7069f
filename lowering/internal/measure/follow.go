package measure

import (
	"slices"

	"github.com/gofx-dev/gofx/lowering/plan"
)

// Follow has steps of p, and of the bodies in it, go by the ways of the steps of another plan that compute the
// same nodes: for plans of the same graph that are to give the same bits.
func Follow(p, other *plan.Plan) {
	ways := map[string]string{}
	for _, m := range other.Measured {
		for _, n := range m.Nodes {
			if m.Chosen > 0 {
				ways[n] = m.Ways[m.Chosen].Name
			}
		}
	}
	if len(ways) > 0 {
		for _, t := range points(p, 1) {
			for _, n := range t.step().Nodes {
				if t.plan == p && ways[n] != "" {
					take(p, t.buffer, t.steps, ways[n])
				}
			}
		}
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		if len(s.Regions) == 0 {
			continue
		}
		same := slices.IndexFunc(other.Steps, func(o plan.Step) bool {
			return len(o.Regions) == len(s.Regions) && slices.Equal(o.Nodes, s.Nodes)
		})
		for k := 0; same >= 0 && k < len(s.Regions); k++ {
			Follow(s.Regions[k], other.Steps[same].Regions[k])
		}
	}
}

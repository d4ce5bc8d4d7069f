package decode

import "github.com/gofx-dev/gofx/lowering/plan"

// Plan returns the plan of a decoder.
func Plan(d *Decoder) *plan.Plan { return d.plan.Plan() }

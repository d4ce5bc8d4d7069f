package shard

import (
	"time"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/lowering/cost"
)

// Link is what partitions along an axis reach each other by: bytes a second that each sends,
// and what a message takes besides them.
type Link struct {
	Rate    float64
	Latency time.Duration
}

// Estimate is what one run of a plan is predicted to take.
type Estimate struct {
	// Compute is the roofline of every call on one partition, Exchange what the exchanges
	// take; nothing overlaps.
	Compute, Exchange time.Duration
}

// Time is that of the run.
func (e Estimate) Time() time.Duration { return e.Compute + e.Exchange }

// Estimate predicts a run on devices of one kind, by their peaks on floats and of their largest
// memory, and on links by axis: a ring along an axis of n sends n-1 messages for a gather and
// twice as many for an all-reduce. It knows no fusion: values between calls go through memory.
func (p *Plan) Estimate(d *cost.Device, links map[string]Link) (Estimate, error) {
	if err := d.Check(); err != nil {
		return Estimate{}, err
	}
	var errs diag.List
	for _, a := range p.Mesh {
		if l := links[a.Name]; a.Size > 1 && !(l.Rate > 0) {
			errs = append(errs, diag.New(BadLayout, "axis "+a.Name+" has no link, or one without a rate").WithHint("give each axis of the mesh bytes a second"))
		}
	}
	if len(errs) > 0 {
		return Estimate{}, errs
	}
	var compute, exchange float64
	rate := d.Memory[len(d.Memory)-1].Rate
	for _, w := range p.Work {
		compute += max(float64(w.Flops)/d.Float, float64(w.Bytes)/rate)
	}
	for _, e := range p.Exchanges {
		n := p.Mesh[p.Mesh.axis(e.Axis)].Size - 1
		if e.Kind == AllReduce {
			n *= 2
		}
		l := links[e.Axis]
		exchange += float64(n)*l.Latency.Seconds() + float64(e.Bytes)/l.Rate
	}
	second := func(x float64) time.Duration { return time.Duration(x * float64(time.Second)) }
	return Estimate{second(compute), second(exchange)}, nil
}

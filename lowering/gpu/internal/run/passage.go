package run

import (
	"context"
	"strconv"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/lower"
	"github.com/gofx-dev/gofx/op"
)

// schedule makes passages of steps, and numbers what a run launches and what may refuse an
// operand.
func (p *Compiled) schedule(steps []lower.Step) (list []passage) {
	for i := range steps {
		s := &steps[i]
		if s.Setup {
			continue
		}
		if s.Flow != nil {
			a := passage{control: s}
			for _, body := range s.Flow.Bodies {
				a.bodies = append(a.bodies, p.schedule(body))
			}
			list = append(list, a)
			continue
		}
		if s.Routine == nil && s.Kernel.Status {
			p.checked = append(p.checked, s.Node)
			s.Call = len(p.checked)
		}
		at, shifts := len(p.launches), s.Shift != nil
		p.launches = append(p.launches, s)
		if n := len(list); n > 0 && list[n-1].control == nil && list[n-1].shifts == shifts {
			list[n-1].to++
			continue
		}
		list = append(list, passage{from: at, to: at + 1, shifts: shifts})
	}
	return list
}

// play enqueues passages; round is that of the loop whose body they are.
func (p *Compiled) play(ctx context.Context, x *instance, list []passage, round int) error {
	for i := range list {
		a := &list[i]
		if err := stopped(ctx, x); err != nil {
			return err
		}
		var err error
		if a.control != nil {
			err = p.decide(ctx, x, a)
		} else if r := x.replays[a.from]; r != nil {
			err = r.Replay(x.queue)
		} else {
			err = p.issue(ctx, x, *a, round)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// stopped returns the error of a run whose caller has given up, when what runs has ended.
func stopped(ctx context.Context, x *instance) error {
	if ctx == nil || ctx.Err() == nil {
		return nil
	}
	_ = x.queue.Finish()
	return diag.Stop(ctx.Err())
}

// issue enqueues the launches of a passage one by one.
func (p *Compiled) issue(ctx context.Context, x *instance, a passage, round int) (err error) {
	for i := a.from; i < a.to; i++ {
		if err := stopped(ctx, x); err != nil {
			return err
		}
		s := p.launches[i]
		if s.Routine != nil {
			err = s.Routine.Run(x.queue, x.views[s.Args[0]], x.views[s.Args[1]], x.views[s.Args[2]])
		} else {
			l := &x.launches[i]
			if s.Shift != nil {
				l.Args[len(s.Args)].Bits = uint64(uint32(s.Shift.At(round)))
			}
			err = x.queue.Launch(l)
		}
		if err != nil {
			return at(s, err)
		}
	}
	return nil
}

// breath is after how many rounds of scans, those of scans in them too, the host, which enqueues
// faster than a device computes, waits: so that queues stay short, and a run that is given up
// ends soon.
const breath = 256

// breathe waits for the device where that is due.
func (x *instance) breathe() error {
	if x.ahead++; x.ahead < breath {
		return nil
	}
	x.ahead = 0
	return x.queue.Finish()
}

// decide runs the bodies of control flow.
func (p *Compiled) decide(ctx context.Context, x *instance, a *passage) error {
	switch a.control.Flow.Op {
	case op.Cond:
		yes, err := p.truth(x, a.control)
		if err != nil {
			return err
		}
		if yes {
			return p.enterBody(ctx, x, a, 0, 0)
		}
		return p.enterBody(ctx, x, a, 1, 0)
	case op.While:
		for trips := 0; ; trips++ {
			if err := stopped(ctx, x); err != nil {
				return err
			}
			if err := p.enterBody(ctx, x, a, 0, 0); err != nil {
				return err
			}
			if more, err := p.truth(x, a.control); err != nil || !more {
				return err
			}
			if most := a.control.Flow.Most; most > 0 && trips == most {
				return p.tooMany(x, a.control)
			}
			if err := p.enterBody(ctx, x, a, 1, 0); err != nil {
				return err
			}
		}
	}
	for round := range a.control.Flow.Rounds {
		if err := stopped(ctx, x); err != nil {
			return err
		}
		if err := x.breathe(); err != nil {
			return err
		}
		if err := p.enterBody(ctx, x, a, 0, round); err != nil {
			return err
		}
	}
	return nil
}

// tooMany is the mistake of a while that goes on after the most trips that it makes.
func (p *Compiled) tooMany(x *instance, s *lower.Step) error {
	if err := p.refused(x); err != nil { // which came first
		return err
	}
	return at(s, diag.New(TooManyTrips, "the loop goes on after "+strconv.Itoa(s.Flow.Most)+" trips, the most that it says it makes").
		WithHint("raise the bound, or end the loop earlier"))
}

// enterBody runs a body, or says why it cannot run.
func (p *Compiled) enterBody(ctx context.Context, x *instance, a *passage, body, round int) error {
	wrong := a.control.Flow.Wrong[body]
	if wrong == nil {
		return p.play(ctx, x, a.bodies[body], round)
	}
	if err := p.refused(x); err != nil { // which came first
		return err
	}
	return wrong
}

// truth reads the bool that a cond or while asks for. What follows from an operand that was
// refused is no answer: a loop might never end.
func (p *Compiled) truth(x *instance, s *lower.Step) (bool, error) {
	var word [1]byte
	if err := x.queue.Read(word[:], x.views[s.Flow.Test]); err != nil {
		return false, at(s, err)
	}
	x.ahead = 0
	if len(p.checked) > 0 {
		if err := p.refused(x); err != nil {
			return false, err
		}
	}
	return word[0] != 0, nil
}

package run

import (
	"context"

	"github.com/gofx-dev/gofx/lowering/gpu/internal/device"
)

// MaxInstances is how many runs at once keep their memory on the device for later runs.
const MaxInstances = 4

// newInstance takes memory for a run.
func (p *Compiled) newInstance() (_ *instance, err error) {
	x := &instance{views: make([]device.Buffer, len(p.build.Buffers))}
	defer func() {
		if err != nil {
			x.close()
		}
	}()
	dev := p.dev.dev
	if x.queue, err = dev.NewQueue(); err != nil {
		return nil, err
	}
	if x.arena, err = dev.Alloc(max(p.arena, 1)); err != nil {
		return nil, err
	}
	if x.status, err = dev.Alloc(statusBytes); err != nil {
		return nil, err
	}
	used := p.used()
	for k, f := range p.build.Buffers {
		if x.views[k] = p.fixed[k]; x.views[k] != nil || !used[k] || f.Setup {
			continue
		}
		if x.views[k], err = x.arena.View(f.Off, f.Bytes); err != nil {
			return nil, err
		}
	}
	x.launches = make([]device.Launch, len(p.launches))
	for i, s := range p.launches {
		if s.Routine == nil {
			x.launches[i] = p.launch(s, x.views, x.status)
		}
	}
	for _, r := range p.routines {
		if err = r.Reserve(x.queue); err != nil {
			return nil, err
		}
	}
	x.replays = make([]device.Recording, len(p.launches))
	return x, p.record(x, p.passages)
}

// record keeps the launches of each passage of an instance as one command, where the queue can:
// drivers take microseconds for each launch, which is longer than many kernels run.
func (p *Compiled) record(x *instance, list []passage) (err error) {
	q, ok := x.queue.(device.Recorder)
	if !ok {
		return nil
	}
	for _, a := range list {
		for _, body := range a.bodies {
			if err := p.record(x, body); err != nil {
				return err
			}
		}
		if a.control != nil || a.shifts || a.to-a.from < 2 {
			continue
		}
		x.replays[a.from], err = q.Record(func() error { return p.issue(context.Background(), x, a, 0) })
		if err != nil {
			return err
		}
	}
	return nil
}

// acquire returns a free instance or a new one.
func (p *Compiled) acquire() (*instance, error) {
	p.mu.Lock()
	if n := len(p.free); n > 0 {
		x := p.free[n-1]
		p.free = p.free[:n-1]
		p.mu.Unlock()
		return x, nil
	}
	p.mu.Unlock()
	return p.newInstance()
}

// release keeps an instance for later runs; failed ones are given up.
func (p *Compiled) release(x *instance, failed bool) {
	p.mu.Lock()
	keep := !failed && len(p.free) < MaxInstances
	if keep {
		p.free = append(p.free, x)
	}
	p.mu.Unlock()
	if !keep {
		x.close()
	}
}

package run

import (
	"fmt"
	"slices"
	"time"

	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/device"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/lower"
)

// choose takes for each step that has another way the one that is faster on the device, which
// is measured once and kept in the folder.
func (p *Compiled) choose(folder lowering.Folder) error {
	lib, ok := p.dev.dev.(device.Library)
	if !ok {
		return nil
	}
	c := &choice{p: p, lib: lib, folder: folder, known: map[string]bool{}}
	var err error
	p.build.Steps, err = c.among(p.build.Steps)
	return err
}

// choice is what was chosen so far, by key.
type choice struct {
	p      *Compiled
	lib    device.Library
	folder lowering.Folder
	known  map[string]bool
}

// among returns steps, those of bodies too, done the way that is faster.
func (c *choice) among(list []lower.Step) (steps []lower.Step, err error) {
	for _, s := range list {
		if s.Flow != nil {
			for i, body := range s.Flow.Bodies {
				if s.Flow.Bodies[i], err = c.among(body); err != nil {
					return nil, err
				}
			}
		}
		if s.Other == nil {
			steps = append(steps, s)
			continue
		}
		o := s.Other
		r, name, err := o.Routine.Of(c.lib)
		if err != nil { // the kernel does it
			s.Other = nil
			steps = append(steps, s)
			continue
		}
		key := fmt.Sprint(name, " ", s.Kernel.Name, " ", o.Routine)
		if o.Then != nil {
			key += " " + o.Then.Kernel.Name
		}
		use, known := c.known[key]
		if !known {
			if use, err = c.p.faster(&s, r, key, c.folder); err != nil {
				r.Free()
				return nil, err
			}
			c.known[key] = use
		}
		if !use {
			r.Free()
			s.Other = nil
			steps = append(steps, s)
			continue
		}
		c.p.routines = append(c.p.routines, r)
		steps = append(steps, lower.Step{Routine: r, Library: name, Args: []int{o.Out, o.A, o.B}, Outs: 1, Node: s.Node})
		if o.Then != nil {
			steps = append(steps, *o.Then)
		}
	}
	return steps, nil
}

// faster reports whether a library's routine, with what follows it, takes less time than the
// kernel.
func (p *Compiled) faster(s *lower.Step, r device.Routine, key string, folder lowering.Folder) (bool, error) {
	i := p.dev.Info()
	file := lowering.Key("choice 1", i.Kind, i.Name, i.Driver, i.Arch, key)
	if known := folder.Load(file); len(known) == 1 {
		return known[0] == 1, nil
	}
	q, err := p.dev.dev.NewQueue()
	if err != nil {
		return false, err
	}
	defer q.Free()
	buffers := make([]device.Buffer, len(p.build.Buffers))
	defer func() {
		for _, b := range buffers {
			if b != nil {
				b.Free()
			}
		}
	}()
	o := s.Other
	used := append(slices.Clone(s.Args), o.Out, o.A, o.B)
	if o.Then != nil {
		used = append(used, o.Then.Args...)
	}
	for _, k := range used {
		if buffers[k] == nil {
			if buffers[k], err = p.dev.dev.Alloc(p.build.Buffers[k].Bytes); err != nil {
				return false, err
			}
		}
	}
	own, err := timed(q, func() error {
		l := p.launch(s, buffers, nil)
		return q.Launch(&l)
	})
	if err != nil {
		return false, at(s, err)
	}
	theirs, err := timed(q, func() error {
		if err := r.Run(q, buffers[o.Out], buffers[o.A], buffers[o.B]); err != nil || o.Then == nil {
			return err
		}
		l := p.launch(o.Then, buffers, nil)
		return q.Launch(&l)
	})
	if err != nil {
		return false, at(s, err)
	}
	use := p.dev.prefers(own, theirs)
	folder.Save(file, map[bool][]byte{true: {1}, false: {0}}[use])
	return use, nil
}

// timed is the least time of some rounds of a command, after one that nobody counts.
func timed(q device.Queue, command func() error) (time.Duration, error) {
	const rounds, each = 4, 5
	best := time.Duration(0)
	for round := range rounds {
		start := time.Now()
		for range each {
			if err := command(); err != nil {
				return 0, err
			}
		}
		if err := q.Finish(); err != nil {
			return 0, err
		}
		if t := time.Since(start); round == 1 || round > 1 && t < best {
			best = t
		}
	}
	return best, nil
}

package shard

import (
	"math"
	"slices"
)

// settled says along which axis each cut of a call is computed, -1 for none, where operands and
// results are laid out as they are. Where an axis could go with several cuts, or a cut with
// several axes, those are taken for which the least is exchanged.
func (p *propagation) settled(c *call) []int {
	claims := make([][]int, len(c.cuts))
	var axes []int
	for i := range c.cuts {
		for _, k := range c.axes(&c.cuts[i]) {
			if p.divides(k, &c.cuts[i]) {
				claims[i] = append(claims[i], k)
				if !slices.Contains(axes, k) {
					axes = append(axes, k)
				}
			}
		}
	}
	s := &settling{p: p, c: c, claims: claims, axes: axes, least: math.MaxInt64, now: make([]int, len(c.cuts))}
	for i := range s.now {
		s.now[i] = -1
	}
	s.try(0)
	return s.best
}

// settling tries each way to give axes to cuts.
type settling struct {
	p         *propagation
	c         *call
	claims    [][]int // by cut
	axes      []int
	now, best []int
	least     int64
}

// try gives the axes from i on to cuts that claim them. An axis is left out only where all
// cuts that claim it have another.
func (s *settling) try(i int) {
	if i == len(s.axes) {
		s.judge()
		return
	}
	given := false
	for j, list := range s.claims {
		if s.now[j] < 0 && slices.Contains(list, s.axes[i]) {
			given = true
			s.now[j] = s.axes[i]
			s.try(i + 1)
			s.now[j] = -1
		}
	}
	if !given {
		s.try(i + 1)
	}
}

// judge keeps what is tried where less is exchanged than before.
func (s *settling) judge() {
	var sum int64
	for _, e := range s.p.exchanges(s.c, s.now, map[gathered]bool{}) {
		sum += e.Bytes
	}
	if sum < s.least {
		s.least, s.best = sum, slices.Clone(s.now)
	}
}

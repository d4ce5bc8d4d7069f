package run

import (
	"context"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/lower"
)

// Stats describes an executable.
type Stats struct {
	Sizes    lowering.CacheStats // of the graph, lowered for sizes
	Launches int                 // kernels of a run of what was used last: each once, those in bodies of control flow too, however often they run
	Control  int                 // branches and loops, where the host decides what is launched
	Tensor   int                 // launches of kernels that use tensor cores
	Library  int                 // products that the library of the device's vendor computes
	Kernels  int                 // different ones
	Compiled int                 // of them, by the driver
	Cached   int                 // of them, from the cache on disk or of the device
	Expanded int                 // calls of the graph that run as what they are expanded into
	Setup    int                 // launches that were made once
	Arena    int                 // bytes of the device for the values of a run
	Fixed    int                 // bytes of weights and what is made of them
}

// String describes the executable in a line.
func (s Stats) String() string {
	return strings.Join([]string{
		strconv.Itoa(s.Launches) + " launches of " + strconv.Itoa(s.Kernels) + " kernels (" + strconv.Itoa(s.Compiled) + " compiled, " + strconv.Itoa(s.Cached) + " cached)",
		strconv.Itoa(s.Control) + " branches and loops",
		strconv.Itoa(s.Tensor) + " launches on tensor cores",
		strconv.Itoa(s.Library) + " products by a library",
		strconv.Itoa(s.Expanded) + " calls expanded",
		strconv.Itoa(s.Setup) + " launches once",
		strconv.Itoa(s.Arena) + " bytes of values",
		strconv.Itoa(s.Fixed) + " bytes of weights",
	}, ", ")
}

// Count describes the program in s, when no run makes its weights again.
func (p *Compiled) Count(s *Stats) {
	if p.fresh.RLock(context.Background()) != nil {
		return
	}
	defer p.fresh.RUnlock()

	s.Launches, s.Control, s.Library, s.Tensor, s.Setup, s.Arena, s.Fixed = 0, 0, 0, 0, 0, p.arena, 0
	names := map[string]bool{}
	for st := range lower.Each(p.build.Steps) {
		if st.Flow != nil {
			s.Control++
			continue
		}
		if st.Routine != nil {
			s.Library++
			continue
		}
		if names[st.Kernel.Name] = true; st.Setup {
			s.Setup++
		} else {
			s.Launches++
			if st.Kernel.Tensor {
				s.Tensor++
			}
		}
	}
	s.Kernels, s.Compiled, s.Cached, s.Expanded = len(names), 0, len(names), p.build.Expanded
	if p.built {
		s.Compiled, s.Cached = len(names), 0
	}
	for _, b := range p.fixed {
		if b != nil {
			s.Fixed += b.Bytes()
		}
	}
}

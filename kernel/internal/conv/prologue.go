package conv

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// minusZero is the number whose addition changes no other.
var minusZero = float32(math.Copysign(0, -1))

// prepares reports whether there is a prologue.
func (s ConvPacked) prepares(in []*array.Array) bool {
	return s.Prologue.Act != operand.ActNone || operand.At(in, 5) != nil || operand.At(in, 6) != nil
}

// planes returns the channels of all images.
func (v *conv32) planes() int { return v.batch * v.groups * v.channels }

// preparedBytes is the scratch of prepare.
func (v *conv32) preparedBytes() int {
	return par.ScratchSize(v.planes()*v.g.InPlane, 4) + 2*par.ScratchSize(v.planes(), 4)
}

// prepare applies the prologue to the image.
func (v *conv32) prepare(w *par.Workspace, p operand.Prologue, factor, term []float32) {
	j := par.TakeJob[prepareJob](w)
	*j = prepareJob{level: cpu.Host.Level, plane: v.g.InPlane, src: v.src, dst: par.Scratch[float32](w, len(v.src)),
		factor: each(w, factor, v.planes(), 1), term: each(w, term, v.planes(), minusZero)}
	j.lo, j.hi = p.Bounds()
	if len(j.src) > 0 {
		w.Parallel(v.planes(), max(1, par.SimdPack/j.plane), j)
	}
	v.src = j.dst
	par.PutJob(w, j)
}

// each returns a number for each of n channels: those of a list, again for each image,
// or the default of an absent list.
func each(w *par.Workspace, list []float32, n int, absent float32) []float32 {
	if len(list) == n && list != nil {
		return list
	}
	all := par.Scratch[float32](w, n)
	for i := range all {
		all[i] = absent
		if list != nil {
			all[i] = list[i%len(list)]
		}
	}
	return all
}

// prepareJob is a prologue over channels.
type prepareJob struct {
	level        cpu.Level
	plane        int
	dst, src     []float32
	factor, term []float32
	lo, hi       float32
}

// preparation is a prologue of some channels. The assembly knows its layout.
type preparation struct {
	factor, term *float32
	lo, hi       float32
}

// Do prepares channels [lo, hi).
func (j *prepareJob) Do(lo, hi int) {
	if !cpu.X86 || !j.fast(lo, hi) {
		j.slow(lo, hi)
	}
}

// slow is the twin of the assembly.
func (j *prepareJob) slow(lo, hi int) {
	for c := lo; c < hi; c++ {
		dst := j.dst[c*j.plane : (c+1)*j.plane]
		for i, x := range j.src[c*j.plane : (c+1)*j.plane] {
			x = float32(x*j.factor[c]) + j.term[c]
			if x < j.lo {
				x = j.lo
			}
			if x > j.hi {
				x = j.hi
			}
			dst[i] = x
		}
	}
}

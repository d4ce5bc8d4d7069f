package conv

import (
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// Groups of few channels are little work: shared out one by one, threads would meet after
// each. Here each goroutine computes whole groups of an image, which stay in its caches.

// apart is how many goroutines can each compute a group of an image, on so many threads at once;
// 1 where one group after the other is shared out.
func (v *conv32) apart(l cpu.Level, threads int) int {
	units := v.groups * v.batch
	if v.groups == 1 || !(v.rows && hasConvTile(l)) && !v.spans(l) || v.rows && v.dense() || 2*units < threads {
		return 1
	}
	return min(units, threads)
}

// apartScratch is the scratch of groups that are computed apart.
func (v *conv32) apartScratch(l cpu.Level) int {
	return v.apart(l, par.Machine(par.MostSlots)) * v.scratchRows()
}

// groupsJob computes groups of images.
type groupsJob struct {
	conv32
	slots par.Slots
	lanes *par.Lanes
}

// byGroups computes the convolution so, if goroutines have groups to share.
func (v *conv32) byGroups(w *par.Workspace, l cpu.Level) bool {
	n := v.apart(l, w.Processors(par.MostSlots))
	if n == 1 {
		return false
	}
	mark := w.Mark()
	j := par.TakeJob[groupsJob](w)
	*j = groupsJob{conv32: *v, lanes: par.TakeLanes(w, n, v.scratchRows())}
	for i := range n {
		if at := j.lanes.At(i); len(at.Jobs) == 0 { // later calls allocate nothing, whoever comes
			par.PutJob(at, &frameJob{})
			par.PutJob(at, &rowsJob{})
			par.PutJob(at, &spanJob{})
		}
	}
	work := v.outPerGroup * v.perGroup * v.g.Taps * v.g.OutPlane
	w.Within(n, v.groups*v.batch, max(1, par.SimdWork/work), j)
	par.PutLanes(w, j.lanes)
	par.PutJob(w, j)
	w.Release(mark)
	return true
}

// Do computes groups [lo, hi), counted over the images.
func (j *groupsJob) Do(lo, hi int) {
	slot := j.slots.Take(0)
	defer j.slots.Give(slot)
	w, l := j.lanes.At(slot), j.level()
	for i := lo; i < hi; i++ {
		one := j.only(i)
		mark := w.Mark()
		if one.rows {
			one.runRows(w)
		} else {
			one.runSpans(w, l)
		}
		w.Release(mark)
	}
}

// only is the convolution of one group of one image.
func (v *conv32) only(i int) conv32 {
	group, g, m := i%v.groups, &v.g, v.outPerGroup
	size := len(v.packed) / v.groups
	one := *v
	one.batch, one.groups = 1, 1
	one.src = v.src[i*v.perGroup*g.InPlane : (i+1)*v.perGroup*g.InPlane]
	one.dst = v.dst[i*m*g.OutPlane : (i+1)*m*g.OutPlane]
	one.packed = v.packed[group*size : (group+1)*size]
	one.end = v.end.Channels(group*m, m, i*m*g.OutPlane)
	return one
}

package resize

import "github.com/gofx-dev/gofx/kernel/internal/par"

// Cuts implements Cutter. Planes are independent, as they are in all steps of this package.
func (r Resize) Cuts(out, in [][]int) []par.Cut {
	return par.Leading(len(in[0])-r.Spatial, out, in)
}

// Cuts implements Cutter.
func (r Resample) Cuts(out, in [][]int) []par.Cut {
	return par.Leading(len(in[0])-r.Spatial, out, in)
}

// Cuts implements Cutter: images with their points, and channels.
func (g GridSample) Cuts(out, in [][]int) []par.Cut {
	list := par.Leading(2, out, in)
	list[0].In[1] = 0
	return list
}

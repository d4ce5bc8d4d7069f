package conv

import "github.com/gofx-dev/gofx/kernel/internal/par"

// Cuts implements Cutter: images, and without groups the channels of both sides. Windows
// overlap, so that planes are not cut.
func (s Conv) Cuts(out, in [][]int) []par.Cut {
	channels := len(in[0]) - len(in[1]) + 1
	list := par.Leading(channels, out, in)
	if s.Groups > 1 {
		return list
	}
	features := par.Cut{In: par.AllWhole(len(in)), Out: []int{channels}, Size: in[1][0]}
	summed := par.Cut{In: par.AllWhole(len(in)), Out: []int{par.Whole}, Size: in[1][1], Combine: "sum"}
	features.In[1], summed.In[0], summed.In[1] = 0, channels, 1
	if len(in) > 2 && in[2] != nil {
		features.In[2], summed.In[2] = 0, par.Once
	}
	return append(list, features, summed)
}

// Cuts implements Cutter, as that of Conv does: the weight has the sides the other way round.
func (s ConvTranspose) Cuts(out, in [][]int) []par.Cut {
	channels := len(in[0]) - len(in[1]) + 1
	list := par.Leading(channels, out, in)
	if s.Groups > 1 {
		return list
	}
	features := par.Cut{In: par.AllWhole(len(in)), Out: []int{channels}, Size: in[1][1]}
	summed := par.Cut{In: par.AllWhole(len(in)), Out: []int{par.Whole}, Size: in[1][0], Combine: "sum"}
	features.In[1], summed.In[0], summed.In[1] = 1, channels, 0
	if len(in) > 2 && in[2] != nil {
		features.In[2], summed.In[2] = 0, par.Once
	}
	return append(list, features, summed)
}

// Cuts implements Cutter: images, whose gradients are added, and without groups the channels of
// both sides.
func (s ConvWeightGrad) Cuts(_, in [][]int) []par.Cut {
	list := []par.Cut{{In: []int{0, 0}, Out: []int{par.Whole}, Size: in[0][0], Combine: "sum"}}
	if s.Groups > 1 {
		return list
	}
	return append(list, par.Cut{In: []int{par.Whole, 1}, Out: []int{0}, Size: in[1][1]},
		par.Cut{In: []int{1, par.Whole}, Out: []int{1}, Size: in[0][1]})
}

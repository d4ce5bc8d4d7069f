package move

import "github.com/gofx-dev/gofx/kernel/internal/par"

// Cuts implements Cutter.
func (Copy) Cuts(out, in [][]int) []par.Cut { return par.Aligned(out, in) }

// Cuts implements Cutter.
func (Bitcast) Cuts(out, in [][]int) []par.Cut { return par.Aligned(out, in) }

// Cuts implements Cutter.
func (Expand) Cuts(out, in [][]int) []par.Cut { return par.Aligned(out, in) }

// Cuts implements Cutter.
func (Full) Cuts(out, in [][]int) []par.Cut { return par.Aligned(out, in) }

// Cuts implements Cutter. Elements stay in their order: where as many of the operand's
// dimensions hold the elements of as many of the result's, the first of both are cut at the
// same places, into as many parts as divide both.
func (Reshape) Cuts(out, in [][]int) []par.Cut {
	var list []par.Cut
	src, dst := in[0], out[0]
	i, j := 0, 0
	for i < len(src) && j < len(dst) {
		if src[i] == 0 || dst[j] == 0 {
			return list
		}
		c := par.Cut{In: par.AllWhole(len(in)), Out: []int{j}, Size: divisor(src[i], dst[j])}
		c.In[0] = i
		if c.Size > 1 {
			list = append(list, c)
		}
		a, b := src[i], dst[j]
		if a == 1 && b != 1 { // the dimension of one element belongs to none
			i++
			continue
		}
		if b == 1 && a != 1 {
			j++
			continue
		}
		for i, j = i+1, j+1; a != b; {
			if a < b && i < len(src) {
				a, i = a*src[i], i+1
			} else if j < len(dst) {
				b, j = b*dst[j], j+1
			} else {
				return list
			}
		}
	}
	return list
}

// divisor returns the greatest number that divides both.
func divisor(a, b int) int {
	for b > 0 {
		a, b = b, a%b
	}
	return a
}

// Cuts implements Cutter.
func (p Permute) Cuts(out, _ [][]int) []par.Cut {
	var list []par.Cut
	for d, src := range p.Dims {
		list = append(list, par.Cut{In: []int{src}, Out: []int{d}, Size: out[0][d]})
	}
	return list
}

// Cuts implements Cutter.
func (s Slice) Cuts(out, in [][]int) []par.Cut {
	if len(in[0]) > s.Dim && out[0][s.Dim] == in[0][s.Dim] && s.Stop >= in[0][s.Dim] && s.Start == 0 {
		return par.Aligned(out, in) // the bounds lie beyond every part, too
	}
	return par.Aligned(out, in, s.Dim)
}

// Cuts implements Cutter.
func (s Select) Cuts(out, in [][]int) []par.Cut { return par.Kept(out, in, s.Dim) }

// Cuts implements Cutter.
func (c Concat) Cuts(out, in [][]int) []par.Cut {
	var list []par.Cut
	for d, size := range out[0] {
		if d == c.Dim {
			continue
		}
		cut := par.Cut{Out: []int{d}, Size: size}
		for _, dims := range in {
			at := d
			if len(dims) != len(out[0]) { // a vector of nothing
				at = par.Whole
			}
			cut.In = append(cut.In, at)
		}
		list = append(list, cut)
	}
	return list
}

// Cuts implements Cutter.
func (p Pad) Cuts(out, in [][]int) []par.Cut {
	var padded []int
	for d := range p.Lo {
		if p.Lo[d] != 0 || p.Hi[d] != 0 {
			padded = append(padded, d)
		}
	}
	return par.Aligned(out, in, padded...)
}

// Cuts implements Cutter.
func (f Flip) Cuts(out, in [][]int) []par.Cut { return par.Aligned(out, in, f.Dims...) }

// Cuts implements Cutter.
func (r Roll) Cuts(out, in [][]int) []par.Cut {
	if len(r.Dims) == 0 {
		return nil // elements shift as if there were one dimension
	}
	return par.Aligned(out, in, r.Dims...)
}

// Cuts implements Cutter.
func (r RepeatInterleave) Cuts(out, in [][]int) []par.Cut { return par.Aligned(out, in, r.Dim) }

// Cuts implements Cutter.
func (Tile) Cuts(out, in [][]int) []par.Cut {
	var tiled []int
	for d, size := range out[0] {
		if k := len(in[0]) - len(out[0]) + d; k < 0 || in[0][k] != size {
			tiled = append(tiled, d)
		}
	}
	return par.Aligned(out, in, tiled...)
}

// Cuts implements Cutter.
func (s Split) Cuts(out, in [][]int) []par.Cut {
	if len(out) == 0 {
		return nil
	}
	return par.Kept(out, in, s.Dim)
}

// Cuts implements Cutter.
func (Unfold) Cuts(out, in [][]int) []par.Cut { return par.Leading(len(in[0])-3, out, in) }

// Cuts implements Cutter.
func (Fold) Cuts(out, in [][]int) []par.Cut { return par.Leading(len(in[0])-2, out, in) }

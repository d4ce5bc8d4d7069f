package quant

import "github.com/gofx-dev/gofx/kernel/internal/geom"

// meanPlane takes the means of the windows of a plane, a line of results at a time: lines of
// taps are added up on vectors, then the sums of a window's columns one by one, and the
// line is rounded on vectors. It reports false where lines are too long, sums need
// more than 32 bits, or there is a third dimension.
func (j *qPoolJob) meanPlane(dst, src []uint8) bool {
	if j.In[0] != 1 || j.Out[0] != 1 || j.Kernel[0] != 1 || j.PadLo[0] != 0 || max(j.In[2], j.Out[2]) > qPoolLine || j.Kernel[1]*j.Kernel[2] > qPoolSum {
		return false
	}
	var sums [qPoolLine]int32
	var means [qPoolLine]float32
	for o := range j.Out[1] {
		top := o*j.Stride[1] - j.PadLo[1]
		end := min(top+j.Kernel[1], j.end[1])
		padded := end - top
		top, end = geom.FirstTap(top, 1), min(end, j.In[1])
		cols := sums[:j.In[2]]
		clear(cols)
		for y := top; y < end; y++ {
			qAddUp(cols, src[y*j.In[2]:], j.flip)
		}
		line := means[:j.Out[2]]
		j.meanLine(line, cols, max(0, end-top), padded)
		quantize(line, 1, j.lo, j.hi, j.zero, dst[o*j.Out[2]:][:j.Out[2]])
	}
	return true
}

// meanLine gives the means of a line of windows, in units of the result's scale, from the sums
// of columns of own elements; padded are those of a column with the padding.
func (j *qPoolJob) meanLine(line []float32, cols []int32, own, padded int) {
	k, s := j.Kernel[2], j.Stride[2]
	for x := range line {
		left := x*s - j.PadLo[2]
		right := min(left+k, j.end[2])
		width := right - left
		left, right = max(left, 0), min(right, len(cols))
		var v int32
		if left < right {
			for _, c := range cols[left:right] {
				v += c
			}
		}
		n := own * max(right-left, 0)
		divisor := n
		if j.include {
			divisor = padded * width
		}
		scale := j.scale / float32(max(divisor, 1))
		line[x] = float32(float32(v-int32(n)*j.zeroX) * scale)
	}
}

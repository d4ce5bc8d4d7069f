package index

import (
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/move"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// Suppress takes for each batch and class the boxes of the greatest scores that do not
// overlap a box taken before by more than IoU: rows of batch, class and box, i64.
// in[0] are the boxes [batch, box, 4]: two opposite corners y, x, y, x, or with Center
// middles and sizes x, y, w, h; in[1] the scores [batch, class, box]. Of equal scores
// the first comes first. At most Most boxes of a class are taken, none whose
// score is NaN, and with Scored only those whose score is greater than Score.
//
//gofx:kernel
type Suppress struct {
	Most           int
	IoU, Score     float32
	Scored, Center bool
}

// Sizes implements Sizer.
func (s Suppress) Sizes(shapes [][]int, in []*array.Array) {
	shapes[0][0], shapes[0][1] = len(s.take(in))/3, 3
}

// Run implements Step.
func (s Suppress) Run(_ *par.Workspace, out, in []*array.Array) {
	copy(move.RawOut[int64](out[0]), s.take(in))
}

// box is a rectangle with ordered corners.
type box struct{ y0, x0, y1, x1, area float32 }

func (s Suppress) take(in []*array.Array) (rows []int64) {
	boxes, scores := in[0], in[1]
	s = s.limited(in)
	if boxes.Rank() != 3 || scores.Rank() != 3 || boxes.Dim(2) != 4 || boxes.Dim(1) != scores.Dim(2) || boxes.Dim(0) != scores.Dim(0) {
		operand.BadOperand("non_max_suppression", "boxes are not [batch, box, 4], or scores not [batch, class, box]")
	}
	classes, n := scores.Dim(1), scores.Dim(2)
	all := make([]box, n)
	score := make([]float32, n)
	for b := range scores.Dim(0) {
		for i := range all {
			all[i] = s.box(boxes, (b*n+i)*4)
		}
		for c := range classes {
			order := make([]int, 0, n)
			for i := range score {
				score[i] = float32(array.Float64At(scores, (b*classes+c)*n+i))
				if score[i] == score[i] && (!s.Scored || score[i] > s.Score) {
					order = append(order, i)
				}
			}
			slices.SortStableFunc(order, func(i, j int) int {
				switch {
				case score[i] > score[j]:
					return -1
				case score[i] < score[j]:
					return 1
				}
				return 0
			})
			for _, i := range s.keepDisjoint(all, order) {
				rows = append(rows, int64(b), int64(c), int64(i))
			}
		}
	}
	return rows
}

// limited takes the values of operands in place of the fields.
func (s Suppress) limited(in []*array.Array) Suppress {
	given := func(i int) bool {
		if len(in) <= i || in[i] == nil {
			return false
		}
		if in[i].Len() != 1 {
			operand.BadOperand("non_max_suppression", "a limit has not one element")
		}
		return true
	}
	if given(2) {
		s.Most = int(max(array.Int64At(in[2], 0), 0))
	}
	if given(3) {
		s.IoU = float32(array.Float64At(in[3], 0))
	}
	if given(4) {
		s.Score, s.Scored = float32(array.Float64At(in[4], 0)), true
	}
	return s
}

// keepDisjoint returns the boxes that overlap none of those before them.
func (s Suppress) keepDisjoint(all []box, order []int) (taken []int) {
	for _, i := range order {
		if len(taken) >= s.Most {
			break
		}
		if !slices.ContainsFunc(taken, func(k int) bool { return all[k].overlaps(all[i], s.IoU) }) {
			taken = append(taken, i)
		}
	}
	return taken
}

func (s Suppress) box(a *array.Array, at int) box {
	var v [4]float32
	for i := range v {
		v[i] = float32(array.Float64At(a, at+i))
	}
	b := box{y0: min(v[0], v[2]), x0: min(v[1], v[3]), y1: max(v[0], v[2]), x1: max(v[1], v[3])}
	if s.Center {
		b = box{y0: v[1] - v[3]/2, x0: v[0] - v[2]/2, y1: v[1] + v[3]/2, x1: v[0] + v[2]/2}
	}
	b.area = (b.y1 - b.y0) * (b.x1 - b.x0)
	return b
}

// overlaps reports whether the common area of two boxes is a greater part of their
// union than iou. Boxes that have nothing in common overlap by no measure.
func (b box) overlaps(o box, iou float32) bool {
	h := min(b.y1, o.y1) - max(b.y0, o.y0)
	w := min(b.x1, o.x1) - max(b.x0, o.x0)
	if h <= 0 || w <= 0 || b.area <= 0 || o.area <= 0 {
		return false
	}
	common := float32(h * w)
	return common/(b.area+o.area-common) > iou
}

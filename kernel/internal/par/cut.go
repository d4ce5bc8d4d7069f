package par

// Values in the place of a dimension in a Cut.
//
//gofx:kernel
const (
	// Whole is an operand that every part reads whole, or a result of which every part
	// gives a value of the whole's size.
	Whole = -1 - iota
	// Once is an optional operand that the first part alone is given; the others run
	// without it.
	Once
)

// Cut is a way to compute a step in parts of equal size: the same step, run once for each
// part on slices of its operands, gives slices of its results, or values of which the
// results are combined.
//
//gofx:kernel
type Cut struct {
	// In and Out have for each operand and each result the dimension that is cut, Whole or
	// Once. Absent operands are Whole.
	In, Out []int
	// Size is the number that the number of parts has to divide.
	Size int
	// Combine says how the values of the parts make a result that is Whole: sum, prod, mean,
	// max or min.
	Combine string
}

// Cutter is a Step that says how it can be computed in parts. Cuts are independent: a step
// may be computed along several of them at once.
//
//gofx:kernel
type Cutter interface {
	Step
	// Cuts lists the ways for results and operands of these sizes; in has nil for absent
	// operands.
	Cuts(out, in [][]int) []Cut
}

// Aligned lists the cuts of a step whose dimensions of one place, counted from the end,
// belong together: a result's element is computed from those at its place. A dimension that
// is absent, or that is 1 and greater in the first result, is read whole. Dimensions in
// skip are not cut.
func Aligned(out, in [][]int, skip ...int) []Cut {
	var list []Cut
	rank := len(out[0])
next:
	for d, size := range out[0] {
		for _, s := range skip {
			if d == s {
				continue next
			}
		}
		c := Cut{Size: size}
		for _, dims := range in {
			at, fits := at(dims, d-rank, size)
			if !fits {
				continue next
			}
			c.In = append(c.In, at)
		}
		for _, dims := range out {
			at, fits := at(dims, d-rank, size)
			if !fits || at == Whole {
				continue next
			}
			c.Out = append(c.Out, at)
		}
		list = append(list, c)
	}
	return list
}

// at returns the place of a dimension counted from the end that has a size; Whole where it
// is 1 or not there, false where it has another size.
func at(dims []int, fromEnd, size int) (place int, fits bool) {
	place = len(dims) + fromEnd
	switch {
	case place < 0 || dims[place] == 1 && size != 1:
		return Whole, true
	case dims[place] != size:
		return 0, false
	}
	return place, true
}

// Kept lists the cuts of a step of one operand that drops some of its dimensions, or keeps
// them with other sizes, and computes along these: all others are independent.
func Kept(out, in [][]int, dropped ...int) []Cut {
	var list []Cut
	at, gone := 0, len(in[0]) != len(out[0])
next:
	for d, size := range in[0] {
		for _, s := range dropped {
			if d == s {
				if !gone {
					at++
				}
				continue next
			}
		}
		c := Cut{In: []int{d}, Size: size}
		for range in[1:] {
			c.In = append(c.In, Whole)
		}
		for range out {
			c.Out = append(c.Out, at)
		}
		list = append(list, c)
		at++
	}
	return list
}

// AllWhole returns as many operands or results that are not cut.
func AllWhole(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = Whole
	}
	return list
}

// Leading lists the cuts along the first n dimensions, which the first operand and all
// results share; the other operands are read whole.
func Leading(n int, out, in [][]int) []Cut {
	var list []Cut
	for d := range max(n, 0) {
		c := Cut{In: AllWhole(len(in)), Size: in[0][d]}
		c.In[0] = d
		for range out {
			c.Out = append(c.Out, d)
		}
		list = append(list, c)
	}
	return list
}

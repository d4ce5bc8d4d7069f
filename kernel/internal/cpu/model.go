package cpu

import "strconv"

// Machine names the processor that this process runs on: its model, the instruction sets that the
// process uses, and the caches. What was measured on one machine holds for those of the same name.
//
//gofx:kernel
func Machine() string {
	c := Cache()
	s := model() + ", " + CPU() + ", caches"
	for _, n := range []int{c.L1, c.L2, c.L3} {
		s += " " + strconv.Itoa(n)
	}
	return s
}

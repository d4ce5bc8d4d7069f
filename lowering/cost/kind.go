package cost

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering/plan"
)

// kindOf names the kernel of a step and, of a convolution, what it is computed by; int8
// tells that it multiplies bytes.
func kindOf(p *plan.Plan, st *plan.Step, s *plan.Sizes) (kind string, int8 bool) {
	var x []int // the shape of the first operand
	if len(st.In) > 0 && st.In[0] >= 0 {
		x = s.Shapes[st.In[0]]
		d := p.Buffers[st.In[0]].Type.DType()
		int8 = d == array.U8 || d == array.I8
	}
	return kindName(st.Kernel, x), int8
}

func kindName(k kernel.Step, x []int) string {
	name := reflect.Indirect(reflect.ValueOf(k)).Type().Name()
	switch c := k.(type) {
	case *kernel.ConvPacked:
		return convName(name, c.Kernel, c.Stride, c.Groups, c.Channels, c.In)
	case *kernel.LinearPacked:
		if rows(x) == 1 {
			return name + " of one row" // which reads as many weights as it multiplies
		}
	case *kernel.QConv:
		if c.Packed && !c.ChannelsLast && len(x) > 2 {
			return convName(name, c.Kernel, c.Stride, c.Groups, x[1], x[2:])
		}
	}
	return name
}

// rows is how many rows a product of matrices has on its left.
func rows(x []int) int {
	n := 1
	for _, d := range x[:max(len(x)-1, 0)] {
		n *= d
	}
	return n
}

// convName names a kind of convolutions of maps of these sizes.
func convName(name string, filter, stride []int, groups, channels int, maps []int) string {
	var sizes []string
	for _, n := range filter {
		sizes = append(sizes, strconv.Itoa(n))
	}
	name += " " + strings.Join(sizes, "x")
	switch {
	case groups > 1 && groups == channels:
		name += " depthwise"
	case groups > 1:
		name += " in groups"
	}
	if slices.ContainsFunc(stride, func(s int) bool { return s > 1 }) {
		name += " with stride"
	}
	if slices.ContainsFunc(maps, func(n int) bool { return n > 1 }) {
		return name
	}
	return name + " of 1x1 maps"
}

// family is the kernel of a kind.
func family(kind string) string {
	name, _, _ := strings.Cut(kind, " ")
	return name
}

package source

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array"
)

// View is where the elements of an operand lie in its buffer, in elements.
type View struct {
	DType          array.DType
	Shape, Strides []int
	Offset         int
}

// Dense is the view of a whole buffer in row-major order.
func Dense(d array.DType, dims []int) View {
	v := View{DType: d, Shape: slices.Clone(dims), Strides: make([]int, len(dims))}
	n := 1
	for i := len(dims) - 1; i >= 0; i-- {
		v.Strides[i] = n
		n *= dims[i]
	}
	return v
}

// Of is the view that an array's header describes.
func Of(a *array.Array) View {
	return View{a.DType(), slices.Clone(a.Shape()), slices.Clone(a.Strides()), a.Offset()}
}

// Len is the number of elements.
func (v View) Len() int { return product(v.Shape) }

// IsDense reports whether the elements lie in row-major order from the buffer's start.
func (v View) IsDense() bool {
	if v.Offset != 0 {
		return false
	}
	n := 1
	for i := len(v.Shape) - 1; i >= 0; i-- {
		if v.Shape[i] != 1 && v.Strides[i] != n {
			return false
		}
		n *= v.Shape[i]
	}
	return true
}

// order lists the dimensions as the elements lie, those that are farthest apart first: work-items that go along
// the last of it write side by side.
func (v View) order() []int {
	o := make([]int, len(v.Shape))
	for i := range o {
		o[i] = i
	}
	slices.SortStableFunc(o, func(a, b int) int { return cmp.Compare(v.Strides[b], v.Strides[a]) })
	return o
}

// ordered is the view with its dimensions in that order.
func (v View) ordered(o []int) View {
	out := View{v.DType, make([]int, len(o)), make([]int, len(o)), v.Offset}
	for i, axis := range o {
		out.Shape[i], out.Strides[i] = v.Shape[axis], v.Strides[axis]
	}
	return out
}

// back takes coordinates in an order to where they are in the view.
func back(o []int, at []string) []string {
	out := make([]string, len(at))
	for i, axis := range o {
		out[axis] = at[i]
	}
	return out
}

// Expand is the view broadcast to dims, which it must fit.
func (v View) Expand(dims []int) View {
	out := View{v.DType, slices.Clone(dims), make([]int, len(dims)), v.Offset}
	lead := len(dims) - len(v.Shape)
	for i, s := range v.Strides {
		if v.Shape[i] != 1 {
			out.Strides[lead+i] = s
		}
	}
	return out
}

// Axis is the view with dimension i alone varying: its size and stride.
func (v View) Axis(i int) (size, stride int) { return v.Shape[i], v.Strides[i] }

// product multiplies sizes.
func product(dims []int) int {
	n := 1
	for _, d := range dims {
		n *= d
	}
	return n
}

// Kernel is a printed function and how it is launched. Its arguments are buffers, results
// first, then operands; then Numbers; then, where Status is set, the number of the call, which is
// not 0, and the status word.
type Kernel struct {
	Name    string
	Text    string
	Numbers []int  // ints that launches of one text differ in
	Groups  [3]int // of work-items in the grid
	Group   [3]int // work-items of a group
	Status  bool   // writes its number to the status word when it is the first to refuse an operand
	Tensor  bool   // uses tensor cores
}

// Items is how many work-items a launch has.
func (k *Kernel) Items() int { return product(k.Groups[:]) * product(k.Group[:]) }

// placeholder stands in a text for the kernel's name.
const placeholder = "@NAME@"

// finish names the kernel by what its text says.
func (k *Kernel) finish() *Kernel {
	sum := sha256.Sum256([]byte(k.Text))
	k.Name = "k" + hex.EncodeToString(sum[:8])
	k.Text = strings.ReplaceAll(k.Text, placeholder, k.Name)
	return k
}

// Program returns the source of a program that has the kernels, each once, in an order that
// follows from their texts alone.
func Program(kernels []*Kernel) string {
	byName := map[string]string{}
	var names []string
	for _, k := range kernels {
		if _, ok := byName[k.Name]; !ok {
			byName[k.Name] = k.Text
			names = append(names, k.Name)
		}
	}
	slices.Sort(names)
	var b strings.Builder
	b.WriteString(Prelude)
	if slices.ContainsFunc(kernels, func(k *Kernel) bool { return k.Tensor }) {
		b.WriteString(preludeTensor)
	}
	for _, n := range names {
		b.WriteString("\n" + byName[n])
	}
	return b.String()
}

// param is a parameter of a kernel.
type param struct {
	name   string
	dtype  array.DType
	out    bool
	number bool // an int, not a buffer
}

// print prints the text of a kernel whose groups are known, around the lines that write writes.
func (k *Kernel) print(params []param, write func(b *strings.Builder)) *Kernel {
	var b strings.Builder
	begin(&b, k.Group, params, false)
	write(&b)
	b.WriteString("}\n")
	k.Text = b.String()
	return k.finish()
}

// begin opens a function over the parameters.
func begin(b *strings.Builder, group [3]int, params []param, status bool) {
	b.WriteString("KERNEL(" + num(group[0]) + "," + num(group[1]) + "," + num(group[2]) + ") void " + placeholder + "(")
	for i, p := range params {
		if i > 0 {
			b.WriteString(", ")
		}
		if p.number {
			b.WriteString("int " + p.name)
			continue
		}
		c := "const "
		if p.out {
			c = ""
		}
		b.WriteString("GLOBAL " + c + storage(p.dtype) + " *RESTRICT " + p.name)
	}
	if status {
		b.WriteString(", int call, GLOBAL int *status")
	}
	b.WriteString(") {\n")
}

func num(n int) string { return strconv.Itoa(n) }

// term prints "name * factor", "" for none.
func term(name string, factor int) string {
	switch factor {
	case 0:
		return ""
	case 1:
		return name
	}
	return name + " * " + signed(factor)
}

func signed(n int) string {
	if n < 0 {
		return "(" + num(n) + ")"
	}
	return num(n)
}

// sum joins terms with +; 0 where there are none.
func sum(terms ...string) string {
	terms = slices.DeleteFunc(slices.Clone(terms), func(s string) bool { return s == "" || s == "0" })
	if len(terms) == 0 {
		return "0"
	}
	return strings.Join(terms, " + ")
}

// at prints the index of the element of v with the coordinates.
func (v View) at(coords []string) string {
	terms := []string{num(v.Offset)}
	for i, c := range coords {
		if v.Shape[i] != 1 && c != "0" {
			terms = append(terms, term(c, v.Strides[i]))
		}
	}
	return sum(terms...)
}

// MaxElements bounds a buffer: kernels index with 32 bits, and work-items of the last group that have nothing to do, and loops
// whose steps are as long as a group, count on after the last element, by 1024 at most. MaxItems bounds the work-items
// of a launch, whose numbers begin with 0.
const (
	MaxElements = 1<<31 - 1<<10
	MaxItems    = 1 << 31
)

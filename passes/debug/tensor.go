package debug

import (
	"encoding/base64"
	"hash/fnv"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/shape"
)

// formula gives the elements of a tensor by its name: floats in [-1,1), integers 0 and
// 1, truth values.
func formula(name string, d array.DType, dims ...int) *array.Array {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // a hash does not fail
	r := passes.Random{State: h.Sum64()}
	return r.Array(d, dims...)
}

// slot is a tensor of a case: a parameter or an input.
type slot struct {
	name  string // the parameter's path, or "%" and the input's node
	value *array.Array
	set   func(a *array.Array)
}

// slots lists the tensors of a case that have values.
func (c *Case) slots() (list []slot) {
	for _, p := range c.Module.Params() {
		if p.Value != nil {
			list = append(list, slot{p.Path, p.Value, func(a *array.Array) {
				q := *p
				q.Value, q.Type = a, shape.TypeOf(a)
				c.Module.SetParam(q)
			}})
		}
	}
	for i, p := range c.Module.Graph.Inputs() {
		if i < len(c.Inputs) && c.Inputs[i] != nil {
			list = append(list, slot{p.String(), c.Inputs[i], func(a *array.Array) { c.Inputs[i] = a }})
		}
	}
	return list
}

// formulas gives tensors the values of the formula: all at once, else one by one, and
// returns the names of those where that does not fail.
func (s *search) formulas() (kept []string) {
	set := func(names func(name string) bool) bool {
		c := Case{graph.Clone(s.now.Module), slices.Clone(s.now.Inputs)}
		for _, t := range c.slots() {
			if names(t.name) {
				t.set(formula(t.name, t.value.DType(), t.value.Shape()...))
			}
		}
		return s.keep(c)
	}
	if set(func(string) bool { return true }) {
		return nil
	}
	for _, t := range s.now.slots() {
		if s.ctx.Err() != nil || !set(func(name string) bool { return name == t.name }) {
			kept = append(kept, t.name)
		}
	}
	return kept
}

// sizes makes the sizes of inputs and parameters small: each number that occurs becomes
// 1, 2, or half of it, in their types, and in attributes where it stands for a size.
// Calls get the types that follow, tensors keep their first elements.
func (s *search) sizes() {
	for _, size := range s.numbers() {
		for _, small := range []int{1, 2, size / 2} {
			if small >= size || s.ctx.Err() != nil {
				continue
			}
			if s.shrink(size, small, true) || s.shrink(size, small, false) {
				break
			}
		}
	}
}

// numbers lists the sizes of inputs and parameters, the largest first.
func (s *search) numbers() (list []int) {
	for _, t := range s.now.slots() {
		for _, n := range t.value.Shape() {
			if n > 1 && !slices.Contains(list, n) {
				list = append(list, n)
			}
		}
	}
	slices.Sort(list)
	slices.Reverse(list)
	return list
}

var callType = regexp.MustCompile(`^(\s*%\S+ = call_\w+\[[^\]]*\]\([^)]*\)(?: \{[^{}]*\})?) : [^{]*?( in "| at "| \{|$)`)

// shrink tries a copy of the case in which a size is another one. It is made from the
// text form, where types of calls are left out.
func (s *search) shrink(size, small int, attrs bool) bool {
	lines := strings.Split(graph.Print(s.now.Module, graph.PrintOptions{Positions: true}), "\n")
	for i, l := range lines {
		lines[i] = resize(l, size, small, attrs)
	}
	return s.reparse(strings.Join(lines, "\n"), func(a *array.Array, t shape.Type) *array.Array {
		if a == nil || a.Rank() != t.Rank() {
			return a
		}
		for axis := range a.Rank() {
			if a.Dim(axis) == size && !t.Dim(axis).Same(shape.Const(size)) {
				a = array.Slice(a, axis, 0, small, 1)
			}
		}
		return array.Contiguous(a)
	})
}

// reparse tries the case of another text, with the values that the tensors have, as fit
// makes them for the types of the text.
func (s *search) reparse(text string, fit func(a *array.Array, t shape.Type) *array.Array) bool {
	m, err := graph.Parse([]byte(text), "case.fx")
	if err != nil {
		return false
	}
	c := Case{Module: m}
	values := map[string]*array.Array{}
	for _, t := range s.now.slots() {
		values[t.name] = t.value
	}
	for _, p := range m.Params() {
		p.Value = fit(values[p.Path], p.TypeOf())
	}
	for _, p := range m.Graph.Inputs() {
		c.Inputs = append(c.Inputs, fit(values[p.String()], p.Type()))
	}
	return s.keep(c)
}

// resize writes another size into a line of the text form.
func resize(line string, size, small int, attrs bool) string {
	kept := callType.FindStringSubmatchIndex(line)
	call := kept != nil
	if call {
		line = line[:kept[3]] + line[kept[4]:]
	}
	if call && !attrs || strings.HasPrefix(strings.TrimSpace(line), "return") {
		return line
	}
	head, tail := line, ""
	for _, mark := range []string{` in "`, ` at "`, ` selector "`} {
		if i := strings.Index(head, mark); i >= 0 {
			head, tail = head[:i], head[i:]+tail
		}
	}
	number := strconv.Itoa(size)
	var b strings.Builder
	for i := 0; i < len(head); {
		if strings.HasPrefix(head[i:], number) && i > 0 && strings.IndexByte("[,= (", head[i-1]) >= 0 &&
			(i+len(number) == len(head) || strings.IndexByte("],) }", head[i+len(number)]) >= 0) {
			b.WriteString(strconv.Itoa(small))
			i += len(number)
			continue
		}
		b.WriteByte(head[i])
		i++
	}
	return b.String() + tail
}

// Tensors are the values of a written case that no formula gives, by the path of the
// parameter or by the node of the input, "%x": the type, and after a space the elements in
// row-major order, little-endian, base64.
type Tensors map[string]string

// Read makes a case of the text form of a graph, as Write writes it. A tensor without
// elements, or that is not in the list, has those of a formula of its name.
func Read(text string, tensors Tensors) (Case, error) {
	m, err := graph.Parse([]byte(text), "case.fx")
	if err != nil {
		return Case{}, err
	}
	var errs diag.List
	value := func(name string, t shape.Type) *array.Array {
		typ, data, _ := strings.Cut(tensors[name], " ")
		if typ != "" {
			if t, err = shape.ParseType(typ); err != nil {
				errs.Add(badTensor(name, err.Error()))
				return nil
			}
		}
		d, dims, ok := t.Concrete()
		if !ok {
			errs.Add(badTensor(name, "the type "+t.String()+" does not say its sizes"))
			return nil
		}
		if data == "" {
			return formula(name, d, dims...)
		}
		b, err := base64.StdEncoding.DecodeString(data)
		a := array.New(d, dims...)
		if err != nil || len(b) != len(array.Bytes(a)) {
			errs.Add(badTensor(name, strconv.Itoa(len(b))+" bytes, "+t.String()+" has "+strconv.Itoa(len(array.Bytes(a)))))
			return nil
		}
		if d == array.Bool {
			array.Truths(b)
		}
		copy(array.Bytes(a), b)
		return a
	}
	c := Case{Module: m}
	for _, p := range m.Params() {
		q := *p
		q.Value = value(p.Path, p.TypeOf())
		m.SetParam(q)
	}
	for _, p := range m.Graph.Inputs() {
		if _, given := tensors[p.String()]; p.Default() != nil && !given {
			c.Inputs = append(c.Inputs, nil)
			continue
		}
		c.Inputs = append(c.Inputs, value(p.String(), p.Type()))
	}
	return c, errs.Err()
}

func badTensor(name, msg string) *diag.Error {
	return diag.New(BadCase, "tensor "+strconv.Quote(name)+": "+msg).WithHint("write type and elements as debug.Write does")
}

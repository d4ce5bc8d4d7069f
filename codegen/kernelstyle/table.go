package kernelstyle

import (
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/internal/goname"
	"github.com/gofx-dev/gofx/lowering/plan"
	"github.com/gofx-dev/gofx/shape"
)

// table is where the values of a repeated block lie in the arena, in each call. Most
// lie in the same place in all calls, and the block's method has it; the places of
// others are its parameters.
type table struct {
	block  *block
	model  *model
	same   []shape.Dim   // by field, for those in one place
	column []int         // by field: the column of its places, -1 for none
	varied [][]shape.Dim // by column and call
	names  []string      // parameters, by column
}

func newTable(m *model, b *block) *table {
	t := &table{block: b, model: m}
	columns := map[string]int{}
	for _, v := range b.fields {
		places := t.places(&v)
		column, text := -1, texts(places)
		if places != nil && slices.ContainsFunc(text, func(s string) bool { return s != text[0] }) {
			key, ok := strings.Join(text, ";"), false
			if column, ok = columns[key]; !ok {
				column = len(t.varied)
				columns[key] = column
				t.varied = append(t.varied, places)
			}
		}
		t.column = append(t.column, column)
		if t.same = append(t.same, shape.Dim{}); places != nil {
			t.same[len(t.same)-1] = places[0]
		}
	}
	return t
}

// places are where a value lies in each call; nil for a view. Where it is a result
// of the model nobody uses the field: it lies where it does in another call.
func (t *table) places(v *value) (list []shape.Dim) {
	temp := func(k int) bool { return t.model.Buffers[k].Kind == plan.Temp }
	first := slices.IndexFunc(v.buffers, temp)
	if first < 0 {
		return nil
	}
	at := t.model.Buffers[v.buffers[first]].Offset
	for _, k := range v.buffers {
		if temp(k) {
			at = t.model.Buffers[k].Offset
		}
		list = append(list, at)
	}
	return list
}

func texts(list []shape.Dim) []string {
	out := make([]string, len(list))
	for i, d := range list {
		out[i] = d.String()
	}
	return out
}

// visit shows every place, in the order in which they are printed, and for how many
// calls.
func (t *table) visit(use func(at shape.Dim, times int)) {
	for _, run := range t.runs() {
		for _, places := range t.varied {
			use(places[run[0]], run[1]-run[0])
		}
	}
	for i, v := range t.block.fields {
		if t.column[i] < 0 && t.places(&v) != nil {
			use(t.same[i], len(v.buffers))
		}
	}
}

// runs are neighbouring calls whose values lie in the same places.
func (t *table) runs() (list [][2]int) {
	for n := range t.block.Calls {
		last := len(list) - 1
		if last < 0 || slices.ContainsFunc(t.varied, func(p []shape.Dim) bool { return p[n].String() != p[n-1].String() }) {
			list = append(list, [2]int{n, n + 1})
		} else {
			list[last][1]++
		}
	}
	return list
}

// params names the parameters.
func (t *table) params(set *goname.Set) []jen.Code {
	for range t.varied {
		t.names = append(t.names, set.Unique("at"))
	}
	return ids(t.names)
}

// lines print the body of the method.
func (t *table) lines(l *layout) (lines []jen.Code) {
	for i, v := range t.block.fields {
		x := &t.model.Buffers[v.buffers[0]]
		ref := jen.Op("&").Id("b").Dot(v.field)
		switch c := t.column[i]; {
		case t.places(&v) == nil:
			lines = append(lines, l.headerLine(ref, x))
		case c < 0:
			lines = append(lines, l.placeLine(ref, l.offset(t.same[i]), x))
		default:
			lines = append(lines, l.placeLine(ref, jen.Id(t.names[c]), x))
		}
	}
	return lines
}

// calls print the calls of the method, in a loop where they are equal.
func (t *table) calls(l *layout) (lines []jen.Code) {
	if len(t.block.fields) == 0 {
		return nil
	}
	all := jen.Id("s").Dot(t.block.field)
	for _, run := range t.runs() {
		args := []jen.Code{jen.Id("s")}
		for _, places := range t.varied {
			args = append(args, l.offset(places[run[0]]))
		}
		args = append(args, ids(l.symbols)...)
		call := func(i jen.Code) *jen.Statement { return jen.Add(all).Index(i).Dot("layout").Call(args...) }
		i := jen.Id("i")
		switch first, end := run[0], run[1]; {
		case end == first+1:
			lines = append(lines, call(jen.Lit(first)))
		case first == 0 && end == len(t.block.Calls):
			lines = append(lines, jen.For(jen.Add(i).Op(":=").Range().Add(all)).Block(call(i)))
		default:
			limit := jen.Lit(end)
			if end == len(t.block.Calls) {
				limit = jen.Len(all)
			}
			lines = append(lines, jen.For(jen.Add(i).Op(":=").Lit(first), jen.Add(i).Op("<").Add(limit), jen.Add(i).Op("++")).Block(call(i)))
		}
	}
	return lines
}

package fxtest

import (
	"math/rand/v2"
	"regexp"
	"strings"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

var (
	numberText = regexp.MustCompile(`-?\b\d+\b`)
	valueText  = regexp.MustCompile(`%\w+`)
	nextText   = regexp.MustCompile(`, [^,(){}\[\]]+`)
	attrsText  = regexp.MustCompile(` \{[^{}]*=[^{}]*\}`)
	typeText   = regexp.MustCompile(` : [^ {]*(\([^)]*\))?[^ {]*`)
	targetText = regexp.MustCompile(`\[[a-z_0-9]+\]`)
	dtypeText  = regexp.MustCompile(`\b(f32|i64|bool|f64)\b`)
)

// hostileNumbers replace numbers of a text.
var hostileNumbers = []string{"0", "1", "-1", "2", "3", "-2", "7", "8", "100", "65536", "-9223372036854775808", "9223372036854775807", "4611686018427387904"}

// MutateText changes a few places of a graph's text form: numbers, operands,
// attributes, types, operators, lines. The result may parse or not.
func MutateText(r *rand.Rand, text string) string {
	lines := strings.Split(text, "\n")
	values := valueText.FindAllString(text, -1)
	all := op.All()
	for range 1 + r.IntN(3) {
		i := 1 + r.IntN(max(1, len(lines)-1))
		if i >= len(lines) {
			break
		}
		l := &lines[i]
		one := func(what *regexp.Regexp, by func(old string) string) {
			found := what.FindAllStringIndex(*l, -1)
			if len(found) == 0 {
				return
			}
			at := found[r.IntN(len(found))]
			*l = (*l)[:at[0]] + by((*l)[at[0]:at[1]]) + (*l)[at[1]:]
		}
		nothing := func(string) string { return "" }
		switch r.IntN(13) {
		case 0:
			*l = ""
		case 1:
			*l += "\n" + *l
		case 2, 3, 4:
			one(numberText, func(string) string { return hostileNumbers[r.IntN(len(hostileNumbers))] })
		case 5:
			one(valueText, func(string) string { return append(values, "_")[r.IntN(len(values)+1)] })
		case 6:
			one(nextText, nothing)
		case 7:
			one(attrsText, nothing)
		case 8:
			one(typeText, nothing)
		case 9:
			one(targetText, func(string) string { return "[" + all[r.IntN(len(all))].Key() + "]" })
		case 10:
			one(dtypeText, func(string) string { return []string{"f32", "i64", "bool", "f16", "u8", "?"}[r.IntN(6)] })
		case 11:
			k := 1 + r.IntN(len(lines)-1)
			*l, lines[k] = lines[k], *l
		case 12:
			*l = strings.Replace(*l, "call_function", "call_method", 1)
			if strings.HasPrefix(strings.TrimSpace(*l), "return") {
				*l = []string{"return", "return _", "return ()", "return (" + values[0] + ", {k: " + values[0] + "})"}[r.IntN(4)]
			}
		}
	}
	return strings.Join(lines, "\n")
}

// MutateGraph changes a few nodes of a graph as careless passes would: operands,
// attributes and types, the output, the order.
func MutateGraph(r *rand.Rand, g *graph.Graph) {
	var nodes []*graph.Node
	for n := range g.All() {
		nodes = append(nodes, n)
	}
	pick := func() *graph.Node { return nodes[r.IntN(len(nodes))] }
	for range 1 + r.IntN(3) {
		n := pick()
		switch k := r.IntN(8); {
		case n.Erased():
		case k <= 1 && n.NumArgs() > 0:
			n.SetArg(r.IntN(n.NumArgs()), nil)
		case k == 2 && n.NumArgs() > 0:
			if v := pick(); v.Graph() == n.Graph() && !v.Erased() {
				n.SetArg(r.IntN(n.NumArgs()), v)
			}
		case k == 3:
			n.SetType(shape.Type{})
		case k == 4 && (n.Opcode() == graph.CallFunction || n.Opcode() == graph.CallMethod):
			mutateAttrs(r, n)
		case k == 5 && n.Opcode() == graph.Output:
			_ = n.Graph().Erase(n)
		case k == 6:
			if v := pick(); v.Graph() == n.Graph() && !v.Erased() {
				n.Graph().MoveBefore(n, v)
			}
		case k == 7 && n.Graph().Module() != nil:
			n.SetType(pick().Type())
		}
	}
}

// mutateAttrs sets one attribute of a call to another number.
func mutateAttrs(r *rand.Rand, n *graph.Node) {
	c := n.Op().Codec()
	var names, literals []string
	fields := c.Fields(n.Attrs())
	if len(fields) == 0 {
		return
	}
	f := fields[r.IntN(len(fields))]
	v := hostileNumbers[r.IntN(len(hostileNumbers))]
	for _, literal := range []string{v, "[" + v + "]", "[" + v + "," + v + "]", "true", "i64", `"x"`, "N"} {
		names, literals = []string{f.Name}, []string{literal}
		if a, err := c.Parse(names, literals); err == nil {
			_ = n.SetAttrs(a) // an error is expected
			return
		}
	}
}

package cpu_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/codegen"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/tensor"
)

const (
	condLine  = "  %y = call_function[cond](%p, %x) {\n"
	whileLine = "  %y = call_function[while](%x, %p) {carry=1} {\n"
	scanLine  = "  %y = call_function[scan](%x, %s) {carry=1, seqs=1} {\n"

	sameRegion  = "    region(%a: f32[2]) {\n      return (%a)\n    }\n"
	checkRegion = "    region(%a: f32[2], %q: bool[]) {\n      return %q\n    }\n"
	bodyRegion  = "    region(%a: f32[2], %q: bool[]) {\n      %n = call_function[neg](%a)\n      return (%n)\n    }\n"
	stepRegion  = "    region(%a: f32[2], %r: f32[2]) {\n      %n = call_function[add](%a, %r)\n      return (%n, %r)\n    }\n"

	end = "  }\n  return %x\n}\n"
)

// control puts a call with regions into a graph.
func control(call string, regions ...string) string {
	return "gofx 1\ngraph g(%p: bool[], %x: f32[2], %s: f32[3,2]) {\n" + call + strings.Join(regions, "") + end
}

func line(text string) string {
	return "gofx 1\ngraph g(%p: bool[], %x: f32[2], %s: f32[3,2]) {\n" + text + "  return %z\n}\nparam w : f32[2] buffer\nparam k : f32[2]\n"
}

// sound are calls without a mistake, from which those of faulty differ in one place.
var soundControl = map[string]string{
	"cond":   control(condLine, sameRegion, sameRegion),
	"while":  strings.Replace(control(whileLine, checkRegion, bodyRegion), "return %q", "%f = call_function[logical_xor](%q, %q)\n      return %f", 1),
	"scan":   control(scanLine, stepRegion),
	"assign": line("  %b = get_attr[w]\n  %c = call_function[assign](%b, %x)\n  %z = call_function[assign](%c, %x)\n"),
	"dim":    line("  %z = call_function[dim](%x) {axis=-1}\n"),
}

// faultyControl has calls of structural operators that do not fit together, by
// what is wrong, and the code that lint gives them.
var faultyControl = map[string]struct {
	text string
	code diag.Code
}{
	"cond without operands for its regions": {control(strings.Replace(condLine, ", %x", "", 1), sameRegion, sameRegion), graph.BadRegions},
	"cond with too many operands":           {control(strings.Replace(condLine, ", %x", ", %x, %s", 1), sameRegion, sameRegion), graph.BadRegions},
	"cond on a float":                       {control(strings.Replace(condLine, "%p", "%x", 1), sameRegion, sameRegion), graph.BadRegions},
	"cond with an absent operand":           {control(strings.Replace(condLine, "%x", "_", 1), sameRegion, sameRegion), op.OperandCount},
	"cond with one region":                  {control(condLine, sameRegion), graph.BadRegions},
	"cond with three regions":               {control(condLine, sameRegion, sameRegion, sameRegion), graph.BadRegions},
	"cond of other results":                 {control(condLine, sameRegion, strings.Replace(sameRegion, "(%a)", "(%a, %a)", 1)), graph.BadRegions},
	"cond of a value and a tuple":           {control(condLine, sameRegion, strings.Replace(sameRegion, "(%a)", "%a", 1)), graph.BadRegions},
	"cond of an absent result":              {control(condLine, sameRegion, strings.Replace(sameRegion, "(%a)", "(_)", 1)), graph.BadRegions},
	"cond on another input type":            {control(condLine, sameRegion, strings.Replace(sameRegion, "f32[2]", "f32[5]", 1)), graph.BadRegions},
	"cond of a tuple":                       {control("  %t = call_function[unbind](%x) {count=2}\n"+strings.Replace(condLine, "%x", "%t", 1), sameRegion, sameRegion), graph.BadRegions},
	"cond without a region's output":        {control(condLine, sameRegion, strings.Replace(sameRegion, "      return (%a)\n", "", 1)), graph.BadRegions},
	"cond without regions":                  {line("  %y = call_function[cond](%p, %x)\n  %z = call_function[getitem](%y)\n"), graph.BadRegions},
	"regions of another operator":           {control(strings.Replace(condLine, "cond](%p, %x)", "neg](%x)", 1), sameRegion, sameRegion), graph.BadRegions},

	"while without carry":               {control(strings.Replace(whileLine, "{carry=1} ", "", 1), checkRegion, bodyRegion), graph.BadRegions},
	"while with negative carry":         {control(strings.Replace(whileLine, "carry=1", "carry=-1", 1), checkRegion, bodyRegion), graph.BadRegions},
	"while that carries too many":       {control(strings.Replace(whileLine, "carry=1", "carry=3", 1), checkRegion, bodyRegion), graph.BadRegions},
	"while with sequences":              {control(strings.Replace(whileLine, "carry=1", "carry=1, seqs=1", 1), checkRegion, bodyRegion), graph.BadRegions},
	"while whose condition is no bool":  {control(whileLine, strings.Replace(checkRegion, "return %q", "return %a", 1), bodyRegion), graph.BadRegions},
	"while with two conditions":         {control(whileLine, strings.Replace(checkRegion, "return %q", "return (%q, %q)", 1), bodyRegion), graph.BadRegions},
	"while without a condition":         {control(whileLine, strings.Replace(checkRegion, "return %q", "return", 1), bodyRegion), graph.BadRegions},
	"while that returns too much":       {control(whileLine, checkRegion, strings.Replace(bodyRegion, "(%n)", "(%n, %q)", 1)), graph.BadRegions},
	"while that returns nothing":        {control(whileLine, checkRegion, strings.Replace(bodyRegion, "(%n)", "()", 1)), graph.BadRegions},
	"while that changes its type":       {control(whileLine, checkRegion, strings.Replace(bodyRegion, "(%n)", "(%q)", 1)), graph.BadRegions},
	"while with the largest carry":      {control(strings.Replace(whileLine, "carry=1", "carry=9223372036854775807", 1), checkRegion, bodyRegion), graph.BadRegions},
	"scan of eight sequences with two":  {control(strings.Replace(scanLine, "seqs=1", "seqs=8", 1), stepRegion), graph.BadRegions},
	"scan with negative sequences":      {control(strings.Replace(scanLine, "seqs=1", "seqs=-1", 1), stepRegion), graph.BadRegions},
	"scan with negative carry":          {control(strings.Replace(scanLine, "carry=1", "carry=-1", 1), stepRegion), graph.BadRegions},
	"scan whose attributes overflow":    {control(strings.Replace(scanLine, "seqs=1", "seqs=9223372036854775807", 1), stepRegion), graph.BadRegions},
	"scan without sequences":            {control(strings.Replace(scanLine, ", seqs=1", "", 1), stepRegion), graph.BadRegions},
	"scan of a number":                  {control("  %k = call_function[sum](%s)\n"+strings.Replace(scanLine, "%s)", "%k)", 1), stepRegion), graph.BadRegions},
	"scan that loses its carry":         {control(scanLine, strings.Replace(stepRegion, "(%n, %r)", "()", 1)), graph.BadRegions},
	"scan that changes its carry":       {control("  %t = call_function[unsqueeze](%s) {dim=2}\n"+strings.Replace(scanLine, "%s)", "%t)", 1), strings.NewReplacer("%r: f32[2]", "%r: f32[2,1]", "(%n, %r)", "(%r)").Replace(stepRegion)), graph.BadRegions},
	"scan with two regions":             {control(scanLine, stepRegion, stepRegion), graph.BadRegions},
	"scan of slices that are too large": {control(scanLine, strings.Replace(stepRegion, "%r: f32[2]", "%r: f32[3,2]", 1)), graph.BadRegions},

	"getitem of a negative member": {line("  %t = call_function[nonzero](%x)\n  %y = call_function[getitem](%x) {index=-1}\n  %z = call_function[neg](%x)\n"), op.BadAttr},
	"getitem of a tensor":          {line("  %z = call_function[getitem](%x)\n"), op.DTypeMismatch},
	"getitem behind the last":      {line("  %t = call_function[unbind](%x) {count=2}\n  %z = call_function[getitem](%t) {index=2}\n"), op.BadAttr},
	"dim of a number":              {line("  %k = call_function[sum](%x)\n  %z = call_function[dim](%k)\n"), op.BadAxis},
	"dim of an axis behind":        {line("  %z = call_function[dim](%x) {axis=1}\n"), op.BadAxis},
	"dim of a negative axis":       {line("  %z = call_function[dim](%x) {axis=-2}\n"), op.BadAxis},
	"dim of a tuple":               {line("  %t = call_function[unbind](%x) {count=2}\n  %z = call_function[dim](%t)\n"), op.DTypeMismatch},
	"assign to an input":           {line("  %z = call_function[assign](%x, %x)\n"), graph.BadAssign},
	"assign to a value":            {line("  %n = call_function[neg](%x)\n  %z = call_function[assign](%n, %x)\n"), graph.BadAssign},
	"assign to a write of a value": {line("  %n = call_function[neg](%x)\n  %m = call_function[assign](%n, %x)\n  %z = call_function[assign](%m, %x)\n"), graph.BadAssign},
	"assign of another type":       {line("  %b = get_attr[w]\n  %i = call_function[cast](%x) {dtype=i64}\n  %z = call_function[assign](%b, %i)\n"), op.DTypeMismatch},
	"assign of another shape":      {line("  %b = get_attr[w]\n  %z = call_function[assign](%b, %s)\n"), op.ShapeMismatch},
	"a module that is a loop":      {line("  %z = call_module[m](%x, %s)\n") + "module m = scan {carry=1, seqs=1} ()\n", graph.BadOperator},
}

func inputs(m *graph.Module) []*array.Array {
	var in []*array.Array
	for _, n := range m.Graph.Inputs() {
		d, dims, _ := n.Type().Concrete()
		in = append(in, array.New(d, dims...))
	}
	return in
}

// everyEngine gives what running, lowering and printing a module ends with. None
// may panic.
func everyEngine(m *graph.Module) map[string]error {
	errs := map[string]error{}
	for _, p := range m.Params() {
		q := *p
		d, dims, _ := p.TypeOf().Concrete()
		q.Value = array.New(d, dims...)
		m.SetParam(q)
	}
	in := inputs(m)
	ts := make([]*tensor.Tensor, len(in))
	for i, a := range in {
		ts[i] = tensor.New(a)
	}
	_, errs["interp"] = (&interp.Interpreter{State: interp.NewState(m)}).Run(ctx, ts...)
	_, errs["module"] = codegen.Module(m, codegen.ModuleOptions{})
	var e *cpu.Executable
	if e, errs["plan"] = cpu.Compile(m, lowering.Options{}); errs["plan"] == nil {
		_, errs["plan"] = e.Run(ctx, in)
	}
	return errs
}

func TestControlIsSound(t *testing.T) {
	for name, text := range soundControl {
		m, err := graph.Parse([]byte(text), "sound.fx")
		require.NoError(t, err, name)
		require.Empty(t, graph.Lint(m.Graph), name)
		_, errs := m, everyEngine(m)
		require.NoError(t, errs["interp"], name)
	}
}

// TestFaultyControl requires lint, or already the parser, to find each mistake,
// and every engine to return an error for the graph that a reader let through.
func TestFaultyControl(t *testing.T) {
	for name, c := range faultyControl {
		t.Run(name, func(t *testing.T) {
			m, err := graph.Parse([]byte(c.text), "faulty.fx")
			if err != nil {
				require.ErrorIs(t, err, c.code)
				return
			}
			l := graph.Lint(m.Graph)
			require.ErrorIs(t, l, c.code, "%v", l)
			for engine, err := range everyEngine(m) {
				switch {
				case engine != "interp" && strings.HasPrefix(name, "assign of another"):
				case engine == "plan" && name == "a module that is a loop":
					require.Error(t, err, engine)
				default:
					require.Error(t, err, engine)
					require.NotErrorIs(t, err, diag.Internal, engine)
				}
			}
		})
	}
}

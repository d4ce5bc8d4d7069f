package compile_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/internal/testkit/capturefuzz"
	"github.com/gofx-dev/gofx/internal/testkit/repo"
)

// mutants are faults of the mechanism, each of which some test of the room, or of the analysis, finds.
var mutants = []capturefuzz.Mutation{
	{Name: "the last field of a struct is dropped", File: "compile/state/layout.go",
		Old: "\tfor f := range t.Fields() {\n\t\te := listed[f.Name]", New: "\tfor f := range t.Fields() {\n\t\tif f.Index[0] > 0 && f.Index[0] == t.NumField()-1 {\n\t\t\tbreak\n\t\t}\n\t\te := listed[f.Name]"},
	{Name: "one value twice is met as two", File: "compile/state/walk.go", Old: "x.n >= o.n && !x.box && x.lay.covers(o.lay)", New: "x.n >= o.n && !x.box && x.held && x.lay.covers(o.lay)"},
	{Name: "two values may become one", File: "compile/state/guard.go", Old: "\treturn g.agree(regs) && g.apart(regs), len(g.checks)", New: "\treturn g.agree(regs), len(g.checks)"},
	{Name: "words that are only stored are not guarded", File: "compile/state/walk.go", Old: "\t\tif c.access&Adds == 0 {", New: "\t\tif c.access&(Adds|Load) == Load {"},
	{Name: "lengths without capacities", File: "compile/state/walk.go", Old: "\tif e != nil && e.Access&Cap != 0 {\n\t\tm.step(length)", New: "\tif e != nil && e.Access&Cap != 0 {"},
	{Name: "elements beyond the length are not looked at", File: "compile/state/walk.go", Old: "\t\tn = v.c\n", New: "\t\tn = v.n\n"},
	{Name: "a stale table is taken", File: "compile/state/witness.go", Old: "e.FieldType != \"\" && e.FieldType != nameOf(f.Type)", New: "e.FieldType == \"-\""},
	{Name: "types in interfaces are not compared", File: "compile/state/follow.go", Old: "\ttyp.path = \"type of \" + s.path\n\tm.step(typ)\n", New: "\ttyp.path = \"type of \" + s.path\n"},
	{Name: "a type that the table lacks passes", File: "compile/state/follow.go", Old: "if !m.s.dynamic[nameOf(t)] && ", New: "if m.s.dynamic == nil && "},
	{Name: "weights are known by their arrays alone", File: "compile/state/guard.go", Old: "return st.Version() == t.version && st.Exposed() == t.exposed", New: "return st.Version() >= t.version && st.Exposed() >= t.exposed"},
	{Name: "weights in memory of Go code are constants", File: "compile/state/follow.go", Old: "&& t.exposed == 0 //", New: "//"},
	{Name: "written tensors may share memory", File: "compile/state/guard.go", Old: "return len(g.writes) == 0 || g.writable(regs)", New: "return true"},
	{Name: "layouts of inputs are not compared", File: "compile/state/sizes.go", Old: " && slices.Equal(a.Strides(), d.strides)", New: ""},
	{Name: "objects of results are taken for new", File: "compile/record.go", Old: "r.proven.Store(replay.Proven())", New: "r.proven.Store(true)"},
	{Name: "results are the same objects at each call", File: "compile/state/replay.go", Old: "\t\tobjects[i] = r.objects[i].make()", New: "\t\tobjects[i] = r.objects[i].proto.UnsafePointer()"},
	{Name: "sums are stored as they were", File: "compile/state/diff.go", Old: "x.adds, x.value.u = true, now.u-w.before.u", New: "x.adds = false"},
	{Name: "entries of maps stay", File: "compile/state/replay.go", Old: "\t\t\te.as.remove(at, e.key)\n", New: "\t\t\t_ = at\n"},
	{Name: "the role of tensors is lost", File: "compile/record.go", Old: "\tif f.Param {\n", New: "\tif f.Param && f.Frozen {\n"},
	{Name: "a mistake leaves what was stored", File: "compile/capture.go", Old: "\tagain := c.repeats(image)\n\timage.Restore()\n", New: "\tagain := c.repeats(image)\n"},
	{Name: "views of eager tensors are copies", File: "lazy/capture_end.go", Old: "!ok && m != nil {", New: "!ok && m != nil && n < 0 {"},
	{Name: "a panic while a call is recorded leaves what was stored", File: "compile/capture.go", Old: "panicked any) {\n\timage.Restore()\n", New: "panicked any) {\n"},
	{Name: "a panic while a call is recorded is the function's own", File: "compile/capture.go", Old: "\t\tagain = c.repeats(image)\n\t\treturn again\n", New: "\t\treturn false\n"},
	{Name: "looking at data is not noticed", File: "lazy/engine.go", Old: "\ts.capture.refuse(what + \" looks at data\")\n", New: ""},
	{Name: "tensors from before the call are constants", File: "lazy/capture.go", Old: "!k.frozen[m.Root().ID()] && m.Array().Storage().Born() <= k.start", New: "m == nil"},
	{Name: "packages are known by the last part of their paths", File: "compile/state/names.go", Old: "unescaped(f.Function[:folder] + path), File", New: "unescaped(f.Function[:0*folder] + path), File"},
	{Name: "0 and 1 are inputs", File: "compile/number.go", Old: "func special(s state.Scalar) bool { return s.Float64() == 0 || s.Float64() == 1 }", New: "func special(s state.Scalar) bool { return false }"},
	{Name: "any number that fits is taken for the input", File: "compile/number.go", Old: "\t\t\t\tc.fail = true\n\t\t\t}\n\t\t\tfound, ok", New: "\t\t\t\tc.fail = c.fail || i < 0\n\t\t\t}\n\t\t\tfound, ok"},
	{Name: "results of numbers are constants", File: "compile/capture.go", Old: "!(numbers.typed(got) && sameEnd(numbers.like.got, got) && numbers.like.stores.Same(replay))", New: "numbers.like == nil"},
	{Name: "graphs with inputs are not compared", File: "compile/number.go", Old: "\treturn !c.fail\n", New: "\treturn true\n"},
	{Name: "all numbers may differ", File: "compile/state/walk.go", Old: "if c.number != nil && !o.box {", New: "if !o.box {"},
	{Name: "expressions are left out", File: "compile/state/number.go", Old: "\t\ts = t.eval(s)\n", New: "\t\t_ = t\n"},
	{Name: "names that no type has are taken", File: "compile/state/witness.go", Old: "\tif name := n.first(); name != \"\" {\n\t\tpanic(", New: "\tif name := n.first(); name == \"-\" {\n\t\tpanic("},
	{Name: "fields that no type has are taken", File: "compile/state/witness.go", Old: "if !ok || len(f.Index) > 1 {", New: "if !ok {\n\t\t\tcontinue\n\t\t}\n\t\tif len(f.Index) > 1 {"},
	{Name: "names within interfaces are not looked for", File: "compile/state/follow.go", Old: "if name := m.s.meets(t); name != \"\" {", New: "if name := m.s.meets(t); name == \"-\" {"},
	{Name: "modules give the arrays of parameters away", File: "nn/init.go", Old: "return tensor.StateParam(", New: "return tensor.Param("},
	{Name: "filling gives the memory of parameters away", File: "nn/init.go", Old: "\tx.AssignInPlace(", New: "\tx.Array()\n\tx.AssignInPlace("},
	{Name: "variables of compiled functions are constants, though code assigns them", File: "internal/effects/world.go", Old: "\tif w.assigned[g] || g.Object()", New: "\tif g.Object()"},
	{Name: "compiled functions of types that others can name are known", File: "internal/effects/compiled.go", Old: "!frame.Obj().Exported() && frame", New: "frame"},
	{Name: "who has compile.New makes nothing", File: "internal/effects/compiled.go", Old: "\t\t\tt.add(fn, nil)\n", New: ""},
	{Name: "all functions that compile.New is given have frames", File: "internal/effects/compiled.go", Old: "if fn.Parent() == nil || t.uses[fn] != 1 {", New: "if fn == nil {"},
	{Name: "how closures lie in memory is not looked at", File: "compile/state/closure.go", Old: "; !words.same(", New: "; words == nil && !words.same("},
	{Name: "bytes of closures are not told apart", File: "compile/state/closure.go", Old: "uint8((i + 1) >> round & 1)", New: "uint8(round & 1 * min(i, 1))"},
	{Name: "closures of other lines are taken", File: "compile/state/closure.go", Old: " || got.Line != of.Line {", New: " {"},
	{Name: "closures of other folders are taken", File: "compile/state/closure.go", Old: "filepath.Dir(got.File) != filepath.Dir(want.File) || ", New: "want.File == \"\" || "},
	{Name: "captured variables are no words", File: "internal/effects/literal.go", Old: "\t\tw.captured = append(", New: "\t\t_ = append("},
	{Name: "captured structs are not read", File: "internal/effects/literal.go", Old: "\t\tw.all.whole(t, Load, v.Pos())\n", New: ""},
	{Name: "closures within closures assign nothing", File: "internal/effects/literal.go", Old: "FreeVars[k]; b == addr {", New: "FreeVars[k]; b == nil {"},
	{Name: "assignments after the closure are not seen", File: "internal/effects/literal.go", Old: "(made.Block() != s.Block() || before(s, made))", New: "made != nil"},
	{Name: "addresses of captured variables go nowhere", File: "internal/effects/literal.go", Old: "\t\tdefault:\n\t\t\treturn r.Pos()\n", New: "\t\tcase *ssa.Store:\n\t\t\treturn r.Pos()\n"},
	{Name: "code may ask which tensors are one", File: "internal/effects/flows.go", Old: "\t\twhy = append(why, w.identities()...)\n", New: "\t\t_ = w.identities()\n"},
	{Name: "interfaces hold no tensors", File: "internal/effects/flows.go", Old: "types.Implements(d, u) && w.tells(d, met)", New: "types.Implements(d, u) && met == nil"},
	{Name: "equal numbers of rounds are open", File: "compile/rolled.go", Old: "!w.Rounds || before.Same(w.Was) {", New: "!w.Rounds {"},
	{Name: "any number of rounds has the record", File: "compile/rolled.go", Old: "\t\tif values[r.count]-r.first < 2 {\n\t\t\treturn false\n", New: "\t\tif values[r.count]-r.first < 0 {\n\t\t\treturn false\n"},
	{Name: "numbers of rounds that were one may differ", File: "compile/rolled.go", Old: "\t\tif n >= 0 && n != v {\n\t\t\treturn 0, false\n\t\t}\n\t\tn = v\n\t}\n\tif c.symbol", New: "\t\tn = v\n\t}\n\tif c.symbol"},
	{Name: "rounds are not compared", File: "compile/roll.go", Old: "\t\t\tif !r.same(s, &r.got.Calls[j], k+l.first) || len", New: "\t\t\tif len"},
	{Name: "slices of rounds that are apart begin with the first", File: "compile/roll_graph.go", Old: "x = x.Narrow(axis, first, n)", New: "x = x.Narrow(axis, 0*first, n)"},
	{Name: "all slices of rounds are along the first axis", File: "compile/roll_graph.go", Old: "\tif axis > 0 {\n", New: "\tif axis > 9 {\n"},
	{Name: "carried values begin as any", File: "compile/roll.go", Old: "slices.Index(l.carry, carried{from, first})", New: "slices.IndexFunc(l.carry, func(c carried) bool { return c.step == from })"},
}

// sideMutants are faults that the programs of internal/testkit/compiled/ints find.
var sideMutants = []capturefuzz.Mutation{
	{Name: "records of sizes hold on both sides", File: "compile/core.go", Old: "ok && r.open.onSide(r.guard, &k.machine) && r.open.trips", New: "ok && r.open.trips"},
	{Name: "records of numbers hold on both sides", File: "compile/number.go", Old: "if !o.words[i].SameSide(words[i], o.words[i].Was) {", New: "if false {"},
	{Name: "a line is told one size", File: "compile/ints.go", Old: "a.told[i] = with(a.told[i], sizeNow{d, n, mostSize})", New: "a.told[i] = []sizeNow{{d, n, mostSize}}"},
	{Name: "less is more", File: "compile/ints.go", Old: "\tcase \"<\", \"<=\":\n\t\tx, y = y, x\n", New: "\tcase \"<\", \"<=\":\n"},
	{Name: "equal ints are not told apart", File: "compile/ints.go", Old: "\tcase \"==\", \"!=\":\n", New: "\tcase \"==\":\n\t\treturn shape.Relation{}\n\tcase \"!=\":\n"},
	{Name: "ints below 0 are rounded down", File: "compile/ints.go", Old: "\t\ta.unsure = true\n\t} else {", New: "\t\ta.unsure = a.unsure || false\n\t} else {"},
	{Name: "ints are any that fit", File: "compile/ints.go", Old: "\treturn now, found == u.Count\n", New: "\treturn now, true\n"},
	{Name: "sizes of eager tensors are not told", File: "tensor/size.go", Old: "\t\t\treturn asked(n)\n", New: "\t\t\treturn n\n"},
	{Name: "sizes that are compared as sizes are on any side", File: "lazy/follow.go", Old: "\tif s.Following() {\n\t\ts.follow.side(r)\n", New: "\tif s.Following() && r.IsUnknown() {\n\t\ts.follow.side(r)\n"},
	{Name: "calls without operands of the session have numbers", File: "lazy/follow.go", Old: "\treturn a.s\n", New: "\treturn nil\n"},
	{Name: "code that is told a size does not end its symbol", File: "lazy/follow.go", Old: "!known && what != \"\" {", New: "!known && what == \"-\" {"},
	{Name: "tests of numbers are the other way", File: "compile/state/number.go", Old: "\t\treturn a <= b\n", New: "\t\treturn a < b\n"},
}

// inPrograms are faults that the programs of internal/testkit/compiled find.
var inPrograms = []capturefuzz.Mutation{
	{Name: "calls that the graph does without may fail for any size", File: "lazy/capture_end.go", Old: "\te.s.follow.rest(e.s, cone)\n", New: ""},
	{Name: "what is read through a pointer is not compared where elements are numbers", File: "compile/state/layout.go", Old: " && (a.number == nil || a.number == b.number)", New: ""},
}

// inCorners are faults that the programs of internal/testkit/compiled/corners find.
var inCorners = []capturefuzz.Mutation{
	{Name: "ints do not wrap around", File: "compile/ints.go", Old: "\tif x.most < math.MaxInt {\n", New: "\tif x.most > 0 {\n"},
	{Name: "maps are met in Go's order", File: "compile/state/maps.go", Old: "\t\t\tsortKeys(keys)\n", New: ""},
	{Name: "lists of control flow are the caller's", File: "tensor/control.go", Old: "\town := make([]*Tensor, len(list))\n\tcopy(own, list)\n\treturn own\n", New: "\treturn list\n"},
}

func TestMutantsApply(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	for _, m := range slices.Concat(mutants, inPrograms, sideMutants, inCorners) {
		_, err := m.Apply(root)
		require.NoError(t, err)
	}
}

// TestMutantsAreFound runs the tests of the room with each fault, nightly.
func TestMutantsAreFound(t *testing.T) {
	if os.Getenv("GOFX_NIGHTLY") != "1" {
		t.Skip("GOFX_NIGHTLY is not 1")
	}
	for i, m := range slices.Concat(mutants, inPrograms, sideMutants, inCorners) {
		t.Run(m.Name, func(t *testing.T) {
			overlay, err := m.Overlay(t.TempDir())
			require.NoError(t, err)
			rooms := []string{".", "./state"}
			switch {
			case i >= len(mutants)+len(inPrograms)+len(sideMutants):
				rooms = []string{"../internal/testkit/compiled/corners"}
			case i >= len(mutants)+len(inPrograms):
				rooms = []string{"../internal/testkit/compiled/ints"}
			case i >= len(mutants):
				rooms = []string{"-run", "TestAskedSizes|TestGivenNumbers", "../internal/testkit/compiled"}
			case strings.HasPrefix(m.File, "compile/roll"):
				rooms = []string{"../internal/testkit/compiled/rolls"}
			case strings.HasPrefix(m.File, "internal/effects/"):
				rooms = []string{"../internal/effects"}
			}
			c := exec.Command("go", append([]string{"test", "-overlay", overlay, "-failfast", "-short", "-timeout", "3m", "-skip", "TestMutants"}, rooms...)...)
			c.Env = append(os.Environ(), "GOFX_NIGHTLY=0")
			text, err := c.CombinedOutput()
			require.Error(t, err, "no test fails")
			require.Regexp(t, "--- FAIL|test timed out", string(text), "it does not compile")
		})
	}
}

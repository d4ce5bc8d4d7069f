package state

import (
	"reflect"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/tensor"
)

const here = "github.com/gofx-dev/gofx/compile/state."

type part struct {
	N    int
	Wide [4]float64
	Name string
	Tiny uint8
	Free int
}

type model struct {
	Parts []*part
	W     *tensor.Tensor
	Next  *model
	Steps int16
}

type args struct {
	M    *model
	A, B *part
	X    *tensor.Tensor
}

type results struct {
	P    *part
	List []int
	X    *tensor.Tensor
}

func modelTable() *Table {
	at := func(typ, name, fieldType string, a Access) Field {
		return Field{Type: here + typ, Name: name, FieldType: fieldType, Access: a, Line: "f.go:1"}
	}
	return &Table{Func: "f", Receiver: true,
		Fields: []Field{at("part", "N", "int", Load|Store), at("part", "Wide", "[4]float64", Load), at("part", "Name", "string", Load), at("part", "Tiny", "uint8", Load),
			at("model", "Parts", "[]*"+here+"part", Load|Len), at("model", "W", "*github.com/gofx-dev/gofx/tensor.Tensor", Load), at("model", "Next", "*"+here+"model", Load),
			at("model", "Steps", "int16", Load|Store|Adds)},
		Elems: []Elem{{Type: "[]*" + here + "part", Access: Load | Len}}}
}

func newArgs(parts int) *args {
	m := &model{W: tensor.Zeros(2)}
	for i := range parts {
		m.Parts = append(m.Parts, &part{N: i, Name: "p"})
	}
	return &args{M: m, A: &part{N: 1}, B: &part{N: 2}, X: tensor.Zeros(3)}
}

// walked is a walk of arguments, and its guard.
func walked(t testing.TB, in *args, out *results, thawed ...string) (*Image, *Guard) {
	set := map[string]bool{}
	for _, p := range thawed {
		set[p] = true
	}
	s := NewSchema(modelTable(), reflect.TypeFor[args](), reflect.TypeFor[results]())
	m, why := s.Walk(unsafe.Pointer(in), unsafe.Pointer(out), set)
	require.Nil(t, why)
	return m, m.Guard(nil, false, nil, nil)
}

func TestGuard(t *testing.T) {
	in, out := newArgs(3), &results{}
	_, g := walked(t, in, out)
	for name, c := range map[string]struct {
		change func()
		path   string
	}{
		"same":        {func() {}, ""},
		"free":        {func() { in.M.Parts[0].Free++ }, ""},
		"added to":    {func() { in.M.Steps++ }, ""},
		"number":      {func() { in.M.Parts[1].N++ }, "M.Parts[1].N"},
		"float":       {func() { in.M.Parts[1].Wide[2]++ }, "M.Parts[1].Wide[2]"},
		"text":        {func() { in.A.Name += "x" }, "A.Name"},
		"byte":        {func() { in.B.Tiny++ }, "B.Tiny"},
		"held":        {func() { in.M.Parts[0] = &part{N: 0, Name: "p"} }, "M.Parts[0]"},
		"passing":     {func() { a := *in.A; in.A = &a }, ""},
		"alias":       {func() { in.A = in.B }, "A.N"},
		"held passed": {func() { *in.A = *in.M.Parts[1]; in.A = in.M.Parts[1] }, "A.Name"},
		"shorter":     {func() { in.M.Parts = in.M.Parts[:2] }, "len(M.Parts)"},
		"nil":         {func() { in.B = nil }, "B"},
		"next":        {func() { in.M.Next = &model{} }, "M.Next"},
		"weight":      {func() { in.M.W.AddScalarInPlace(1) }, "M.W"},
		"weight seen": {func() { tensor.Data[float32](in.M.W) }, "M.W"},
		"role":        {func() { in.X.MarkParam() }, "X"},
		"shape":       {func() { in.X = tensor.Zeros(4) }, "X"},
		"layout":      {func() { in.X = tensor.Zeros(3, 2).Select(1, 0) }, "X"},
		"type":        {func() { in.X = in.X.Cast(array.F64) }, "X"},
		"data":        {func() { in.X.AddScalarInPlace(1) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			in, out = newArgs(3), &results{}
			_, g = walked(t, in, out)
			var k Machine
			ok, _ := g.Check(&k, unsafe.Pointer(in), unsafe.Pointer(out))
			require.True(t, ok)
			c.change()
			ok, failed := g.Check(&k, unsafe.Pointer(in), unsafe.Pointer(out))
			require.Equal(t, c.path == "", ok)
			if !ok {
				path, _ := g.Failure(failed)
				require.Equal(t, c.path, path)
			}
		})
	}
}

// One object for two words, where all words are equal: only the addresses differ.
func TestGuardOfAliases(t *testing.T) {
	in, out := newArgs(1), &results{}
	in.A, in.B = &part{N: 1}, &part{N: 1}
	_, g := walked(t, in, out)
	var k Machine
	check := func() bool {
		ok, _ := g.Check(&k, unsafe.Pointer(in), unsafe.Pointer(out))
		return ok
	}
	require.True(t, check())
	in.B = in.A
	require.False(t, check())
	_, g = walked(t, in, out)
	require.True(t, check())
	in.B = &part{N: 1}
	require.False(t, check())
	in.A, in.B = &part{N: 0, Name: "p"}, &part{N: 1}
	_, g = walked(t, in, out)
	require.True(t, check())
	in.A = in.M.Parts[0]
	require.False(t, check(), "an object of the receiver")
}

func TestDiffAndApply(t *testing.T) {
	in, out := newArgs(2), &results{}
	m, g := walked(t, in, out)
	in.A.N, in.M.Steps = 7, 3
	out.P, out.List, out.X = &part{N: 9, Name: "new"}, []int{1, 2}, in.X
	r, found, why := m.Diff()
	require.Nil(t, why)
	require.Empty(t, found)
	require.Equal(t, 5, r.Stores(), "N, Steps, P, List, X")
	require.False(t, r.Proven())
	require.False(t, r.Prove(r), "the same objects")
	again, againOut := newArgs(2), &results{}
	again.M, again.A.N, in.A.N = in.M, 1, 1
	var k Machine
	ok, failed := g.Check(&k, unsafe.Pointer(again), unsafe.Pointer(againOut))
	require.True(t, ok, g.steps[min(failed, len(g.steps)-1)].path)
	r.Apply(&k, nil)
	require.Equal(t, 7, again.A.N)
	require.Equal(t, int16(6), in.M.Steps)
	require.Equal(t, &part{N: 9, Name: "new"}, againOut.P)
	require.NotSame(t, out.P, againOut.P)
	require.Equal(t, []int{1, 2}, againOut.List)
	require.Same(t, again.X, againOut.X)
}

func TestRestore(t *testing.T) {
	in, out := newArgs(2), &results{}
	m, _ := walked(t, in, out)
	in.A.N, in.M.Steps, out.P = 7, 3, in.A
	m.Restore()
	require.Equal(t, 1, in.A.N)
	require.Zero(t, in.M.Steps)
	require.Nil(t, out.P)
}

func TestThawedTensorsAreRead(t *testing.T) {
	in, out := newArgs(1), &results{}
	m, _ := walked(t, in, out)
	require.Equal(t, []*tensor.Tensor{in.M.W}, m.Frozen())
	require.Equal(t, []*tensor.Tensor{in.X}, m.Data())
	m, _ = walked(t, in, out, "M.W")
	require.Empty(t, m.Frozen())
	require.ElementsMatch(t, []*tensor.Tensor{in.M.W, in.X}, m.Data())
}

func TestCheckAllocatesNothing(t *testing.T) {
	in, out := newArgs(100), &results{}
	_, g := walked(t, in, out)
	var k Machine
	require.Zero(t, testing.AllocsPerRun(20, func() { g.Check(&k, unsafe.Pointer(in), unsafe.Pointer(out)) }))
}

func BenchmarkCheck(b *testing.B) {
	in, out := newArgs(125), &results{}
	_, g := walked(b, in, out)
	var k Machine
	for b.Loop() {
		g.Check(&k, unsafe.Pointer(in), unsafe.Pointer(out))
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(g.Len()), "ns/check")
}

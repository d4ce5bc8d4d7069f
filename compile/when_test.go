package compile_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/compile"
	"github.com/gofx-dev/gofx/compile/state"
	"github.com/gofx-dev/gofx/tensor"
)

type spoken struct {
	Debug bool
	Level int8
	Name  string
	Sub   *spoken
	Flat  [2]lamp
	W     *tensor.Tensor
}

type lamp struct{ On bool }

type spokenIn struct {
	M *spoken
	X *tensor.Tensor
	N uint
}

func spokenWorld() spokenIn { return spokenIn{&spoken{Sub: &spoken{}, W: vec(2, 3)}, vec(1, 2), 0} }

// spokenTable is the table of a function that calls opaque code under conditions.
func spokenTable(when ...state.Cond) state.Table {
	typ := pkg + ".spoken"
	return state.Table{Func: "spoken", Receiver: true, Elems: []state.Elem{{Type: "*" + typ, Access: state.Load}},
		Fields: []state.Field{field("spoken", "Debug", "bool", state.Load), field("spoken", "Level", "int8", state.Load), field("spoken", "Name", "string", state.Load),
			field("spoken", "Sub", "*"+typ, state.Load), field("lamp", "On", "bool", state.Load), field("spoken", "W", tensorName, state.Load)},
		Opaque: []state.Place{{Line: "f.go:1", What: "a call of log.Print", Why: "it prints", When: when}}}
}

func on(name, op string, value any) state.Cond {
	return state.Cond{Type: pkg + ".spoken", Name: name, Op: op, Value: value}
}

// A model with its debugging switched off has one record, one that has it switched on logs at each call.
func TestOpaqueCodeThatIsNotRun(t *testing.T) {
	told := 0
	run := func(in *spokenIn, out *oneOut) {
		if in.M.Debug {
			told++
		}
		out.R = in.X.Mul(in.M.W)
	}
	f := compile.New(spokenTable(on("Debug", "==", true)), run)
	in := spokenWorld()
	for range 5 {
		f.Call(in)
	}
	s := f.Stats()
	require.Equal(t, []int{1, 4, 0, 0}, []int{s.Records, s.Hits, s.Lazy, s.Plain})
	in.M.Debug = true
	for range 5 {
		f.Call(in)
	}
	s = f.Stats()
	require.Equal(t, []int{1, 4, 5}, []int{s.Records, s.Hits, s.Plain})
	require.Equal(t, 5, told)
	require.Contains(t, text(t, f), "refused 5: a call of log.Print: it prints, at f.go:1")
	in.M.Debug = false
	f.Call(in)
	require.Equal(t, 5, f.Stats().Hits)
	strict := compile.New(spokenTable(on("Debug", "==", true)), run, compile.Strict())
	strict.Call(in)
	in.M.Debug = true
	require.ErrorIs(t, caught(func() { strict.Call(in) }), compile.NotRecorded)
}

// Each condition holds of the words of one world, and not of those of the other.
func TestConditions(t *testing.T) {
	for name, c := range map[string]struct {
		when   []state.Cond
		change func(in *spokenIn)
	}{
		"bool":           {[]state.Cond{on("Debug", "==", true)}, func(in *spokenIn) { in.M.Debug = true }},
		"bool of a part": {[]state.Cond{on("Debug", "!=", false)}, func(in *spokenIn) { in.M.Sub.Debug = true }},
		"greater":        {[]state.Cond{on("Level", ">", int64(2))}, func(in *spokenIn) { in.M.Level = 3 }},
		"less":           {[]state.Cond{on("Level", "<", int64(0))}, func(in *spokenIn) { in.M.Level = -1 }},
		"at most":        {[]state.Cond{on("Level", "<=", int64(-2))}, func(in *spokenIn) { in.M.Level = -2 }},
		"at least":       {[]state.Cond{on("Level", ">=", int64(2))}, func(in *spokenIn) { in.M.Level = 2 }},
		"not equal":      {[]state.Cond{on("Name", "!=", "")}, func(in *spokenIn) { in.M.Name = "x" }},
		"text":           {[]state.Cond{on("Name", ">", "m")}, func(in *spokenIn) { in.M.Name = "n" }},
		"not nil":        {[]state.Cond{on("Name", "==", "x"), on("Sub", "!=", nil)}, func(in *spokenIn) { in.M.Name = "x" }},
		"both":           {[]state.Cond{on("Debug", "==", true), on("Level", "==", int64(1))}, func(in *spokenIn) { in.M.Debug, in.M.Level = true, 1 }},
		"in an array":    {[]state.Cond{{Type: pkg + ".lamp", Name: "On", Op: "==", Value: true}}, func(in *spokenIn) { in.M.Flat[1].On = true }},
		"by its way":     {[]state.Cond{{Arg: 1, Name: "Sub.Debug", Op: "==", Value: true}}, func(in *spokenIn) { in.M.Debug, in.M.Sub.Debug = false, true }},
		"an argument":    {[]state.Cond{{Arg: 3, Op: ">=", Value: uint64(4)}}, func(in *spokenIn) { in.N = 4 }},
	} {
		t.Run(name, func(t *testing.T) {
			run := func(in *spokenIn, out *oneOut) { out.R = in.X.Mul(in.M.W) }
			f := compile.New(spokenTable(c.when...), run)
			in := spokenWorld()
			f.Call(in)
			require.Equal(t, 1, f.Stats().Records, "%s", text(t, f))
			c.change(&in)
			f.Call(in)
			require.Equal(t, 1, f.Stats().Records, "%s", text(t, f))
			require.Equal(t, 1, f.Stats().Plain)
		})
	}
}

// A condition with its way holds of one object, and ends at nil.
func TestConditionsWithWays(t *testing.T) {
	for name, change := range map[string]func(in *spokenIn){
		"another object": func(in *spokenIn) { in.M.Debug = true },
		"nil":            func(in *spokenIn) { in.M.Sub = nil },
	} {
		t.Run(name, func(t *testing.T) {
			f := compile.New(spokenTable(state.Cond{Arg: 1, Name: "Sub.Debug", Op: "==", Value: true}), func(in *spokenIn, out *oneOut) { out.R = in.X.Mul(in.M.W) })
			in := spokenWorld()
			f.Call(in)
			change(&in)
			f.Call(in)
			require.Equal(t, 2, f.Stats().Records)
		})
	}
	quiet := compile.New(spokenTable(state.Cond{Arg: 1, Name: "Debug", Op: "!=", Value: true}), func(in *spokenIn, out *oneOut) { out.R = in.X.Mul(in.M.W) })
	quiet.Call(spokenWorld())
	require.Equal(t, 1, quiet.Stats().Plain)
	require.Contains(t, text(t, quiet), "refused 1: a call of log.Print")
}

// A table that speaks of a field that a type has not is stale.
func TestStaleCondition(t *testing.T) {
	f := compile.New(spokenTable(on("Gone", "==", true)), func(in *spokenIn, out *oneOut) {})
	require.ErrorIs(t, caught(func() { f.Call(spokenWorld()) }), state.Stale)
	f = compile.New(spokenTable(state.Cond{Name: "app.verbose", Op: "==", Value: true}), func(in *spokenIn, out *oneOut) {})
	require.ErrorIs(t, caught(func() { f.Call(spokenWorld()) }), state.Stale)
}

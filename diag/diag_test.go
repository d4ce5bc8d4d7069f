package diag

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPosString(t *testing.T) {
	for want, p := range map[string]Pos{
		"": {Line: 3}, "a.go": {File: "a.go", Col: 2}, "a.go:3": {File: "a.go", Line: 3}, "a.go:3:7": {File: "a.go", Line: 3, Col: 7, Func: "f"},
	} {
		require.Equal(t, want, p.String())
	}
}

func TestErrorText(t *testing.T) {
	e := &Error{Code: "FX2003", Pos: Pos{File: "model.go", Line: 41, Col: 9}, Node: "linear_1", Op: "linear", Msg: "x has 32 features, weight expects 64"}
	require.EqualError(t, e, "model.go:41:9: linear: x has 32 features, weight expects 64 [FX2003]")
	e = (&Error{Code: "FX3001", Node: "add", Phase: "pass conv-bn", Msg: "it failed", Err: io.EOF,
		Related: []Related{{Pos{File: "b.go", Line: 2}, "made here"}, {Msg: "and there"}}}).WithHint("try again")
	require.EqualError(t, e, "node %add: it failed: EOF [FX3001]\n    while running pass conv-bn\n    b.go:2: made here\n    and there\n    hint: try again")
	require.EqualError(t, &Error{Err: io.EOF}, "EOF")
}

func TestErrorIdentity(t *testing.T) {
	e := New("FX1001", "x")
	e.Err = io.EOF
	wrapped := fmt.Errorf("outer: %w", e)
	require.ErrorIs(t, wrapped, Code("FX1001"))
	require.ErrorIs(t, wrapped, io.EOF)
	require.NotErrorIs(t, wrapped, Code("FX1002"))
	require.Equal(t, "a.go", e.At(Pos{File: "a.go"}).At(Pos{File: "b.go"}).Pos.File, "the first position stays")
	require.ErrorIs(t, Bug("no"), Internal)
	require.Contains(t, Bug("no").Error(), "internal error: no [FX9001]")
	require.Equal(t, "FX1001", Code("FX1001").Error())
}

func TestList(t *testing.T) {
	var l List
	l.Add(nil)
	require.Empty(t, l)
	require.NoError(t, l.Err())
	l.Add(&Error{Code: "FX1009", Msg: "note", Note: true})
	require.NoError(t, l.Err(), "notes are no failure")
	l.Add(List{New("FX1002", "b").At(Pos{File: "b.go", Line: 1}), New("FX1001", "z").At(Pos{File: "a.go", Line: 2, Col: 1})})
	l.Add(fmt.Errorf("outer: %w", New("FX1001", "a").At(Pos{File: "a.go", Line: 2, Col: 1})))
	l.Add(New("FX1000", "y").At(Pos{File: "a.go", Line: 2, Col: 1}))
	l.Add(New("FX1001", "first").At(Pos{File: "a.go", Line: 1}))
	l.Add(errors.New("plain"))
	l.Sort()
	require.Equal(t, "note [FX1009]\nplain [FX9001]\na.go:1: first [FX1001]\na.go:2:1: y [FX1000]\na.go:2:1: a [FX1001]\na.go:2:1: z [FX1001]\nb.go:1: b [FX1002]",
		l.Error())
	require.ErrorIs(t, l.Err(), Code("FX1002"))
	require.NotErrorIs(t, l.Err(), Code("FX7777"))
}

// Catch returns what is coded and lets other panics go on.
func TestEqualHintsAreSaidOnce(t *testing.T) {
	l := List{New("FX1", "a").WithHint("load weights"), New("FX1", "b").WithHint("another"), New("FX1", "c").WithHint("load weights"), New("FX1", "d")}
	require.Equal(t, "a [FX1]\nb [FX1]\n    hint: another\nc [FX1]\n    hint: load weights\nd [FX1]", l.Error())
	require.Equal(t, "load weights", l[0].Hint, "the list itself keeps its hints")
	require.Empty(t, List(nil).OneHint())
}

func TestCatch(t *testing.T) {
	run := func(v any) (err error) {
		defer Catch(&err)
		if v != nil {
			panic(v)
		}
		return nil
	}
	e := New("FX0000", "found")
	require.Equal(t, error(e), run(e))
	require.NoError(t, run(nil))
	require.PanicsWithValue(t, "other", func() { _ = run("other") })
}

func TestRecovered_copiesErrorsAndKeepsForeignPanics(t *testing.T) {
	shared := New("FX2003", "sizes differ")
	got := Recovered(shared)
	require.Equal(t, shared, got)
	got.Hint = "another"
	require.Empty(t, shared.Hint)
	fault := func() (r any) {
		defer func() { r = recover() }()
		var list []int
		return list[len(list)]
	}()
	require.Equal(t, Internal, Recovered(fault).Code)
	require.PanicsWithValue(t, "the user's", func() { Recovered("the user's") })
}

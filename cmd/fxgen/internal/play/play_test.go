package play

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/work"
	"github.com/gofx-dev/gofx/graph"
)

// That answers are those of the command is tested next to the command.

const net = `gofx 1

graph net(%x: f32[N,4]) {
  symbol N = dim(%x, 0)
  %w = get_attr[w] : f32[4]
  %y = call_function[mul](%x, %w) : f32[N,4]
  return %y
}
param w : f32[4]
`

func write(t *testing.T, name, text string) {
	require.NoError(t, os.WriteFile(name, []byte(text), 0o666))
}

func TestMistakesHaveCodesAndPlaces(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "net.fx", net)
	write(t, "wrong.fx", strings.Replace(net, "%x, %w", "%x, %v", 1))
	for name, r := range map[string]Request{
		"FX8050 nobody is no source":               {Verb: work.Print, Source: "nobody"},
		"FX8050 cannot read none.fx":               {Verb: work.Print, Source: "none.fx"},
		"wrong.fx:6:":                              {Verb: work.Print, Source: "wrong.fx"},
		"unknown pass \"gelus\"":                   {Verb: work.Why, Source: "net.fx", Passes: []string{"gelus"}},
		"functionalize runs after const-fold":      {Verb: work.Draw, Source: "net.fx", Passes: []string{"const-fold", "functionalize"}},
		"-shape x: expected NAME=SIZES":            {Verb: work.Draw, Source: "net.fx", Shapes: []string{"x"}},
		"-after dce: the pass is not in the pipel": {Verb: work.Print, Source: "net.fx", After: "dce"},
		"the page asks for run":                    {Verb: work.Run, Source: "net.fx"},
	} {
		var s Session
		a := s.Do(t.Context(), &r)
		require.False(t, a.OK, name)
		require.NotEmpty(t, a.Diagnostics, name)
		d := a.Diagnostics[0]
		require.Contains(t, strings.Join([]string{string(d.Code), d.Msg, d.Pos}, " ")+" "+d.Pos+":", name)
		require.NotEmpty(t, d.Code, name)
		require.Empty(t, a.Text)
		require.Nil(t, a.Zip)
	}
}

// A session keeps what it has opened until it is told that the file is another one.
func TestAgainOpensTheFile(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "net.fx", net)
	var s Session
	r := Request{Verb: work.Print, Source: "net.fx"}
	before := s.Do(t.Context(), &r).Text
	require.Contains(t, before, "call_function[mul]")
	write(t, "net.fx", strings.Replace(net, "[mul]", "[add]", 1))
	require.Equal(t, before, s.Do(t.Context(), &r).Text)
	r.Again = true
	require.Contains(t, s.Do(t.Context(), &r).Text, "call_function[add]")
	write(t, "net.fx", "gofx 1\n")
	require.False(t, s.Do(t.Context(), &r).OK)
	r.Again = false
	require.False(t, s.Do(t.Context(), &r).OK, "of a file that did not open nothing is kept")
}

// Jobs leave the source as it is: passes and synthetic weights are those of each job.
func TestRequestsDoNotDisturbEachOther(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "net.fx", net)
	var s Session
	gen := Request{Verb: work.Gen, Source: "net.fx", Style: work.Kernel, Passes: work.Optimise()}
	first := s.Do(t.Context(), &gen)
	require.True(t, first.OK, "%v", first.Diagnostics)
	require.Contains(t, first.Command, "-weights synthetic -o net")
	s.Do(t.Context(), &Request{Verb: work.Why, Source: "net.fx", Passes: work.Optimise()})
	again := s.Do(t.Context(), &gen)
	require.Equal(t, first, again)
	require.Nil(t, s.src.Graph.Param("w").Value)
}

// Only a graph that has no values gets weights that mean nothing.
func TestWeightsOfAFileStay(t *testing.T) {
	m, err := graph.Parse([]byte(net), "net.fx")
	require.NoError(t, err)
	s := Session{name: "net.fx", src: &work.Source{Name: "net.fx", Graph: m}}
	j, err := s.job(&Request{Verb: work.Gen, Style: work.Kernel})
	require.NoError(t, err)
	require.Equal(t, "synthetic", j.Weights)
	m.Param("w").Value = array.New(array.F32, 4)
	j, err = s.job(&Request{Verb: work.Gen, Style: work.Kernel})
	require.NoError(t, err)
	require.Empty(t, j.Weights)
}

func TestCommandsAreForAShell(t *testing.T) {
	require.Equal(t, `fxgen draw 'it'\''s.fx' -passes none -shape 'x=1,3;2' -o `+work.PackageName("it's.fx")+`.html`,
		command(&Request{Verb: work.Draw, Source: "it's.fx", Shapes: []string{"x=1,3;2"}}, nil))
	require.Equal(t, "fxgen print a/net.fx -passes cse,dce -after cse", command(&Request{Verb: work.Print, Source: "a/net.fx", Passes: []string{"cse", "dce"}, After: "cse"}, nil))
}

func TestListsNameEverything(t *testing.T) {
	l := NewLists()
	require.Equal(t, work.Optimise(), l.Default)
	require.Len(t, l.Models, len(work.Models()))
	for _, name := range l.Default {
		found := false
		for _, p := range l.Passes {
			found = found || p.Name == name && p.Doc != ""
		}
		require.True(t, found, name)
	}
	require.Contains(t, l.Causes, "FX7003")
}

package compiled

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/compile"
)

func init() {
	log.SetOutput(io.Discard)
	programs = append(programs,
		one("Logging", "break", Logging, CompileLogging, counts{1, 5, 0}),
		one("Told", "break", Told, CompileTold, counts{1, 5, 0}),
		one("ToldByMethod", "break", ToldByMethod, CompileToldByMethod, counts{1, 5, 0}),
		program{"ToldByArgument", "break", func(w *world) []any { return []any{ToldByArgument(w.M, w.X, w.M.Depth > 2)} }, func(o ...compile.Option) (func(*world) []any, func() compile.Stats) {
			f := CompileToldByArgument(o...)
			return func(w *world) []any { return []any{f.Call(w.M, w.X, w.M.Depth > 2)} }, f.Stats
		}, counts{1, 5, 0}},
		one("ToldByLayers", "break", ToldByLayers, CompileToldByLayers, counts{1, 5, 0}),
		one("ToldByGlobal", "break", ToldByGlobal, CompileToldByGlobal, counts{1, 5, 0}),
		one("PrintsDeep", "break", PrintsDeep, CompilePrintsDeep, counts{1, 5, 0}),
		one("PrintsLarge", "break", PrintsLarge, CompilePrintsLarge, counts{1, 5, 0}),
		one("AsksTime", "break", AsksTime, CompileAsksTime, counts{0, 0, 6}),
		one("Reports", "break", Reports, CompileReports, counts{2, 4, 0}),
		one("Counted", "break", Counted, CompileCounted, counts{0, 0, 6}),
	)
}

// listen runs f, and returns the lines that are logged meanwhile, with the positions of the calls.
func listen(f func()) string {
	var b bytes.Buffer
	flags, old := log.Flags(), slog.Default()
	defer func() {
		slog.SetDefault(old)
		log.SetOutput(io.Discard)
		log.SetFlags(flags)
	}()
	slog.SetDefault(slog.New(slog.NewTextHandler(&b, &slog.HandlerOptions{AddSource: true, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})))
	log.SetOutput(&b)
	log.SetFlags(log.Lshortfile)
	f()
	return b.String()
}

// A call that is replayed logs what the function would log, at the same lines, once. The third world logs in a branch.
func TestTells(t *testing.T) {
	for _, name := range []string{"Reports", "Counted"} {
		for i := range programs {
			if p := &programs[i]; p.name == name {
				j := newJudge(t, p)
				for n := range 12 {
					if n == 8 {
						j.plain.M.Depth, j.comp.M.Depth, j.lazy.M.Depth = 3, 3, 3
					}
					before := reports.Value()
					plain := listen(func() { run(j.plain, &j.gPlain, p.plain) })
					told := reports.Value()
					require.Equal(t, plain, listen(func() { run(j.comp, &j.gComp, j.call) }), "%s, call %d", name, n)
					require.Equal(t, told-before, reports.Value()-told)
					require.Equal(t, map[string]int{"Reports": 3 + n/8, "Counted": 1}[name], strings.Count(plain, "\n"), plain)
				}
				require.Equal(t, map[string]int{"Reports": 6, "Counted": 0}[name], j.stats().Hits, fmt.Sprint(j.stats()))
			}
		}
	}
}

// What runs in a session between two looks at data is one graph, which the second call with it finds.
func TestLent(t *testing.T) {
	for name, want := range map[string][]int{"Item": {6, 6, 0}, "Random": {6, 6, 0}, "Clock": {6, 0, 0}, "Ranged": {6, 6, 0}, "Spawns": {0, 0, 6}, "Recovers": {0, 0, 6}, "Counted": {6, 6, 0}} {
		for i := range programs {
			if p := &programs[i]; p.name == name {
				j := newJudge(t, p)
				for n := range 6 {
					j.all(fmt.Sprint("call ", n))
				}
				s := j.stats()
				require.Equal(t, want, []int{s.Lazy, s.Segments, s.Plain}, "%s: %s", name, s)
			}
		}
	}
}

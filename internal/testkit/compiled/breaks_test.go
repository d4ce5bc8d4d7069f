package compiled

import "github.com/gofx-dev/gofx/compile"

func init() {
	programs = append(programs,
		one("Logging", "effect", Logging, CompileLogging, counts{0, 0, 6}),
		one("Told", "effect", Told, CompileTold, counts{1, 5, 0}),
		one("ToldByMethod", "effect", ToldByMethod, CompileToldByMethod, counts{1, 5, 0}),
		program{"ToldByArgument", "effect", func(w *world) []any { return []any{ToldByArgument(w.M, w.X, w.M.Depth > 2)} }, func(o ...compile.Option) (func(*world) []any, func() compile.Stats) {
			f := CompileToldByArgument(o...)
			return func(w *world) []any { return []any{f.Call(w.M, w.X, w.M.Depth > 2)} }, f.Stats
		}, counts{1, 5, 0}},
		one("ToldByLayers", "effect", ToldByLayers, CompileToldByLayers, counts{1, 5, 0}),
		one("ToldByGlobal", "effect", ToldByGlobal, CompileToldByGlobal, counts{1, 5, 0}),
		one("PrintsDeep", "effect", PrintsDeep, CompilePrintsDeep, counts{1, 5, 0}),
		one("PrintsLarge", "effect", PrintsLarge, CompilePrintsLarge, counts{1, 5, 0}),
		one("AsksTime", "effect", AsksTime, CompileAsksTime, counts{0, 0, 6}),
	)
}

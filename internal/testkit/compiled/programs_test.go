package compiled

import (
	"slices"

	"github.com/gofx-dev/gofx/compile"
)

// program is a program with what is expected of six calls.
type program struct {
	name, class string
	plain       func(*world) []any
	compiled    func(...compile.Option) (func(*world) []any, func() compile.Stats)
	want        counts
}

// counts are those of compile.Stats; plain counts calls that ran in a session, too.
type counts struct{ records, hits, plain int }

// misses are the calls for which no record fits, where there are records.
func (p *program) misses() int { return p.want.records + p.want.plain }

// constructor is the name of the function that makes the compiled form.
func (p *program) constructor() string {
	switch p.name {
	case "Forward", "ByValue", "BreakForward":
		return "CompileModel" + p.name
	}
	return "Compile" + p.name
}

type told interface{ Stats() compile.Stats }

type caller1[A any] interface {
	Call(m *Model, x, y *tt) A
	told
}

func one[A any, C caller1[A]](name, class string, plain func(m *Model, x, y *tt) A, made func(...compile.Option) C, want counts) program {
	call := func(f func(m *Model, x, y *tt) A) func(*world) []any {
		return func(w *world) []any { return []any{f(w.M, w.X, w.Y)} }
	}
	return program{name, class, call(plain), func(o ...compile.Option) (func(*world) []any, func() compile.Stats) {
		f := made(o...)
		return call(f.Call), f.Stats
	}, want}
}

type caller2[A, B any] interface {
	Call(m *Model, x, y *tt) (A, B)
	told
}

func two[A, B any, C caller2[A, B]](name, class string, plain func(m *Model, x, y *tt) (A, B), made func(...compile.Option) C, want counts) program {
	call := func(f func(m *Model, x, y *tt) (A, B)) func(*world) []any {
		return func(w *world) []any { a, b := f(w.M, w.X, w.Y); return []any{a, b} }
	}
	return program{name, class, call(plain), func(o ...compile.Option) (func(*world) []any, func() compile.Stats) {
		f := made(o...)
		return call(f.Call), f.Stats
	}, want}
}

type caller3[A, B, C any] interface {
	Call(m *Model, x, y *tt) (A, B, C)
	told
}

func three[A, B, C any, F caller3[A, B, C]](name, class string, plain func(m *Model, x, y *tt) (A, B, C), made func(...compile.Option) F, want counts) program {
	call := func(f func(m *Model, x, y *tt) (A, B, C)) func(*world) []any {
		return func(w *world) []any { a, b, c := f(w.M, w.X, w.Y); return []any{a, b, c} }
	}
	return program{name, class, call(plain), func(o ...compile.Option) (func(*world) []any, func() compile.Stats) {
		f := made(o...)
		return call(f.Call), f.Stats
	}, want}
}

// programs are all programs.
var programs = slices.Concat(first, builtins, objects, effects, others, dynamics)

// first are the first programs, by class.
var first = []program{
	one("Scaled", "built-in", Scaled, CompileScaled, counts{1, 5, 0}),
	one("Narrow", "built-in", Narrow, CompileNarrow, counts{1, 5, 0}),
	one("Branch", "built-in", Branch, CompileBranch, counts{1, 5, 0}),
	one("Switch", "built-in", Switch, CompileSwitch, counts{1, 5, 0}),
	one("Unrolled", "built-in", Unrolled, CompileUnrolled, counts{1, 5, 0}),
	one("Sums", "built-in", Sums, CompileSums, counts{1, 5, 0}),
	one("Sorted", "built-in", Sorted, CompileSorted, counts{1, 5, 0}),
	one("SortedInPlace", "built-in", SortedInPlace, CompileSortedInPlace, counts{2, 4, 0}),
	two("Appends", "built-in", Appends, CompileAppends, counts{6, 0, 0}),
	one("AppendsFresh", "built-in", AppendsFresh, CompileAppendsFresh, counts{1, 4, 0}),
	two("Slices", "built-in", Slices, CompileSlices, counts{1, 5, 0}),
	one("Copies", "built-in", Copies, CompileCopies, counts{2, 4, 0}),
	two("Arrays", "built-in", Arrays, CompileArrays, counts{2, 4, 0}),
	one("Grids", "built-in", Grids, CompileGrids, counts{1, 5, 0}),
	one("Lookup", "built-in", Lookup, CompileLookup, counts{1, 5, 0}),
	one("MapRange", "built-in", MapRange, CompileMapRange, counts{1, 5, 0}),
	two("MapWrites", "built-in", MapWrites, CompileMapWrites, counts{2, 4, 0}),
	two("Text", "built-in", Text, CompileText, counts{1, 5, 0}),
	two("Complex", "built-in", Complex, CompileComplex, counts{1, 5, 0}),
	one("Shapes", "built-in", Shapes, CompileShapes, counts{1, 5, 0}),
	one("Pointers", "built-in", Pointers, CompilePointers, counts{6, 0, 0}),
	one("Literals", "built-in", Literals, CompileLiterals, counts{1, 5, 0}),
	one("Generic", "built-in", Generic, CompileGeneric, counts{1, 5, 0}),
	{"Variadic", "built-in", func(w *world) []any { return []any{Variadic(w.M, w.X, w.Y)} }, func(o ...compile.Option) (func(*world) []any, func() compile.Stats) {
		f := CompileVariadic(o...)
		return func(w *world) []any { return []any{f.Call(w.M, w.X, w.Y)} }, f.Stats
	}, counts{1, 5, 0}},
	{"Nothing", "built-in", func(w *world) []any { Nothing(w.M, w.X, w.Y); return nil }, func(o ...compile.Option) (func(*world) []any, func() compile.Stats) {
		f := CompileNothing(o...)
		return func(w *world) []any { f.Call(w.M, w.X, w.Y); return nil }, f.Stats
	}, counts{3, 3, 0}},
	one("Forward", "object", (*Model).Forward, CompileModelForward, counts{1, 5, 0}),
	one("Layered", "object", Layered, CompileLayered, counts{1, 5, 0}),
	one("Values", "object", Values, CompileValues, counts{1, 5, 0}),
	one("Embedded", "object", Embedded, CompileEmbedded, counts{1, 5, 0}),
	one("Private", "object", Private, CompilePrivate, counts{1, 5, 0}),
	one("Chained", "object", Chained, CompileChained, counts{1, 5, 0}),
	one("Interfaces", "object", Interfaces, CompileInterfaces, counts{1, 5, 0}),
	one("InterfaceList", "object", InterfaceList, CompileInterfaceList, counts{1, 5, 0}),
	one("Asserted", "object", Asserted, CompileAsserted, counts{1, 5, 0}),
	one("Called", "object", Called, CompileCalled, counts{1, 5, 0}),
	three("Same", "object", Same, CompileSame, counts{1, 5, 0}),
	one("Mapped", "object", Mapped, CompileMapped, counts{1, 5, 0}),
	two("Shared", "object", Shared, CompileShared, counts{1, 4, 0}),
	one("Nested", "object", Nested, CompileNested, counts{0, 0, 3}),
	one("Keyed", "object", Keyed, CompileKeyed, counts{0, 0, 3}),
	two("Copied", "object", Copied, CompileCopied, counts{1, 5, 0}),
	one("Recursive", "object", Recursive, CompileRecursive, counts{1, 5, 0}),
	one("Closures", "object", Closures, CompileClosures, counts{1, 5, 0}),
	{"ByValue", "object", func(w *world) []any { return []any{w.M.ByValue(w.X, w.Y)} }, func(o ...compile.Option) (func(*world) []any, func() compile.Stats) {
		f := CompileModelByValue(o...)
		return func(w *world) []any { return []any{f.Call(*w.M, w.X, w.Y)} }, f.Stats
	}, counts{0, 0, 6}},
	{"Lists", "object", func(w *world) []any { return []any{Lists(w.M, []*tt{w.X, w.Y})} }, func(o ...compile.Option) (func(*world) []any, func() compile.Stats) {
		f := CompileLists(o...)
		return func(w *world) []any { return []any{f.Call(w.M, []*tt{w.X, w.Y})} }, f.Stats
	}, counts{1, 5, 0}},
	one("Stores", "effect", Stores, CompileStores, counts{2, 3, 0}),
	one("Counts", "effect", Counts, CompileCounts, counts{1, 5, 0}),
	one("Caches", "effect", Caches, CompileCaches, counts{6, 0, 0}),
	one("SameStore", "effect", SameStore, CompileSameStore, counts{1, 5, 0}),
	one("Swaps", "effect", Swaps, CompileSwaps, counts{2, 4, 0}),
	one("InPlace", "effect", InPlace, CompileInPlace, counts{1, 5, 0}),
	one("Globals", "effect", Globals, CompileGlobals, counts{6, 0, 0}),
	one("Late", "effect", Late, CompileLate, counts{2, 4, 0}),
	one("Panics", "effect", Panics, CompilePanics, counts{1, 5, 0}),
	one("Item", "dynamic", Item, CompileItem, counts{0, 0, 6}),
	one("Random", "dynamic", Random, CompileRandom, counts{0, 0, 6}),
	one("Clock", "dynamic", Clock, CompileClock, counts{0, 0, 6}),
	one("Ranged", "dynamic", Ranged, CompileRanged, counts{0, 0, 6}),
	one("Spawns", "dynamic", Spawns, CompileSpawns, counts{0, 0, 6}),
	one("Recovers", "dynamic", Recovers, CompileRecovers, counts{0, 0, 6}),
}

// Package capturefuzz aims random Go programs at capture. A program is source: a
// module or a function over tensors with local buffers, views, in-place calls,
// constants edited through tensor.Data, aliases in structs, slices and maps,
// closures, early returns, loops, regions and state. Many of them are built into
// one command, which runs each eagerly and captured, in every engine, and says
// where the two differ: package judge.
//
// The same programs are compiled by fxgen, with state that numbers and positions come from, and called with words of it changed between the
// calls (replay.go): package replays judges those.
//
// The grammar is data: one row for a kind of statement (rows_*.go). A seed gives
// always the same program. A failing program is made small by dropping
// statements (reduce.go). mutate.go holds faults that are put into the mechanism
// of capture to see that the programs find them.
//
// The tests read the environment: GOFX_CAPTURE_FIRST is the first seed,
// GOFX_CAPTURE_COUNT the number of programs, GOFX_REPLAY_COUNT that of programs that are compiled, GOFX_CAPTURE_STRICT=1 makes
// failures of programs failures of the test, GOFX_CAPTURE_MUTATION runs the
// mutations whose names match it. go test -v prints failing programs, made
// small. The name of a program's file in positions holds its number: the seed
// less that of the batch's first program.
package capturefuzz

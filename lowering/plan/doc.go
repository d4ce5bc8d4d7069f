// Package plan is what the cpu target makes of a graph, as data: buffers and
// steps, sizes as expressions over symbols, places in one arena. It owns which memory
// is shared, arenas of symbolic size, the check of a plan and its text. When buffers are
// in use and where they lie among numbers, lowering/internal/lifetimes finds.
//
// It stands beside lowering: lowering/cpu builds and executes plans, codegen prints
// them as Go. A plan depends on no feature of the machine it was made on; this package
// holds no arrays, runs nothing and knows neither graphs nor targets. Read plan.go first.
package plan

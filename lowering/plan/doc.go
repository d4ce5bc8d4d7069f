// Package plan holds the plan of a graph for the cpu target as data: buffers and
// steps, sizes as expressions over symbols, places in one arena. It owns sharing of
// memory, arenas of symbolic size, the check of a plan and its text. lowering/internal/lifetimes
// finds when buffers are in use, and their places where sizes are numbers.
//
// It stands next to lowering: lowering/cpu builds and executes plans, codegen
// prints them as Go. A plan does not depend on the machine that made it; this package
// holds no arrays, runs nothing and knows neither graphs nor targets. Read plan.go first.
package plan

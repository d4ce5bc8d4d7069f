// Package plan holds the plan of a graph for the cpu target as data: buffers and
// steps, sizes as expressions over symbols, places in one arena. It owns lifetimes,
// placement, the check of a plan and its text.
//
// It stands next to lowering: lowering/cpu builds and executes plans, codegen
// prints them as Go. A plan does not depend on the machine that made it; this package
// holds no arrays, runs nothing and knows neither graphs nor targets. Read plan.go first.
package plan

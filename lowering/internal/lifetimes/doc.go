// Package lifetimes gives the buffers of a plan their places in one piece of memory: between
// which steps each buffer is in use (Spans), and offsets at which no two that are in use at the
// same time overlap (Place).
//
// It stands below lowering/plan and lowering/gpu, whose steps differ (decision 0049), and
// knows neither: buffers and steps are numbers, sizes are counts of whatever unit the caller
// has. Read spans.go first, then place.go.
package lifetimes

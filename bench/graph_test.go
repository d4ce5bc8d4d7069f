package main

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestGraphsCostInProportion counts measures that do not depend on the machine: allocations, and
// the bytes that they take, which grow with the nodes and not faster.
func TestGraphsCostInProportion(t *testing.T) {
	for _, s := range scalings {
		t.Run(s.name, func(t *testing.T) {
			calls, bytes := map[int]float64{}, map[int]float64{}
			for _, n := range sizes[:2] {
				before, run, err := s.prepare(n, t.TempDir())
				require.NoError(t, err)
				for range 2 { // the first call fills caches
					if before != nil {
						before()
					}
					var was, is runtime.MemStats
					runtime.ReadMemStats(&was)
					require.NoError(t, run())
					runtime.ReadMemStats(&is)
					calls[n], bytes[n] = float64(is.Mallocs-was.Mallocs), float64(is.TotalAlloc-was.TotalAlloc)
				}
				require.LessOrEqual(t, calls[n], s.allocs*float64(n)+500, "allocations of %d nodes", n)
			}
			require.LessOrEqual(t, bytes[10_000], 13*bytes[1_000]+1e6, "bytes: %v", bytes)
		})
	}
}

// TestRetained holds the bytes that a captured graph keeps: types, positions and names
// included.
func TestRetained(t *testing.T) {
	for _, n := range []int{10_000, 100_000} {
		bytes, err := retained(n)
		require.NoError(t, err)
		t.Logf("%d nodes: %.0f bytes each", n, bytes/float64(n))
		require.Less(t, bytes/float64(n), 400.0)
		require.Greater(t, bytes/float64(n), 100.0, "something is not counted")
	}
}

// BenchmarkGraph is the table of scalings without peers.
func BenchmarkGraph(b *testing.B) {
	for _, s := range scalings {
		for _, n := range sizes {
			b.Run(fmt.Sprintf("%s/%d", s.name, n), func(b *testing.B) {
				before, run, err := s.prepare(n, b.TempDir())
				require.NoError(b, err)
				b.ReportAllocs()
				b.ResetTimer()
				for range b.N {
					if before != nil {
						b.StopTimer()
						before()
						b.StartTimer()
					}
					require.NoError(b, run())
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/node")
			})
		}
	}
}

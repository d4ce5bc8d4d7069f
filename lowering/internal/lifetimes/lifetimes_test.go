package lifetimes

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPlacesDoNotOverlap places random blocks: those of one time lie apart, at multiples of the
// alignment, the end is that of the highest, and no less than what one time needs.
func TestPlacesDoNotOverlap(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 400 {
		align := []int{1, 1, 64, 256}[n%4]
		blocks := make([]Block, r.IntN(60))
		for i := range blocks {
			first := r.IntN(20)
			blocks[i] = Block{Span: Span{first, first + r.IntN(1+r.IntN(12))}, Size: r.IntN(1000)}
			if r.IntN(20) == 0 {
				blocks[i].Span = Span{-1, -1}
			}
		}
		asked := slices.Clone(blocks)
		end := Place(blocks, align)
		highest := 0
		for i, b := range blocks {
			require.Equal(t, asked[i].Span, b.Span, "blocks keep their order")
			require.Equal(t, asked[i].Size, b.Size)
			require.Zero(t, b.Offset%align)
			require.GreaterOrEqual(t, b.Offset, 0)
			highest = max(highest, b.Offset+b.Size)
			used := 0
			for _, o := range blocks {
				if o.First <= b.First && b.First <= o.Last {
					used += o.Size
				}
			}
			require.LessOrEqual(t, used, end)
			for _, o := range blocks[:i] {
				if b.Overlaps(o.Span) && b.Size > 0 && o.Size > 0 {
					require.True(t, b.Offset+b.Size <= o.Offset || o.Offset+o.Size <= b.Offset, "%v %v", b, o)
				}
			}
			depth := 0
			for _, o := range blocks {
				if o.Size > 0 && b.Overlaps(o.Span) && o.Offset < b.Offset {
					depth = max(depth, o.Depth+1)
				}
			}
			require.GreaterOrEqual(t, b.Depth, depth)
			require.Less(t, b.Depth, max(len(blocks), 1))
		}
		require.Equal(t, highest, end)
	}
}

// TestOrdersAreTried: where the largest first is not the best order, another one is found.
func TestOrdersAreTried(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	better := 0
	for range 100 {
		blocks := make([]Block, 30)
		for i := range blocks {
			first := r.IntN(30)
			blocks[i] = Block{Span: Span{first, first + 1 + r.IntN(4)}, Size: 1 + r.IntN(100)}
		}
		p := placer{blocks: blocks, align: 1, offsets: make([]int, len(blocks))}
		bySize := p.greedy(p.sorted(func(a, b *Block) int { return b.Size - a.Size }))
		end := Place(blocks, 1)
		require.LessOrEqual(t, end, bySize)
		if end < bySize {
			better++
		}
	}
	require.Greater(t, better, 20)
	require.Zero(t, Place(nil, 64))
}

// TestPaddingIsNotCounted: the highest block ends where it ends, so that the one with the most
// padding is best there.
func TestPaddingIsNotCounted(t *testing.T) {
	blocks := []Block{{Span: Span{0, 1}, Size: 65}, {Span: Span{1, 2}, Size: 10}}
	require.Equal(t, 64+65, Place(blocks, 64))
	require.Equal(t, []int{64, 0}, []int{blocks[0].Offset, blocks[1].Offset})
}

func TestSpans(t *testing.T) {
	s := NewSpans(6)
	s.Use(0, 4) // in any order
	s.Use(0, 2)
	s.Use(1, 3)
	s.Use(2, 6)
	s.Use(4, 0)
	s.Use(4, 5)
	require.Equal(t, Spans{{2, 4}, {3, 3}, {6, 6}, {-1, -1}, {0, 5}, {-1, -1}}, s)
	s.Join(1, 2) // buffer 2 lies in the memory of 1
	s.Join(3, 0) // what was not in use
	s.Join(1, 5) // by what is not
	require.Equal(t, Spans{{2, 4}, {3, 6}, {6, 6}, {2, 4}, {0, 5}, {-1, -1}}, s)
	s.Repeat(4, 7) // rounds of steps 4 to 7
	require.Equal(t, Spans{{2, 7}, {3, 7}, {6, 6}, {2, 7}, {0, 7}, {-1, -1}}, s)
	require.False(t, s[5].Used())
	require.True(t, s[2].Overlaps(s[0]))
	require.False(t, Span{0, 3}.Overlaps(Span{4, 5}))
}

// TestSearchesFindAll: trees find what looking at all blocks finds, so places are those of the plain search.
func TestSearchesFindAll(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for n := range 300 {
		blocks := make([]Block, 1+r.IntN(500))
		for i := range blocks {
			first := r.IntN(1+n) - 1
			blocks[i] = Block{Span: Span{first, first + r.IntN(1+r.IntN(1+n))}, Size: r.IntN(1 + r.IntN(300))}
		}
		p := placer{blocks: blocks, align: 64, offsets: make([]int, len(blocks))}
		order := p.sorted(func(a, b *Block) int { return b.Size - a.Size })
		p.greedy(order)
		for i, b := range order {
			free, best, gap := 0, -1, 0
			var near []int
			for _, o := range order[:i] {
				if blocks[o].Overlaps(blocks[b].Span) {
					near = append(near, o)
				}
			}
			slices.SortFunc(near, func(x, y int) int { return p.offsets[x] - p.offsets[y] })
			for _, o := range near {
				if room := p.offsets[o] - free; room >= blocks[b].Size && (best < 0 || room < gap) {
					best, gap = free, room
				}
				free = max(free, p.up(p.top(o)))
			}
			if best < 0 {
				best = free
			}
			require.Equal(t, best, p.offsets[b])
		}
		most := 0
		for _, b := range blocks {
			sum, padding := 0, 0
			for _, o := range blocks {
				if o.First <= b.First && b.First <= o.Last {
					sum += p.up(o.Size)
					padding = max(padding, p.up(o.Size)-o.Size)
				}
			}
			most = max(most, sum-padding)
		}
		require.Equal(t, most, p.least())
		p.best = order
		p.settle()
		slices.SortStableFunc(order, func(x, y int) int { return p.offsets[x] - p.offsets[y] })
		for i, b := range order {
			depth := 0
			for _, o := range order[:i] {
				if blocks[o].Overlaps(blocks[b].Span) {
					depth = max(depth, blocks[o].Depth+1)
				}
			}
			require.Equal(t, depth, blocks[b].Depth)
		}
	}
}

// TestClashes: trees find blocks that overlap as looking at all pairs does.
func TestClashes(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	clashes, meetings := 0, 0
	for n := range 2000 {
		draw := func(count int) []Block {
			list := make([]Block, count)
			for i := range list {
				first := r.IntN(100) - 1
				list[i] = Block{Span: Span{first, first + r.IntN(1+n%20)}, Size: r.IntN(30), Offset: r.IntN(100000 / (1 + n%50))}
			}
			return list
		}
		a, b := draw(40+r.IntN(40)), draw(40+r.IntN(40))
		clash, meets := false, false
		for i := range a {
			clash = clash || slices.ContainsFunc(a[:i], a[i].meets)
			meets = meets || slices.ContainsFunc(b, a[i].meets)
		}
		require.Equal(t, clash, Clash(a))
		require.Equal(t, meets, Meets(a, b))
		require.Equal(t, meets, Meets(b, a))
		if clash {
			clashes++
		}
		if meets {
			meetings++
		}
	}
	require.Greater(t, min(clashes, meetings), 200)
	require.Less(t, max(clashes, meetings), 1800)
}

func BenchmarkPlace(b *testing.B) {
	for _, n := range []int{1024, 16384} {
		for name, span := range map[string]int{"chain": 2, "wide": n} {
			b.Run(name+strconv.Itoa(n), func(b *testing.B) {
				blocks := make([]Block, n)
				for b.Loop() {
					for i := range blocks {
						blocks[i] = Block{Span: Span{i, min(i+span, n)}, Size: 64 + i%7}
					}
					Place(blocks, 64)
				}
			})
		}
	}
}

package state

// These types are parsed as well as compiled: see TestNamesOfBothSides.

type plain struct{ A int }

type pair[K comparable, V any] struct {
	Key   K
	Value V
}

type method func(plain, ...*plain) (int, error)

type named struct {
	plain
	Z *method
	A func(*plain, []plain) map[string]plain
	B struct {
		X plain `fx:"x"`
		plain
		y, z int
	}
	C interface {
		Do(plain, ...int) (plain, error)
		hidden(*plain)
	}
	D pair[string, []*plain]
	E pair[plain, pair[int, func(plain) plain]]
	F [3][]byte
	G map[plain]*[2]rune
	H any
	I error
	J func()
	K struct{}
	L interface{ error }
	M complex64
	N []func(...any) (a, b *plain)
	O uintptr
	P pair[struct{ P plain }, interface{ Q(plain) }]
	Q chan plain
	R <-chan *plain
	S chan<- []plain
	T [2]chan<- <-chan plain
}

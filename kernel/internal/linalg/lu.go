package linalg

import (
	"github.com/gofx-dev/gofx/kernel/internal/gemm"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// Orders at which loops take over from halves: of a whole matrix, and of a block of a
// larger one.
const (
	smallOrder = 32
	blockOrder = 8
)

// factors is a matrix of n rows that becomes its factors in place: U on the diagonal and
// above, and below it the negated multipliers of L.
type factors[T float32 | float64] struct {
	w      *par.Workspace
	a      []T
	n      int
	pivots []int32 // the row that row k was exchanged with in step k
	odd    bool    // the number of exchanges is odd
	zero   int     // the step whose pivot was 0, n for none
}

// factor factors the matrix a of n rows in place, up to the first column that has no pivot
// but 0. pivots has n elements.
func factor[T float32 | float64](w *par.Workspace, a []T, n int, pivots []int32) factors[T] {
	f := factors[T]{w: w, a: a, n: n, pivots: pivots, zero: n}
	f.columns(0, n)
	return f
}

// columns factors columns [from, to), from row from on, and reports whether all have a
// pivot.
func (f *factors[T]) columns(from, to int) bool {
	if to-from <= blockOrder || f.n <= smallOrder {
		return f.loop(from, to)
	}
	n, mid := f.n, from+half(to-from)
	if !f.columns(from, mid) {
		return false
	}
	right := f.a[from*n+mid:]
	forward(f.w, f.a[from*n+from:], n, mid-from, right, n, to-mid)
	product(f.w, n-mid, to-mid, mid-from, f.a[mid*n+from:], n, right, n, f.a[mid*n+mid:], n, true)
	return f.columns(mid, to)
}

// loop is columns one by one.
func (f *factors[T]) loop(from, to int) bool {
	a, n := f.a, f.n
	for k := from; k < to; k++ {
		pivot, most := k, abs(a[k*n+k])
		for i := k + 1; i < n; i++ {
			if v := abs(a[i*n+k]); v > most {
				pivot, most = i, v
			}
		}
		f.pivots[k] = int32(pivot)
		if pivot != k {
			f.odd = !f.odd
			x, y := a[k*n:(k+1)*n], a[pivot*n:(pivot+1)*n]
			for c := range x {
				x[c], y[c] = y[c], x[c]
			}
		}
		d, row := a[k*n+k], a[k*n+k+1:k*n+to]
		if d == 0 {
			f.zero = k
			return false
		}
		for i := k + 1; i < n; i++ {
			at := i*n + k
			m := -(a[at] / d)
			a[at] = m
			add(a[at+1:at+1+len(row)], row, m)
		}
	}
	return true
}

// forward solves L·x = b in place for the columns of b, where l has the negated
// multipliers of L, of n rows.
func forward[T float32 | float64](w *par.Workspace, l []T, ldl, n int, b []T, ldb, cols int) {
	if n > blockOrder {
		h := half(n)
		forward(w, l, ldl, h, b, ldb, cols)
		product(w, n-h, cols, h, l[h*ldl:], ldl, b, ldb, b[h*ldb:], ldb, true)
		forward(w, l[h*ldl+h:], ldl, n-h, b[h*ldb:], ldb, cols)
		return
	}
	for i := 1; i < n; i++ {
		to := b[i*ldb : i*ldb+cols]
		for p := range i {
			add(to, b[p*ldb:p*ldb+cols], l[i*ldl+p])
		}
	}
}

// backward solves U·x = b in place for the columns of b, where u has the diagonal of U, of
// n rows, and the elements above it negated.
func backward[T float32 | float64](w *par.Workspace, u []T, ldu, n int, b []T, ldb, cols, block int) {
	if n > block {
		h := half(n)
		backward(w, u[h*ldu+h:], ldu, n-h, b[h*ldb:], ldb, cols, block)
		product(w, h, cols, n-h, u[h:], ldu, b[h*ldb:], ldb, b, ldb, true)
		backward(w, u, ldu, h, b, ldb, cols, block)
		return
	}
	for i := n - 1; i >= 0; i-- {
		to := b[i*ldb : i*ldb+cols]
		for p := i + 1; p < n; p++ {
			add(to, b[p*ldb:p*ldb+cols], u[i*ldu+p])
		}
		d := u[i*ldu+i]
		for c := range to {
			to[c] /= d
		}
	}
}

// lowerInverse makes the n×n matrix b the inverse of L, whose negated multipliers are in l.
func lowerInverse[T float32 | float64](w *par.Workspace, l []T, ldl, n int, b []T, ldb, block int) {
	if n > block {
		h := half(n)
		lowerInverse(w, l, ldl, h, b, ldb, block)
		for i := range h {
			clear(b[i*ldb+h : i*ldb+n])
		}
		product(w, n-h, h, h, l[h*ldl:], ldl, b, ldb, b[h*ldb:], ldb, false)
		forward(w, l[h*ldl+h:], ldl, n-h, b[h*ldb:], ldb, h)
		lowerInverse(w, l[h*ldl+h:], ldl, n-h, b[h*ldb+h:], ldb, block)
		return
	}
	for i := range n {
		to := b[i*ldb : i*ldb+n]
		clear(to)
		to[i] = 1
		for p := range i { // row p ends on the diagonal
			add(to[:p+1], b[p*ldb:p*ldb+p+1], l[i*ldl+p])
		}
	}
}

// product is c += a·b for blocks of larger matrices, c = a·b without acc.
func product[T float32 | float64](w *par.Workspace, m, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int, acc bool) {
	if m > 0 && n > 0 && k > 0 {
		gemm.Gemm(w, false, false, m, n, k, a, lda, b, ldb, c, ldc, acc)
	}
}

// half is about half of n, a multiple of blockOrder.
func half(n int) int { return (n/2 + blockOrder - 1) / blockOrder * blockOrder }

// add is to += f·from. Products are rounded, so that all machines agree.
func add[T float32 | float64](to, from []T, f T) {
	from = from[:len(to)]
	for len(to) >= 4 && len(from) >= 4 {
		to[0] += T(f * from[0])
		to[1] += T(f * from[1])
		to[2] += T(f * from[2])
		to[3] += T(f * from[3])
		to, from = to[4:], from[4:]
	}
	for i, v := range from {
		to[i] += T(f * v)
	}
}

func abs[T float32 | float64](v T) T {
	if v < 0 {
		return -v
	}
	return v
}

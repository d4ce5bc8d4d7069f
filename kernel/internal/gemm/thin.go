package gemm

import (
	"github.com/gofx-dev/gofx/kernel/internal/operand"
)

// ThinRows is the number of rows of a below which packing b costs more than it
// saves, because each element of b is used less than that many times.
const ThinRows = 4

// thinJob is a product whose left operand has few rows, read in place.
type thinJob[T operand.Real] struct {
	transB  bool
	m, n, k int
	a       []T
	lda     int
	b       []T
	ldb     int
	c       []T
	ldc     int
	acc     bool
}

// Do computes the columns [4*lo, 4*hi) of all rows. Each element of b is used a
// few times only, so it is read where it lies: four rows of a transposed b are
// four streams that share a row of a, which stays in the first cache; a plain b is
// added row by row to c.
func (v *thinJob[T]) Do(lo, hi int) {
	lo, hi = lo*NR, min(hi*NR, v.n)
	for i := range v.m {
		a, c := v.a[i*v.lda:i*v.lda+v.k], v.c[i*v.ldc:i*v.ldc+v.n]
		if !v.acc {
			clear(c[lo:hi])
		}
		if !v.transB {
			addRows(c[lo:hi], a, v.b, v.ldb, lo)
			continue
		}
		x := lo
		for ; x+4 <= hi; x += 4 {
			b := v.b[x*v.ldb:]
			for p := 0; p < v.k; p += gemmKC {
				q := min(p+gemmKC, v.k)
				s0, s1, s2, s3 := dot4(a[p:q], b[p:q], b[v.ldb+p:v.ldb+q], b[2*v.ldb+p:2*v.ldb+q], b[3*v.ldb+p:3*v.ldb+q])
				c[x] += s0
				c[x+1] += s1
				c[x+2] += s2
				c[x+3] += s3
			}
		}
		for ; x < hi; x++ {
			b := v.b[x*v.ldb : x*v.ldb+v.k]
			for p := 0; p < v.k; p += gemmKC {
				q := min(p+gemmKC, v.k)
				c[x] += Dot(a[p:q], b[p:q])
			}
		}
	}
}

// addRows adds a·b[:, lo:lo+len(c)] to c, four rows of b at a time. A row of c is
// loaded and stored once for four rows of b, which are four streams.
func addRows[T operand.Real](c, a, b []T, ldb, lo int) {
	p, n := 0, len(c)
	for ; p+4 <= len(a); p += 4 {
		a0, a1, a2, a3 := a[p], a[p+1], a[p+2], a[p+3]
		at := p*ldb + lo
		b0, b1, b2, b3 := b[at:at+n], b[at+ldb:at+ldb+n], b[at+2*ldb:at+2*ldb+n], b[at+3*ldb:at+3*ldb+n]
		for x := range c {
			c[x] += (T(a0*b0[x]) + T(a1*b1[x])) + (T(a2*b2[x]) + T(a3*b3[x]))
		}
	}
	for ; p < len(a); p++ {
		Axpy(c, a[p], b[p*ldb+lo:p*ldb+lo+n])
	}
}

// Axpy adds s·x to y; x has at least the length of y.
func Axpy[T operand.Real](y []T, s T, x []T) {
	x = x[:len(y)]
	for i := range y {
		y[i] += T(s * x[i])
	}
}

// Dot returns Σ a[i]·b[i] with four partial sums.
func Dot[T operand.Real](a, b []T) T {
	b = b[:len(a)]
	var s0, s1, s2, s3 T
	i := 0
	for ; i+4 <= len(a); i += 4 {
		s0 += T(a[i] * b[i])
		s1 += T(a[i+1] * b[i+1])
		s2 += T(a[i+2] * b[i+2])
		s3 += T(a[i+3] * b[i+3])
	}
	for ; i < len(a); i++ {
		s0 += T(a[i] * b[i])
	}
	return (s0 + s1) + (s2 + s3)
}

// dot4 returns the products of a with four rows of its length.
func dot4[T operand.Real](a, b0, b1, b2, b3 []T) (s0, s1, s2, s3 T) {
	n := len(a)
	b0, b1, b2, b3 = b0[:n], b1[:n], b2[:n], b3[:n]
	for i, v := range a {
		s0 += T(v * b0[i])
		s1 += T(v * b1[i])
		s2 += T(v * b2[i])
		s3 += T(v * b3[i])
	}
	return s0, s1, s2, s3
}

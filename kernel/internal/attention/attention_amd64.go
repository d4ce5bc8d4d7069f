package attention

import (
	"unsafe"

	"github.com/gofx-dev/gofx/kernel/internal/cpu"
)

// The callers in attention_tile.go have checked the lengths.

func attentionScores32(l cpu.Level, rows, k int, a []float32, lda int, b, c []float32) {
	if l == cpu.AVX512 {
		attentionScoresAVX512(rows, k, &a[0], lda, &b[0], &c[0])
	} else {
		attentionScoresAVX2(rows, k, &a[0], lda, &b[0], &c[0])
	}
}

func attentionValues32(l cpu.Level, rows, k int, a []float32, lda int, b, c, scale []float32) {
	if l == cpu.AVX512 {
		attentionValuesAVX512(rows, k, &a[0], lda, &b[0], &c[0], unsafe.SliceData(scale))
	} else {
		attentionValuesAVX2(rows, k, &a[0], lda, &b[0], &c[0], unsafe.SliceData(scale))
	}
}

func attentionSoftmax32(l cpu.Level, rows int, c, state []float32) {
	if l == cpu.AVX512 {
		attentionSoftmaxAVX512(rows, &c[0], &state[0])
	} else {
		attentionSoftmaxAVX2(rows, &c[0], &state[0])
	}
}

func attentionScale32(l cpu.Level, rows int, c, scale []float32) {
	if l == cpu.AVX512 {
		attentionScaleAVX512(rows, &c[0], &scale[0])
	} else {
		attentionScaleAVX2(rows, &c[0], &scale[0])
	}
}

func attentionKeep32(l cpu.Level, rows int, c, t []float32, at, ldt int) {
	if l == cpu.AVX512 {
		attentionKeepAVX512(rows, &c[0], &t[at], ldt)
	} else {
		attentionKeepAVX2(rows, &c[0], &t[at], ldt)
	}
}

func attentionAdd32(l cpu.Level, rows int, c, t []float32, ldt int) {
	if l == cpu.AVX512 {
		attentionAddAVX512(rows, &c[0], &t[0], ldt)
	} else {
		attentionAddAVX2(rows, &c[0], &t[0], ldt)
	}
}

func (s *byteScores) assembly(l cpu.Level) {
	if l == cpu.AVX512 && cpu.Host.Vnni {
		attentionByteScoresAVX512(s.rows, s.blocks, &s.q[0], &s.k[0], &s.scale[0], &s.c[0])
	} else {
		attentionByteScoresAVX2(s.rows, s.blocks, &s.q[0], &s.k[0], &s.scale[0], &s.c[0])
	}
}

func (s *byteValues) assembly(l cpu.Level) {
	if l == cpu.AVX512 {
		attentionByteValuesAVX512(s.rows, s.blocks, s.keys, &s.p[0], &s.v[0], s.ld, &s.mix[0])
	} else {
		attentionByteValuesAVX2(s.rows, s.blocks, s.keys, &s.p[0], &s.v[0], s.ld, &s.mix[0])
	}
}

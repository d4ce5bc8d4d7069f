package half

import "github.com/gofx-dev/gofx/kernel/internal/cpu"

// The functions below branch, as calls by a variable would let their operands escape.

// vnni reports whether four products of bytes are one instruction.
func vnni() bool { return cpu.HasAVX512() && cpu.Host.Vnni }

func (d *ByteDots) machine(format string, count int, tail *uint8) {
	switch {
	case d.Rows == 1:
		d.one(format, count, tail)
	case d.Rows <= 4:
		d.four(format, count, tail)
	default:
		d.eight(format, count, tail)
	}
}

func (d *ByteDots) one(format string, count int, tail *uint8) {
	switch wide := vnni(); format {
	case "Q8_0":
		if wide {
			bytes1Q80VNNI(d.N, count, &d.X[0], &d.W[0], d.LdW, tail, &d.Dst[0])
		} else {
			bytes1Q80AVX2(d.N, count, &d.X[0], &d.W[0], d.LdW, tail, &d.Dst[0])
		}
	case "Q4_0":
		if wide {
			bytes1Q40VNNI(d.N, count, &d.X[0], &d.W[0], d.LdW, tail, &d.Dst[0])
		} else {
			bytes1Q40AVX2(d.N, count, &d.X[0], &d.W[0], d.LdW, tail, &d.Dst[0])
		}
	case "Q4_1":
		if wide {
			bytes1Q41VNNI(d.N, count, &d.X[0], &d.W[0], d.LdW, tail, &d.Dst[0])
		} else {
			bytes1Q41AVX2(d.N, count, &d.X[0], &d.W[0], d.LdW, tail, &d.Dst[0])
		}
	case "Q5_0":
		if wide {
			bytes1Q50VNNI(d.N, count, &d.X[0], &d.W[0], d.LdW, tail, &d.Dst[0])
		} else {
			bytes1Q50AVX2(d.N, count, &d.X[0], &d.W[0], d.LdW, tail, &d.Dst[0])
		}
	case "Q5_1":
		if wide {
			bytes1Q51VNNI(d.N, count, &d.X[0], &d.W[0], d.LdW, tail, &d.Dst[0])
		} else {
			bytes1Q51AVX2(d.N, count, &d.X[0], &d.W[0], d.LdW, tail, &d.Dst[0])
		}
	case "Q4_K":
		if wide {
			bytes1Q4KVNNI(d.N, count, &d.X[0], &d.W[0], d.LdW, tail, &d.Dst[0])
		} else {
			bytes1Q4KAVX2(d.N, count, &d.X[0], &d.W[0], d.LdW, tail, &d.Dst[0])
		}
	case "Q5_K":
		if wide {
			bytes1Q5KVNNI(d.N, count, &d.X[0], &d.W[0], d.LdW, tail, &d.Dst[0])
		} else {
			bytes1Q5KAVX2(d.N, count, &d.X[0], &d.W[0], d.LdW, tail, &d.Dst[0])
		}
	case "Q6_K":
		if wide {
			bytes1Q6KVNNI(d.N, count, &d.X[0], &d.W[0], d.LdW, tail, &d.Dst[0])
		} else {
			bytes1Q6KAVX2(d.N, count, &d.X[0], &d.W[0], d.LdW, tail, &d.Dst[0])
		}
	}
}

func (d *ByteDots) four(format string, count int, tail *uint8) {
	var x [4]*uint8 // of fewer rows the last one is computed several times
	for r := range x {
		x[r] = &d.X[min(r, d.Rows-1)*d.LdX]
	}
	switch wide := vnni(); format {
	case "Q8_0":
		if wide {
			bytes4Q80VNNI(d.N, count, x[0], x[1], x[2], x[3], &d.W[0], d.LdW, tail, &d.Dst[0])
		} else {
			bytes4Q80AVX2(d.N, count, x[0], x[1], x[2], x[3], &d.W[0], d.LdW, tail, &d.Dst[0])
		}
	case "Q4_0":
		if wide {
			bytes4Q40VNNI(d.N, count, x[0], x[1], x[2], x[3], &d.W[0], d.LdW, tail, &d.Dst[0])
		} else {
			bytes4Q40AVX2(d.N, count, x[0], x[1], x[2], x[3], &d.W[0], d.LdW, tail, &d.Dst[0])
		}
	case "Q4_1":
		if wide {
			bytes4Q41VNNI(d.N, count, x[0], x[1], x[2], x[3], &d.W[0], d.LdW, tail, &d.Dst[0])
		} else {
			bytes4Q41AVX2(d.N, count, x[0], x[1], x[2], x[3], &d.W[0], d.LdW, tail, &d.Dst[0])
		}
	case "Q5_0":
		if wide {
			bytes4Q50VNNI(d.N, count, x[0], x[1], x[2], x[3], &d.W[0], d.LdW, tail, &d.Dst[0])
		} else {
			bytes4Q50AVX2(d.N, count, x[0], x[1], x[2], x[3], &d.W[0], d.LdW, tail, &d.Dst[0])
		}
	case "Q5_1":
		if wide {
			bytes4Q51VNNI(d.N, count, x[0], x[1], x[2], x[3], &d.W[0], d.LdW, tail, &d.Dst[0])
		} else {
			bytes4Q51AVX2(d.N, count, x[0], x[1], x[2], x[3], &d.W[0], d.LdW, tail, &d.Dst[0])
		}
	case "Q4_K":
		if wide {
			bytes4Q4KVNNI(d.N, count, x[0], x[1], x[2], x[3], &d.W[0], d.LdW, tail, &d.Dst[0])
		} else {
			bytes4Q4KAVX2(d.N, count, x[0], x[1], x[2], x[3], &d.W[0], d.LdW, tail, &d.Dst[0])
		}
	case "Q5_K":
		if wide {
			bytes4Q5KVNNI(d.N, count, x[0], x[1], x[2], x[3], &d.W[0], d.LdW, tail, &d.Dst[0])
		} else {
			bytes4Q5KAVX2(d.N, count, x[0], x[1], x[2], x[3], &d.W[0], d.LdW, tail, &d.Dst[0])
		}
	case "Q6_K":
		if wide {
			bytes4Q6KVNNI(d.N, count, x[0], x[1], x[2], x[3], &d.W[0], d.LdW, tail, &d.Dst[0])
		} else {
			bytes4Q6KAVX2(d.N, count, x[0], x[1], x[2], x[3], &d.W[0], d.LdW, tail, &d.Dst[0])
		}
	}
}

func (d *ByteDots) eight(format string, count int, tail *uint8) {
	switch format {
	case "Q8_0":
		bytes8Q80VNNI(d.N, count, &d.X[0], d.LdX, &d.W[0], d.LdW, tail, &d.Dst[0])
	case "Q4_0":
		bytes8Q40VNNI(d.N, count, &d.X[0], d.LdX, &d.W[0], d.LdW, tail, &d.Dst[0])
	case "Q4_1":
		bytes8Q41VNNI(d.N, count, &d.X[0], d.LdX, &d.W[0], d.LdW, tail, &d.Dst[0])
	case "Q5_0":
		bytes8Q50VNNI(d.N, count, &d.X[0], d.LdX, &d.W[0], d.LdW, tail, &d.Dst[0])
	case "Q5_1":
		bytes8Q51VNNI(d.N, count, &d.X[0], d.LdX, &d.W[0], d.LdW, tail, &d.Dst[0])
	case "Q4_K":
		bytes8Q4KVNNI(d.N, count, &d.X[0], d.LdX, &d.W[0], d.LdW, tail, &d.Dst[0])
	case "Q5_K":
		bytes8Q5KVNNI(d.N, count, &d.X[0], d.LdX, &d.W[0], d.LdW, tail, &d.Dst[0])
	case "Q6_K":
		bytes8Q6KVNNI(d.N, count, &d.X[0], d.LdX, &d.W[0], d.LdW, tail, &d.Dst[0])
	}
}

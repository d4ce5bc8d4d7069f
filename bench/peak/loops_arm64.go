package peak

//go:noescape
func fmla128(n int)

// loops uses NEON, which every arm64 processor has, for the products, and plain
// Go for the rest.
func loops() kinds {
	k := generic()
	k.level = "NEON"
	k.fma = loop{fmla128, 192}
	return k
}

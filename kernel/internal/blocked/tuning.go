package blocked

import "github.com/gofx-dev/gofx/kernel/internal/cpu"

// outerWeights is the floats of weights from which on they are not read again for every
// tile of positions: half of the second cache, beside the rows of the image. Tiles are
// the same in any order.
func outerWeights() int { return min(1<<17, cpu.Cache().L2/8) }

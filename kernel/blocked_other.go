//go:build !amd64

package kernel

func blockRows(cpuLevel) (most, ofThree int) { return 8, 0 }

func (c *blockCall) conv(_ cpuLevel, rows, blocks int) { c.convGo(rows, blocks) }

func (c *blockCall) depthwise(_ cpuLevel, rows int) { c.depthwiseGo(rows) }

func (c *blockCall) pool(_ cpuLevel, rows int, most bool) { c.poolGo(rows, most) }

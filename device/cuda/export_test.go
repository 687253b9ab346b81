package cuda

// FreeMemory is the bytes of device memory not in use now, 0 if unknown.
func (g *GPU) FreeMemory() (free int64) {
	g.do(func() (err error) {
		free, _, err = cuMemGetInfo()
		return err
	})
	return free
}

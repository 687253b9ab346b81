package global

import (
	"errors"

	"stenciltune/kernels"
	"stenciltune/space"
	"stenciltune/stencil"
)

// Loads is every point of every cell, as global.cu loads them.
func (Family) Loads(p stencil.Problem, s space.Schedule) (kernels.Loads, error) {
	if err := p.Stencil.Plain(); err != nil {
		return nil, err
	}
	if s.Int("vx", 1) > 1 {
		return nil, errors.New("the loads of vectors are not described; leave out vx")
	}
	h, n := kernels.ShapeOf(s), p.Size
	points := func(list []int64, x, y, z int) []int64 {
		for _, o := range p.Stencil.Points {
			list = append(list, kernels.Nearest(n, x+o[0], y+o[1], z+o[2]))
		}
		return list
	}
	if s.Int("sp", 0) == 1 {
		column := h.Column
		if column == 0 {
			column = n[0]
		}
		return func(block, thread int, list []int64) []int64 {
			x, row := kernels.WalkLine(n[0], n[1]*n[2], column, h.Zigzag, block*h.Threads()+thread)
			if row >= n[1]*n[2] {
				return list
			}
			return points(list, x, row%n[1], row/n[1])
		}, nil
	}
	w := h.Write()
	return func(block, thread int, list []int64) []int64 {
		tile, t := kernels.WalkTile(n, w, h.Column/w[0], h.Zigzag, block), kernels.Unflatten(thread, h.Group)
		for k := range h.Work[2] {
			for j := range h.Work[1] {
				for i := range h.Work[0] {
					list = points(list, tile[0]*w[0]+t[0]+i*h.Group[0], tile[1]*w[1]+t[1]*h.Work[1]+j, tile[2]*w[2]+t[2]*h.Work[2]+k)
				}
			}
		}
		return list
	}, nil
}

// Lists of places: what sources and receivers do after a time step.

__device__ __forceinline__ long long cells_of(const Grid &grid) { return (long long)grid.nx * grid.ny * grid.nz; }

// Stores a value in an element of any type.
template <class Elem> __device__ __forceinline__ void put(Elem *to, T value) { *to = Elem(value); }

package emit

import (
	"fmt"
	"strings"
)

// boxer is a function that reads fields and read-only arrays from stdin, cuts the grid across each axis that it can be cut across, the first of
// these in three and the others in two, and advances the boxes by 2, 2, 2 and 1 steps, all of them from what the whole grid was before. Between the rows and
// planes of a pitched box is nothing that is a number.
func boxer(s Source) string {
	st, e := s.Problem.Stencil, exportsOf(s)
	var sizes []string
	for _, c := range append(e.Cells, e.Elements...) {
		sizes = append(sizes, "sizeof("+c+")")
	}
	indexed, arguments := []string{}, []string{"now", "next"}
	if e.Single() {
		arguments = []string{"now[0]", "next[0]"}
	}
	for i, a := range st.ReadOnly {
		arguments = append(arguments, fmt.Sprintf("(const %s *)given[%d]", e.Elements[i], i))
		if a.Indexed {
			arguments = append(arguments, fmt.Sprintf("length[%d]", i))
		}
		indexed = append(indexed, fmt.Sprint(a.Indexed))
	}
	var wraps []string
	for a := range st.Dims {
		arguments = append(arguments, fmt.Sprintf("m[%d]", a))
		wraps = append(wraps, fmt.Sprint(st.Wraps(a)))
	}
	for a := range e.Leading {
		arguments = append(arguments, fmt.Sprintf("ld[%d]", a))
	}
	arguments = append(arguments, "LAYERS", "steps")
	if e.Iterates {
		arguments = append(arguments, "made + 1")
	}
	for _, a := range st.Scalars {
		arguments = append(arguments, fmt.Sprint(a.Default))
	}
	result := "result"
	if e.Single() {
		result = "&result[0]"
	}
	call := s.Name + "Box(" + strings.Join(append(arguments, result, "0"), ", ") + ")"
	return strings.NewReplacer("NAME", s.Name, "CELL", e.Cell, "SIZES", strings.Join(sizes, ", "), "FIELDS", fmt.Sprint(len(st.Fields)), "ARRAYS", fmt.Sprint(len(st.ReadOnly)), "DIMS", fmt.Sprint(st.Dims),
		"WRAPS", strings.Join(wraps, ", "), "INDEXED", strings.Join(append(indexed, "false"), ", "), "PAD", map[bool]string{true: "3", false: "0"}[e.Pitched()],
		"TOOFEW", strings.ReplaceAll(call, "LAYERS", "few, above"), "SCARCE", strings.ReplaceAll(call, "LAYERS", "below, scarce"), "ONESIDE", strings.ReplaceAll(call, "LAYERS", "alone, none"), "NULLBELOW", strings.ReplaceAll(call, "LAYERS", "0, above"), "BOX", strings.ReplaceAll(call, "LAYERS", "below, above"),
	).Replace(`static int NAME_boxes(const int *n, const long long *length) {
  const bool indexed[ARRAYS + 1] = {INDEXED}, repeats[DIMS] = {WRAPS};
  const size_t stored[FIELDS + ARRAYS] = {SIZES}, cells = (size_t)n[0] * n[1] * n[2];
  std::vector<std::vector<unsigned char>> data(FIELDS + ARRAYS);
  for (int a = 0; a < FIELDS + ARRAYS; a++) {
    data[a].resize(stored[a] * (a < FIELDS ? cells : length[a - FIELDS]));
    if (fread(data[a].data(), 1, data[a].size(), stdin) != data[a].size()) return 2;
  }
  if (NAMEBoxGhosts(DIMS, 1) != -1 || NAMEBoxGhosts(-1, 1) != -1 || NAMEBoxGhosts(0, -1) != -1) return 3;
  int parts[3] = {1, 1, 1}, ways = 0;
  for (int a = 0; a < DIMS; a++) {
    const int depth = NAMEBoxGhosts(a, 2);
    if (depth >= 0 && 2 * depth != NAMEBoxGhosts(a, 4)) return 3;
    if (depth >= 0 && n[a] > 1) parts[a] = ways++ ? 2 : 3;
  }
  if (!ways) return 4;
  for (int made = 0, steps = 2; made < 7; made += steps) {
    if (made == 6) steps = 1;
    auto after = data;
    for (int b = 0; b < parts[0] * parts[1] * parts[2]; b++) {
      const int at[3] = {b % parts[0], b / parts[0] % parts[1], b / parts[0] / parts[1]};
      int from[3], to[3], below[3] = {}, above[3] = {}, few[3] = {}, scarce[3] = {}, alone[3] = {}, none[3] = {}, m[3], ld[3];
      bool cut = false, short_above = false, one_side = false;
      for (int a = 0; a < 3; a++) {
        const int ends[4] = {0, parts[a] > 2 ? n[a] / 3 : n[a] / 2 - n[a] / 8, parts[a] > 2 ? n[a] / 3 * 2 : n[a], n[a]}, depth = parts[a] > 1 ? NAMEBoxGhosts(a, steps) : 0;
        from[a] = ends[at[a]], to[a] = parts[a] > 1 ? ends[at[a] + 1] : n[a];
        if (parts[a] > 1 && (repeats[a] || from[a] > 0)) below[a] = depth;
        if (parts[a] > 1 && (repeats[a] || to[a] < n[a])) above[a] = depth + 1; // more is no harm
        m[a] = to[a] - from[a] + below[a] + above[a], ld[a] = a < DIMS - 1 ? m[a] + PAD : m[a];
        few[a] = below[a], scarce[a] = above[a];
        if (below[a] > 1) few[a]--, cut = true;
        if (above[a] > 2) scarce[a] = 1, short_above = true;
        if (repeats[a] && below[a] > 0) alone[a] = below[a], one_side = true; // and nothing above
      }
      const size_t room = (size_t)ld[0] * ld[1] * ld[2];
      std::vector<unsigned char> host;
      CELL *now[FIELDS], *next[FIELDS], *result[FIELDS];
      void *given[ARRAYS + 1];
      for (int a = 0; a < FIELDS + ARRAYS; a++) {
        const bool as_is = a >= FIELDS && indexed[a - FIELDS];
        const size_t s = stored[a];
        host.assign(as_is ? data[a].size() : room * s, 0xff);
        if (as_is) host = data[a];
        for (int z = 0; z < m[2] && !as_is; z++)
          for (int y = 0; y < m[1]; y++)
            for (int x = 0; x < m[0]; x++) {
              const size_t i = (from[0] - below[0] + x + n[0]) % n[0] + (size_t)n[0] * ((from[1] - below[1] + y + n[1]) % n[1] + (size_t)n[1] * ((from[2] - below[2] + z + n[2]) % n[2]));
              memcpy(&host[((z * (size_t)ld[1] + y) * ld[0] + x) * s], &data[a][i * s], s);
            }
        void *there, *beside;
        if (cudaMalloc(&there, host.size() + 1) || cudaMalloc(&beside, host.size() + 1)) return 5;
        cudaMemcpy(there, host.data(), host.size(), cudaMemcpyHostToDevice);
        if (a < FIELDS) now[a] = (CELL *)there, next[a] = (CELL *)beside;
        else given[a - FIELDS] = there;
      }
      if (cut && !TOOFEW) return 6;
      if (short_above && !SCARCE) return 9;
      if (one_side && !ONESIDE) return 10;
      if (!NULLBELOW) return 11;
      if (BOX) return 7;
      for (int f = 0; f < FIELDS; f++) {
        const size_t s = stored[f];
        host.resize(room * s);
        cudaMemcpy(host.data(), result[f], host.size(), cudaMemcpyDeviceToHost);
        for (int z = from[2]; z < to[2]; z++)
          for (int y = from[1]; y < to[1]; y++)
            for (int x = from[0]; x < to[0]; x++)
              memcpy(&after[f][(x + (size_t)n[0] * (y + (size_t)n[1] * z)) * s], &host[(((z - from[2] + below[2]) * (size_t)ld[1] + y - from[1] + below[1]) * ld[0] + x - from[0] + below[0]) * s], s);
      }
      for (int f = 0; f < FIELDS; f++) cudaFree(now[f]), cudaFree(next[f]);
      for (int a = 0; a < ARRAYS; a++) cudaFree(given[a]);
    }
    data = after;
  }
  for (int f = 0; f < FIELDS; f++)
    if (fwrite(data[f].data(), 1, data[f].size(), stdout) != data[f].size()) return 8;
  return 0;
}
`)
}

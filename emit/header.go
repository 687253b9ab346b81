package emit

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"stenciltune/cache"
	"stenciltune/stencil"
)

// entry is a config as the header lists it.
type entry struct {
	config cache.Config
	device string
	arch   int
}

// entries orders configs by compute capability, device and size, so that the order
// in which they were found does not matter.
func entries(configs []cache.Config) []entry {
	var list []entry
	for _, c := range configs {
		list = append(list, entry{c, plain(c.Device.Name), arch(c)})
	}
	slices.SortStableFunc(list, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.arch, b.arch), cmp.Compare(a.device, b.device), cmp.Compare(a.config.Stencil.Dims, b.config.Stencil.Dims),
			slices.Compare(a.config.Problem.Size, b.config.Problem.Size), cmp.Compare(a.config.Problem.Steps, b.config.Problem.Steps))
	})
	return list
}

// safest is the config for a device nobody tuned for: the one that asks a block for
// the least shared memory, and of these the least threads.
func safest(list []entry) int {
	best := 0
	for i, e := range list {
		l, b := e.config.Launch, list[best].config.Launch
		if cmp.Or(cmp.Compare(l.SharedBytes, b.SharedBytes), cmp.Compare(threads(l), threads(b))) < 0 {
			best = i
		}
	}
	return best
}

func threads(l cache.LaunchInfo) int { return l.Block[0] * l.Block[1] * l.Block[2] }

// quoted is a C string of text that plain has been through, or a checked name.
func quoted(text string) string { return `"` + text + `"` }

// header is for C99, C11 and C++11 and later. The macros and constants are those of
// one device, chosen when the header is compiled; the table holds all, for a choice
// when the program runs. Host and device code must agree, so TUNE_ARCH decides and
// not __CUDA_ARCH__, which only device code has.
func header(s Source) ([]byte, error) {
	list := entries(s.Configs)
	for i := 1; i < len(list); i++ {
		if list[i-1].device == list[i].device && list[i-1].arch == list[i].arch {
			return nil, fmt.Errorf("two configs of %s, for %s and %s: the header has the numbers of one size for a device", list[i].device, sizeText(list[i-1].config), sizeText(list[i].config))
		}
	}
	fallback := safest(list)
	prefix, name := s.prefix(), strings.ToLower(s.Name)
	guard := prefix + "H"
	var b strings.Builder
	b.WriteString("/* " + strings.TrimPrefix(banner(Source{Name: s.Name, Configs: configs(list)}, " *"), " * "))
	fmt.Fprintf(&b, ` *
 * The macros are those of the device whose compute capability is TUNE_ARCH: give
 * the same -DTUNE_ARCH=90 for host and device code. Without it, or for another
 * device, they are those of the schedule that asks least of a GPU.
 */
#ifndef %[1]s
#define %[1]s

`, guard)
	for i, arch := range archs(list) {
		directive := "#elif"
		if i == 0 {
			directive = "#if"
		}
		fmt.Fprintf(&b, "%s defined(TUNE_ARCH) && TUNE_ARCH == %d\n", directive, arch)
		first := slices.IndexFunc(list, func(e entry) bool { return e.arch == arch })
		fmt.Fprintf(&b, "#define %sCONFIG %d\n", prefix, first)
	}
	if len(archs(list)) > 0 {
		fmt.Fprintf(&b, "#else\n#define %[1]sCONFIG %[2]d\n#define %[1]sUNTUNED 1 /* nobody tuned for TUNE_ARCH */\n#endif\n", prefix, fallback)
	} else {
		fmt.Fprintf(&b, "#define %sCONFIG %d\n", prefix, fallback)
	}
	for i, e := range list {
		directive := "#elif"
		if i == 0 {
			directive = "\n#if"
		}
		fmt.Fprintf(&b, "%s %sCONFIG == %d /* %s, %s */\n", directive, prefix, i, e.device, sizeText(e.config))
		for _, v := range variables(e.config) {
			value := v.value
			if !v.number && v.name != "ELEMENT" {
				value = quoted(value)
			}
			fmt.Fprintf(&b, "#define %s%s %s /* %s */\n", prefix, v.name, value, v.doc)
		}
	}
	b.WriteString("#endif\n")
	c := list[0].config
	elem := element(s.dtype())
	bytes := stencil.DType(c.Stencil.DType).Size()
	fmt.Fprintf(&b, `
/* %[1]s_config is how one device runs it best. Order x, y, z. */
typedef struct {
  const char *device; /* as the driver names it, quotes and the like made _ */
  int arch;           /* compute capability times ten, 0 if there is none */
  const char *schedule, *entry;
  int size[3], grid[3], block[3], shared_bytes, steps_per_launch;
  double seconds_per_step;
} %[1]s_config;

static const %[1]s_config %[1]s_configs[%[2]d] = {
`, name, len(list))
	for _, e := range list {
		c, l := e.config, e.config.Launch
		fmt.Fprintf(&b, "    {%s, %d, %s, %s, %s, %s, %s, %d, %d, %s},\n", quoted(e.device), e.arch, quoted(c.Schedule.Text), quoted(c.Kernel.Entry),
			braces(size(c)), braces(l.Grid), braces(l.Block), l.SharedBytes, l.StepsPerLaunch, number(secondsOf(c)))
	}
	fmt.Fprintf(&b, `};

/* The config of a device by the name the driver gives it, or the safe one. */
static inline const %[1]s_config *%[1]s_for_device(const char *device) {
  int i;
  for (i = 0; i < %[2]d; i++) {
    const char *a = %[1]s_configs[i].device, *b = device;
    while (*a && *a == *b) a++, b++;
    if (*a == *b) return &%[1]s_configs[i];
  }
  return &%[1]s_configs[%[3]d];
}
`, name, len(list), fallback)
	if err := s.stepped(); err == nil {
		fmt.Fprintf(&b, `
/* What the emitted CUDA source (tune emit --format cu --name %s) exports. */
#ifdef __cplusplus
extern "C" {
#endif
%s#ifdef __cplusplus
}
#endif
`, s.Name, s.prototypes())
	} else {
		fmt.Fprintf(&b, "\n/* No prototypes of an emitted CUDA source: %s. */\n", plain(err.Error()))
	}
	// A 16-bit floating-point type has several names, and none in C.
	same, generic := fmt.Sprintf(`template <class T> struct is_element { static constexpr bool value = false; };
template <> struct is_element<%s> { static constexpr bool value = true; };`, elem), fmt.Sprintf("_Generic((T)0, %s : 1, default : 0)", elem)
	if elem != s.dtype().C() {
		same, generic = "template <class T> struct is_element { static constexpr bool value = sizeof(T) == 2; };", "sizeof(T) == 2"
	}
	if long := strings.TrimSuffix(elem, " long"); long != elem { // int64_t is either of the two
		same += fmt.Sprintf("\ntemplate <> struct is_element<%s> { static constexpr bool value = sizeof(%[1]s) == sizeof(element); };", long)
		generic = fmt.Sprintf("_Generic((T)0, %s : 1, %s : sizeof(%[2]s) == %d, default : 0)", elem, long, bytes)
	}
	fmt.Fprintf(&b, `
/* %[2]sASSERT_ELEMENT(T); refuses, when compiled, arrays of another type than %[5]s. */
#ifdef __cplusplus
namespace tune {
namespace %[1]s {
typedef %[3]s element;
%[6]s
static_assert(sizeof(element) == %[4]d, "%[3]s must have %[4]d bytes");
`, name, prefix, elem, bytes, s.dtype().C(), same)
	for _, v := range variables(c) {
		switch _, err := strconv.Atoi(v.value); {
		case strings.HasPrefix(v.name, "PARAM_"), strings.HasPrefix(v.name, "REMAINDER_"), v.name == "ELEMENT":
		case !v.number:
			fmt.Fprintf(&b, "constexpr const char *%s = %s%s;\n", strings.ToLower(v.name), prefix, v.name)
		case err != nil:
			fmt.Fprintf(&b, "constexpr double %s = %s%s;\n", strings.ToLower(v.name), prefix, v.name)
		default:
			fmt.Fprintf(&b, "constexpr int %s = %s%s;\n", strings.ToLower(v.name), prefix, v.name)
		}
	}
	fmt.Fprintf(&b, `} /* namespace %[1]s */
} /* namespace tune */
#define %[2]sASSERT_ELEMENT(T) static_assert(::tune::%[1]s::is_element<T>::value, "%[4]s was tuned for %[7]s")
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
_Static_assert(sizeof(%[3]s) == %[5]d, "%[3]s must have %[5]d bytes");
#define %[2]sASSERT_ELEMENT(T) _Static_assert(%[8]s, "%[4]s was tuned for %[7]s")
#else
#define %[2]sASSERT_ELEMENT(T) typedef char %[1]s_element_has_another_size[sizeof(T) == %[5]d ? 1 : -1]
#endif

#endif /* %[6]s */
`, name, prefix, elem, s.Name, bytes, guard, s.dtype().C(), generic)
	return []byte(b.String()), nil
}

func configs(list []entry) []cache.Config {
	var cs []cache.Config
	for _, e := range list {
		cs = append(cs, e.config)
	}
	return cs
}

// archs are the compute capabilities of a list, ascending.
func archs(list []entry) []int {
	var as []int
	for _, e := range list {
		if e.arch > 0 && !slices.Contains(as, e.arch) {
			as = append(as, e.arch)
		}
	}
	return as
}

func braces[N ~[3]int](v N) string { return fmt.Sprintf("{%d, %d, %d}", v[0], v[1], v[2]) }

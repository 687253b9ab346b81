package main

import (
	"bytes"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stenciltune/cmd/internal/cli"
)

var (
	flagDamages    = flag.Int("damages", 6, "damage a store at so many places, a page or a bit in turn, under every command that reads")
	flagDamageSeed = flag.Uint64("damage-seed", 20261127, "seed of the places")
)

// spoil writes a copy of a store that was changed.
func spoil(t *testing.T, store string, change func([]byte) []byte) string {
	t.Helper()
	data, err := os.ReadFile(store)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "spoilt.db")
	if err := os.WriteFile(file, change(data), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// readers are the commands that read a store; sound is another one.
func readers(t *testing.T, sound string) [][]string {
	at := []string{"--stencil", "jacobi3d", "--device"}
	return [][]string{
		{"store", "list"}, {"store", "list", "--json"}, {"store", "show"}, {"store", "export"}, {"store", "export", "--journal"},
		{"store", "export", "-o", filepath.Join(t.TempDir(), "out")}, {"store", "check"}, {"store", "check", "--json"}, {"store", "diff", sound},
		{"store", "prune", "--stale"}, append([]string{"best"}, append(at, "h200")...), append([]string{"best"}, append(at, "replay:h200")...),
		append([]string{"emit", "--format", "header"}, append(at, "h200")...),
		{"report", "-o", filepath.Join(t.TempDir(), "page.html")}, {"plot", "finals"},
	}
}

// Every command that reads a store says that it is damaged, and none calls nothing found what
// could not be read.
func TestDamageIsSaid(t *testing.T) {
	sound := replayed(t)
	records := func(data []byte) []byte { // in each is a schedule
		return bytes.ReplaceAll(data, []byte(`"schedule"`), []byte(`"schedulf"`))
	}
	meta := func(page int) func([]byte) []byte {
		return func(data []byte) []byte {
			data = bytes.Clone(data)
			clear(data[page*os.Getpagesize():][:64])
			return data
		}
	}
	for _, c := range []struct {
		name   string
		change func([]byte) []byte
		words  string
		left   bool // something that may answer
	}{
		{"records", records, "damaged records", false},
		{"first meta page", meta(0), "meta pages", true},
		{"second meta page", meta(1), "meta pages", true},
	} {
		for _, args := range readers(t, sound) {
			code, _, stderr := tune(t, spoil(t, sound, c.change), args...)
			answered := c.left && args[0] != "store" && code == cli.OK
			if code != cli.StoreCorrupt && !answered || strings.Count(stderr, c.words) != 1 || strings.Contains(stderr, "is empty") {
				t.Errorf("%s: tune %s: exit %d\n%s", c.name, strings.Join(args, " "), code, stderr)
			}
		}
		for _, args := range [][]string{{"store", "merge", spoil(t, sound, c.change)}, {"store", "diff", spoil(t, sound, c.change)}} {
			if code, _, stderr := tune(t, spoil(t, sound, bytes.Clone), args...); code != cli.StoreCorrupt || strings.Count(stderr, c.words) != 1 {
				t.Errorf("%s: tune %s: exit %d\n%s", c.name, strings.Join(args, " "), code, stderr)
			}
		}
		// What is damaged is measured again.
		if code, _, stderr := tune(t, spoil(t, sound, c.change), "--stencil", "jacobi3d", "--device", "replay:h200", "--budget", "10", "--strategy", "model"); code != 0 || strings.Count(stderr, c.words) != 1 {
			t.Errorf("%s: tune: exit %d\n%s", c.name, code, stderr)
		}
	}
	if code, _, stderr := tune(t, sound, "store", "check"); code != 0 {
		t.Errorf("the sound one: exit %d\n%s", code, stderr)
	}
}

// A page that is lost, or a bit that flips, is said by each command that reads, or it answers as from the sound store: it lay where that command reads
// nothing.
func TestEveryCommandSaysItOrAnswersAlike(t *testing.T) {
	sound, size := replayed(t), os.Getpagesize()
	info, err := os.Stat(sound)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(*flagDamageSeed, 1))
	pages := r.Perm(int(info.Size())/size - 2)
	answer := func(change func([]byte) []byte, args []string) (int, string, string) {
		path := spoil(t, sound, change)
		code, stdout, stderr := tune(t, path, args...)
		return code, strings.ReplaceAll(stdout, path, "STORE"), stderr
	}
	commands := slices.DeleteFunc(readers(t, sound), func(args []string) bool { return args[0] == "store" && args[1] == "prune" }) // which writes
	type right struct {
		code   int
		stdout string
	}
	var wanted []right
	for _, args := range commands {
		code, stdout, _ := answer(bytes.Clone, args)
		wanted = append(wanted, right{code, stdout})
	}
	said, alike := 0, 0
	for n := 0; n < *flagDamages || said == 0 && n < 2*len(pages); n++ { // many pages of a young store are free, and which ones differs
		page, flipped := 2+pages[n/2%len(pages)], n%2 == 1
		at, bit := page*size+r.IntN(size), r.IntN(8)
		change := func(data []byte) []byte {
			data = bytes.Clone(data)
			if flipped {
				data[at] ^= 1 << bit
			} else {
				clear(data[page*size : (page+1)*size])
			}
			return data
		}
		for i, args := range commands {
			want := wanted[i]
			code, stdout, stderr := answer(change, args)
			switch {
			case code == cli.StoreCorrupt || strings.Contains(stderr, "damaged") || strings.Contains(stderr, "may be lost"):
				said++
			case code == want.code && stdout == want.stdout:
				alike++
			default:
				t.Errorf("page %d of %d, flipped %v (byte %d, bit %d): tune %s: exit %d where %d is right\n%s", page, len(pages), flipped, at, bit, strings.Join(args, " "), code, want.code, stderr)
			}
		}
	}
	t.Logf("seed %d: %d answers say a damage, %d are the sound store's", *flagDamageSeed, said, alike)
	if said == 0 {
		t.Error("nothing is said of any damage")
	}
}

// A config whose name is damaged is found by nobody who asks for it: that is said, and not that nothing is stored.
func TestAConfigWithADamagedNameIsSaid(t *testing.T) {
	sound := replayed(t)
	data, err := os.ReadFile(sound)
	if err != nil {
		t.Fatal(err)
	}
	name, hidden := []byte("v1 stencil="), 0
	for at := 0; ; at++ {
		next := bytes.Index(data[at:], name)
		if next < 0 {
			break
		}
		at += next
		bad := spoil(t, sound, func(data []byte) []byte {
			data = bytes.Clone(data)
			data[at+len(name)+20] ^= 16 // in the stencil's hash
			return data
		})
		code, _, stderr := tune(t, bad, "best", "--stencil", "jacobi3d", "--device", "replay:h200")
		if code == cli.StoreCorrupt && strings.Contains(stderr, "damaged") {
			hidden++
		} else if code != cli.OK {
			t.Errorf("byte %d: exit %d\n%s", at, code, stderr)
		}
	}
	if hidden == 0 {
		t.Error("no name was that of the config")
	}
}

func TestARepairSavesWhatIsReadable(t *testing.T) {
	sound := replayed(t)
	_, want, _ := tune(t, sound, "store", "export", "--journal")
	size := os.Getpagesize()
	for page := 2; page < 8; page++ {
		bad := spoil(t, sound, func(data []byte) []byte {
			data = bytes.Clone(data)
			clear(data[page*size : (page+1)*size])
			return data
		})
		saved := filepath.Join(t.TempDir(), "saved.db")
		code, _, stderr := tune(t, bad, "store", "check", "--repair", saved)
		if code != cli.OK && code != cli.StoreCorrupt || !strings.Contains(stderr, "saved in "+saved) {
			t.Errorf("page %d: exit %d\n%s", page, code, stderr)
		}
		_, got, _ := tune(t, saved, "store", "export", "--journal")
		for line := range strings.Lines(got) {
			if !strings.Contains(want, line) {
				t.Errorf("page %d: another record: %s", page, line)
			}
		}
		if a, b := strings.Count(got, "\n"), strings.Count(want, "\n"); a < b*3/4 {
			t.Errorf("page %d: %d of %d records saved", page, a, b)
		}
		if code, _, _ := tune(t, bad, "store", "check", "--repair", saved); code != cli.Usage {
			t.Errorf("page %d: a file was written over: exit %d", page, code)
		}
	}
}

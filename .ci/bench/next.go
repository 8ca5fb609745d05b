package main

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// nextDir is a module of its own: claw does not depend on the parsers of others.
const nextDir = ".ci/bench/next"

// next is what finding the next time of an expression takes, beside the parsers
// of others. The row is that of the expression with the highest ratio.
func next(b *bench) []row {
	const name = "cron: Next"
	if _, err := os.Stat(filepath.Join(nextDir, "go.mod")); err != nil {
		return []row{skipped(name, nextDir+" is not here: run it from the root of the repository")}
	}
	if out, err := goTest("-run", "xxx"); err != nil {
		return []row{skipped(name, "its peers cannot be built: "+lastLine(out))}
	}
	if out, err := goTest("-run", "TestAllAgree"); err != nil {
		b.fault("claw and its peers do not agree on the next time: %s", out)
		return nil
	}
	out, err := goTest("-run", "xxx", "-bench", "BenchmarkNext$", "-benchtime", map[bool]string{false: "200ms", true: "30ms"}[b.quick])
	if err != nil {
		return []row{skipped(name, lastLine(out))}
	}
	return []row{worstOf(name, parseBenchmarks(out))}
}

func goTest(args ...string) (string, error) {
	c := exec.Command("go", append([]string{"test"}, args...)...)
	c.Dir = nextDir
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := c.CombinedOutput()
	return string(out), err
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// parseBenchmarks reads lines like "BenchmarkNext/claw/0_9_*_*_1-5-2 521062
// 114.1 ns/op" into ns by expression and by who took them.
func parseBenchmarks(out string) map[string]map[string]float64 {
	all := map[string]map[string]float64{}
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		if len(f) < 4 || f[3] != "ns/op" || !strings.HasPrefix(f[0], "Benchmark") {
			continue
		}
		_, rest, _ := strings.Cut(f[0], "/")
		who, expr, _ := strings.Cut(rest, "/")
		if i := strings.LastIndexByte(expr, '-'); i > 0 {
			expr = expr[:i] // the number of cores
		}
		ns, err := strconv.ParseFloat(f[2], 64)
		if err != nil {
			continue
		}
		if all[expr] == nil {
			all[expr] = map[string]float64{}
		}
		all[expr][who] = ns
	}
	return all
}

func worstOf(name string, all map[string]map[string]float64) row {
	worst, at := skipped(name, "no figures"), math.Inf(-1)
	for expr, ns := range all {
		first, second := "robfig", "gronx"
		if ns[second] < ns[first] {
			first, second = second, first
		}
		r := newRow(name, "ns", ns, "claw", first, second)
		r.Note = fmt.Sprintf("the worst of %d expressions: %s", len(all), strings.ReplaceAll(expr, "_", " "))
		if r.Ratio > at {
			worst, at = r.atMost(2), r.Ratio
		}
	}
	return worst
}

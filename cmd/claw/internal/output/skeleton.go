package output

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"
)

type Streams struct {
	Out, Err       io.Writer
	OutTTY, ErrTTY bool
}

func Standard(getenv func(string) string) *Streams {
	return &Streams{Out: os.Stdout, Err: os.Stderr, OutTTY: term.IsTerminal(1), ErrTTY: term.IsTerminal(2)}
}

func (s *Streams) SetColor(mode string) {}
func (s *Streams) Flush() error         { return nil }
func (s *Streams) JSON(v any) error {
	enc := json.NewEncoder(s.Out)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

type Table struct {
	Columns []Column
	Rows    [][]string
}
type Column struct {
	Name               string
	Right, Flex, State bool
}

func (s *Streams) Table(t Table) error {
	for _, r := range t.Rows {
		fmt.Fprintln(s.Out, strings.Join(r, "\t"))
	}
	return nil
}

func (s *Streams) Pairs(p [][2]string) error {
	for _, r := range p {
		fmt.Fprintln(s.Out, r[0]+"\t"+r[1])
	}
	return nil
}
func (s *Streams) Note(text string) { fmt.Fprintln(s.Err, "claw: "+text) }
func (s *Streams) Say(text string, next ...string) {
	fmt.Fprintln(s.Err, "claw: "+text)
	for _, n := range next {
		fmt.Fprintln(s.Err, "      "+n)
	}
}
func (s *Streams) Error(text string, remedy ...string) { s.Say(text, remedy...) }
func (s *Streams) HelpWidth() int                      { return 80 }
func Ago(t, now time.Time) string                      { return now.Sub(t).Round(time.Second).String() + " ago" }

package output

import (
	"io"
	"slices"
	"strings"

	"github.com/mattn/go-runewidth"
	"github.com/pterm/pterm"
)

// gap separates the columns on a terminal.
const gap = "  "

// minFlex is how narrow a flexible column may get before it is left out.
const minFlex = 6

// minFirst is what the first column keeps in any case. The names that claw
// gives, and its ids, are not longer.
const minFirst = 26

// Column is one column of a table.
type Column struct {
	Name  string // its header, only on a terminal
	State bool   // coloured by its value
	Right bool   // aligned to the right, for numbers
	Flex  bool   // may be shortened with … to fit the terminal
}

// Table is rows of values. On a terminal flexible columns are shortened, widest
// first, and when that is not enough columns are left out from the right. The
// first column is what people copy: names of a usual length stay whole, and one
// long name must not take the other columns away from all rows.
type Table struct {
	Columns []Column
	Rows    [][]string // as they are; missing cells are empty, further ones ignored
}

// Table writes t: aligned with a header on a terminal, else one line a row with
// tabs between escaped full values (Escape) and no header.
func (s *Streams) Table(t Table) error {
	render := t.lines
	if s.OutTTY {
		render = func() (string, error) { return s.aligned(t) }
	}
	text, err := render()
	if err != nil {
		return err
	}
	_, err = io.WriteString(s.Out, text)
	return err
}

func (t Table) cell(row, column int) string {
	if column < len(t.Rows[row]) {
		return t.Rows[row][column]
	}
	return ""
}

// lines is the table for other programs.
func (t Table) lines() (string, error) {
	var b strings.Builder
	for r := range t.Rows {
		for c := range t.Columns {
			if c > 0 {
				b.WriteByte('\t')
			}
			b.WriteString(Escape(t.cell(r, c)))
		}
		b.WriteByte('\n')
	}
	return b.String(), nil
}

// aligned is the table for people, rendered by pterm.
func (s *Streams) aligned(t Table) (string, error) {
	data := t.display()
	widths := fit(measure(data), t.Columns, s.width())
	shown := make(pterm.TableData, len(data))
	for r, row := range data {
		for c, text := range row {
			if widths[c] > 0 {
				shown[r] = append(shown[r], s.dress(t.Columns[c], text, widths[c], r == 0))
			}
		}
	}
	text, err := pterm.TablePrinter{Data: shown, Separator: gap, LeftAlignment: true}.Srender()
	if err != nil {
		return "", err
	}
	return trimLines(text), nil
}

// display is the header and all rows, safe and on one line each.
func (t Table) display() [][]string {
	data := make([][]string, len(t.Rows)+1)
	for c := range t.Columns {
		data[0] = append(data[0], t.Columns[c].Name)
		for r := range t.Rows {
			data[r+1] = append(data[r+1], oneLine(t.cell(r, c)))
		}
	}
	return data
}

func measure(data [][]string) []int {
	widths := make([]int, len(data[0]))
	for _, row := range data {
		for c, text := range row {
			widths[c] = max(widths[c], runewidth.StringWidth(text))
		}
	}
	return widths
}

// fit gives every column its width, 0 for those that are left out.
func fit(natural []int, columns []Column, width int) []int {
	for n := len(natural); ; n-- {
		widths := slices.Clone(natural)
		clear(widths[n:])
		if shrink(widths[:n], columns, width) || n <= 1 {
			return widths
		}
	}
}

// shrink takes from the widest flexible column, again and again, until the row
// fits. It is false when it does not.
func shrink(widths []int, columns []Column, width int) bool {
	over := len(gap) * (len(widths) - 1)
	for _, w := range widths {
		over += w
	}
	for over -= width; over > 0; over-- {
		widest := -1
		for c, w := range widths {
			least := minFlex
			if c == 0 {
				least = minFirst
			}
			if (c == 0 || columns[c].Flex) && w > least && (widest < 0 || w > widths[widest]) {
				widest = c
			}
		}
		if widest < 0 {
			return false
		}
		widths[widest]--
	}
	return true
}

// dress shortens, aligns and colours one cell.
func (s *Streams) dress(c Column, text string, width int, header bool) string {
	if runewidth.StringWidth(text) > width {
		text = runewidth.Truncate(text, width, "…")
	}
	pad := ""
	if c.Right {
		pad = strings.Repeat(" ", max(0, width-runewidth.StringWidth(text)))
	}
	style := ""
	switch {
	case header:
		style = bold
	case c.State:
		style = styleOf(text)
	}
	return pad + paint(text, style, s.colored(s.OutTTY))
}

// trimLines removes the blanks at line ends, which make a narrow terminal wrap.
func trimLines(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return b.String()
}

// Pairs writes names and values, one pair a line or, for a value of several
// lines on a terminal, one block. Elsewhere it is name, tab, escaped value.
func (s *Streams) Pairs(pairs [][2]string) error {
	width := 0
	for _, p := range pairs {
		width = max(width, runewidth.StringWidth(p[0]))
	}
	var b strings.Builder
	for _, p := range pairs {
		if !s.OutTTY {
			b.WriteString(Escape(p[0]) + "\t" + Escape(p[1]) + "\n")
			continue
		}
		name := p[0] + strings.Repeat(" ", width-runewidth.StringWidth(p[0]))
		value := strings.ReplaceAll(Safe(p[1]), "\n", "\n"+strings.Repeat(" ", width)+gap)
		b.WriteString(strings.TrimRight(paint(name, dim, s.colored(true))+gap+value, " ") + "\n")
	}
	_, err := io.WriteString(s.Out, b.String())
	return err
}

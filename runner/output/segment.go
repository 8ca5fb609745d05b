package output

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
)

// The cap on the bytes kept for one process (design.md section 7).
const (
	DefaultCap = 64 << 20
	MinCap     = 64 << 10
)

const (
	headName    = "output"
	indexSuffix = ".index"
	digits      = 20 // of the start offset in a name: names sort as numbers do

	maxHead      = 1 << 30
	maxSegment   = 128 << 20 // bounds what Totals has to count in the last segment
	minIndex     = 64 << 10  // an index may grow to a quarter of its segment, but not less than this
	spareSegment = 64        // short segments (after failed writes) tolerated before they count against the cap
)

// plan is how a cap is divided.
type plan struct {
	head    int64 // bytes of the first segment
	segment int64 // bytes of each later one
	tail    int64 // bytes of all later ones together
	count   int   // number of later ones
}

func planFor(limit int64) plan {
	if limit <= 0 {
		limit = DefaultCap
	}
	limit = max(limit, MinCap)
	p := plan{head: min(limit/4, maxHead), segment: min(limit/8, maxSegment)}
	p.tail = limit - p.head
	p.count = int(p.tail/p.segment) + spareSegment
	return p
}

// size is the limit of the segment that starts at start.
func (p plan) size(start int64) int64 {
	if start == 0 {
		return p.head
	}
	return p.segment
}

// index is the limit of that segment's index, in bytes.
func (p plan) index(start int64) int64 { return max(p.size(start)/4, minIndex) }

// tailIndex is the limit of the indexes of all tail segments together.
func (p plan) tailIndex() int64 { return p.tail / p.segment * p.index(1) }

// segment is one file of captured bytes, as found or as written.
type segment struct {
	start     int64 // offset of its first byte in the whole output
	size      int64 // bytes in it
	startLine int64 // line ends before start, counting what was dropped
	startBOL  bool  // the byte before start ended a line
	lines     int64 // line ends in it
	index     int64 // bytes of its index
}

func (s segment) end() int64 { return s.start + s.size }

// segmentName is the file name for a start offset; 0 is the head.
func segmentName(start int64) string {
	if start == 0 {
		return headName
	}
	n := strconv.FormatInt(start, 10)
	return headName + "." + strings.Repeat("0", digits-len(n)) + n
}

// parseName is the inverse of segmentName, also for the index of a segment.
func parseName(name string) (start int64, index, ok bool) {
	name, index = strings.CutSuffix(name, indexSuffix)
	if name == headName {
		return 0, index, true
	}
	num, found := strings.CutPrefix(name, headName+".")
	if !found || len(num) != digits || num[0] < '0' || num[0] > '9' {
		return 0, false, false
	}
	start, err := strconv.ParseInt(num, 10, 64)
	return start, index, err == nil && start > 0
}

// listing is what stands in the folder of a process, by start offset.
type listing struct {
	segments []int64
	indexes  []int64
}

func list(fsys FS, dir string) (listing, error) {
	var l listing
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return l, err
	}
	for _, e := range entries {
		switch start, index, ok := parseName(e.Name()); {
		case !ok:
		case index:
			l.indexes = append(l.indexes, start)
		case e.Type().IsRegular(): // a folder or a link in a segment's place is a segment that is gone
			l.segments = append(l.segments, start)
		}
	}
	sort.Slice(l.segments, func(i, j int) bool { return l.segments[i] < l.segments[j] })
	return l, nil
}

// errVanished tells a segment that was removed between being listed and
// being opened: it has been dropped, which is no error.
var errVanished = errors.New("segment has vanished")

// openSegment is one segment opened for reading. The size is taken before
// the number of records, so that every byte below it has its record.
type openSegment struct {
	data  File
	index File // nil when missing
	info  fs.FileInfo
	size  int64
	table table
}

func openForReading(fsys FS, dir string, start int64) (*openSegment, error) {
	name := filepath.Join(dir, segmentName(start))
	// The index first: it is removed last, so if it is missing while the
	// segment is there, somebody else has removed it.
	index, indexErr := fsys.OpenFile(name+indexSuffix, readFlags, 0)
	data, err := fsys.OpenFile(name, readFlags, 0)
	if err != nil {
		if indexErr == nil {
			index.Close()
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil, errVanished
		}
		return nil, err
	}
	s := &openSegment{data: data}
	if indexErr == nil {
		s.index = index
	}
	if s.info, err = data.Stat(); err != nil {
		s.Close()
		return nil, err
	}
	if !s.info.Mode().IsRegular() {
		s.Close()
		return nil, errVanished
	}
	s.size = s.info.Size()
	s.table = openTable(s.index, start)
	return s, nil
}

func (s *openSegment) Close() {
	s.data.Close()
	if s.index != nil {
		s.index.Close()
	}
}

// inspect measures a segment without reading its bytes where its index knows
// the answer. It ends at limit at the latest. prev is the segment before it,
// for a header that is missing.
func inspect(fsys FS, dir string, start, limit int64, prev segment) (segment, error) {
	o, err := openForReading(fsys, dir, start)
	if err != nil {
		return segment{}, err
	}
	defer o.Close()
	s := segment{start: start, size: min(o.size, limit-start), index: o.table.bytes, startBOL: true}
	switch {
	case o.table.valid:
		s.startLine, s.startBOL = o.table.head.lines, o.table.head.bol
	case start > 0:
		s.startLine = prev.startLine + prev.lines
	}
	if lines, ok := o.table.sealed(s.size); ok {
		s.lines = lines
		return s, nil
	}
	s.lines, err = countLines(o.data, s.size)
	return s, err
}

// countLines counts the line ends in the first size bytes.
func countLines(f io.ReaderAt, size int64) (int64, error) {
	var n int64
	buf := make([]byte, min(size, 256<<10))
	for off := int64(0); off < size; {
		k, err := f.ReadAt(buf[:min(int64(len(buf)), size-off)], off)
		n += int64(bytes.Count(buf[:k], newline))
		off += int64(k)
		if err == io.EOF || k == 0 && err == nil {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

var newline = []byte{'\n'}

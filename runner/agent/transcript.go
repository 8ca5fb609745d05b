package agent

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"claw/state"
	"claw/state/heartbeat"
	"claw/state/session"
)

// transcriptExt is the file a transcript is in, beside its lane.
const transcriptExt = ".jsonl"

// How much of the end of a transcript is read: for what an agent is shown, and
// at first for what a turn adds. Transcripts grow for years.
const (
	contextBytes = 4 << 20
	tailBytes    = 128 << 10
)

// turnLines is the most lines that one turn has in a transcript: message,
// answer, and a structured answer with its receipt.
const turnLines = 4

// input is what the agent reads, and each hook before it: the message, behind
// the conversation for an agent that does not remember one.
func (x *run) input() (string, error) {
	message := x.turn.Message
	if x.turn.Kind != session.KindUser && !strings.HasSuffix(message, "\n") {
		message += "\n" // a shell that reads lines must not miss the last
	}
	if x.agent.Context != "transcript" || x.req.Light {
		return message, nil
	}
	tr, err := x.tail(x.turn.SessionKey, contextBytes, 0)
	if err != nil || tr.Header.ID != x.turn.SessionID {
		return message, err
	}
	f := session.Filter{IsAck: heartbeat.IsAck, PureAck: heartbeat.PureAck, AckMaxChars: x.agent.AckMaxChars}
	return session.Context(tr.Entries, f, session.ContextChars) + message, nil
}

// record writes what the transcript lacks of a turn that ends as t says. An
// agent that saw nothing has no part in the conversation: neither has its turn.
//
// It is called before the end is committed, and again by whoever ends the turn
// if that never happened: what is there is not written twice, and no ended
// turn lacks its lines.
func (r *Turns) record(t session.Turn, reply string) error {
	if t.Status == session.TurnBlocked || t.Status == session.TurnNotAccepted {
		return nil
	}
	tr, err := r.tail(t.SessionKey, tailBytes, turnLines)
	if err != nil {
		return err
	}
	if tr.Header.ID != "" && tr.Header.ID != t.SessionID {
		// A new transcript was begun and the old one left lying.
		if _, err := r.putAside(t.SessionKey, session.ArchiveReset); err != nil {
			return err
		}
		tr = session.Transcript{}
	}
	h := session.NewHeader(session.Session{Key: t.SessionKey, ID: t.SessionID, Agent: t.Agent, CreatedAt: t.CreatedAt}, r.Agent(t.Agent).Workdir)
	more, err := tr.Missing(h, session.TurnEntries(t, reply)...)
	if err != nil || len(more) == 0 {
		return err
	}
	return r.appendTo(file(r.Store, t.SessionKey, transcriptExt), more)
}

// appendTo adds whole lines to a file and waits for the disk.
func (r *Turns) appendTo(path string, lines []byte) (err error) {
	fsys := r.Store.FS()
	_, statErr := fsys.Lstat(path)
	f, err := fsys.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(lines)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil && errors.Is(statErr, fs.ErrNotExist) {
		err = fsys.SyncDir(filepath.Dir(path))
	}
	return err
}

// tail reads the end of a transcript, n bytes or more, with its header, and
// with at least so many lines; all of it where it is shorter. One that does
// not exist is empty.
func (r *Turns) tail(key string, n int64, lines int) (session.Transcript, error) {
	f, err := r.Store.FS().OpenFile(file(r.Store, key, transcriptExt), os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return session.Transcript{}, nil
	}
	if err != nil {
		return session.Transcript{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return session.Transcript{}, err
	}
	for ; ; n *= 2 {
		from := max(0, info.Size()-n)
		buf := make([]byte, info.Size()-from)
		if k, err := f.ReadAt(buf, from); k < len(buf) {
			return session.Transcript{}, err
		}
		if from == 0 {
			return session.Decode(buf), nil
		}
		if bytes.Count(buf, []byte{'\n'}) <= lines {
			continue
		}
		head := make([]byte, 8<<10)
		k, _ := f.ReadAt(head, 0)
		head, _, _ = bytes.Cut(head[:k], []byte{'\n'})
		tr := session.Decode(buf[bytes.IndexByte(buf, '\n')+1:])
		tr.Header = session.Decode(head).Header
		return tr, nil
	}
}

// putAside moves the transcript of a session out of the way, and returns where
// it is now; "" when there was none. Those of isolated turns, also of those that
// automations or messages from outside have a session for, are not worth keeping:
// their turns have all that was said, and each minute would leave one.
func (r *Turns) putAside(key, why string) (archive string, err error) {
	fsys, path := r.Store.FS(), file(r.Store, key, transcriptExt)
	if _, err := fsys.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if k, err := session.Parse(key); err == nil && (k.Isolated || k.Kind == session.KeyCron || k.Kind == session.KeyHook) && why == session.ArchiveReset {
		return "", fsys.Remove(path)
	}
	archive = filepath.Join(filepath.Dir(path), session.ArchiveName(key, why, r.Clock.Now()))
	if err := fsys.Rename(path, archive); err != nil {
		return "", &state.Error{Op: "put aside", Path: path, Why: err.Error(), Hint: "claw doctor says what is wrong with the state directory", Err: err}
	}
	return archive, fsys.SyncDir(filepath.Dir(path))
}

// Transcript reads the transcript of a session, whole: raw are its bytes.
func (r *Turns) Transcript(key string) (tr session.Transcript, raw []byte, err error) {
	raw, err = os.ReadFile(file(r.Store, key, transcriptExt))
	if errors.Is(err, fs.ErrNotExist) {
		return tr, nil, nil
	}
	return session.Decode(raw), raw, err
}

// stamped is a turn as the end e will make it, as far as a transcript knows.
func (r *Turns) stamped(t session.Turn, e ending) session.Turn {
	if row, ok, err := r.turn(t.ID); err == nil && ok {
		t = row // with what heartbeat respond said meanwhile
	}
	e.apply(&t, r.Clock.Now())
	return t
}

// noted adds to an ending that its transcript could not be written: the turn
// ends all the same, its row and its output have the reply.
func (e ending) noted(err error) ending {
	if err != nil {
		e.error = strings.TrimPrefix(e.error+"; the transcript could not be written: "+err.Error(), "; ")
	}
	return e
}

package output_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"claw/cmd/claw/internal/output"
)

// Drawn by hand: what a person sees of the inbox of tour.md, and of an agent's
// answer in one long line.
func TestMessages(t *testing.T) {
	all := []output.Message{
		{New: true, When: "14:02", Title: "./train.sh finished in 3h12m (exit 0)", From: "silver-gull", Body: "epoch 40/40 · val_loss 0.231\n"},
		{When: "14:05", Title: "The build is done: built in 61.2s. I have updated the changelog.", From: "foggy-ridge"},
		{When: "Sun 9:01", Title: "no source"},
	}
	for _, row := range []struct {
		width int
		want  string
	}{
		{80, `
● 14:02     ./train.sh finished in 3h12m (exit 0)                    silver-gull
            epoch 40/40 · val_loss 0.231
  14:05     The build is done: built in 61.2s. I have updated the    foggy-ridge
            changelog.
  Sun 9:01  no source
`},
		{50, `
● 14:02     ./train.sh finished in     silver-gull
            3h12m (exit 0)
            epoch 40/40 · val_loss 0.231
  14:05     The build is done: built   foggy-ridge
            in 61.2s. I have updated
            the changelog.
  Sun 9:01  no source
`},
	} {
		s, out, _ := terminal(row.width)
		if err := s.Messages(all); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(row.want[1:], out.String()); diff != "" {
			t.Errorf("%d columns (-want +got):\n%s", row.width, diff)
		}
	}
	s, out, _ := terminal(80)
	s.OutTTY = false
	if err := s.Messages(all[1:2]); err != nil {
		t.Fatal(err)
	}
	if want := "14:05  The build is done: built in 61.2s. I have updated the changelog.  foggy-ridge\n"; out.String() != want {
		t.Errorf("in a pipe: %q", out.String())
	}
}

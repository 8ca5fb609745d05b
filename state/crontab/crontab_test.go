package crontab_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claw/state/crontab"
)

func one(t *testing.T, text string, form crontab.Form) crontab.Entry {
	t.Helper()
	f := crontab.Parse(text, form)
	if len(f.Problems) > 0 || len(f.Entries) != 1 {
		t.Fatalf("%q: %d entries, problems %v", text, len(f.Entries), f.Problems)
	}
	return f.Entries[0]
}

// The example of crontab(5), line by line.
const example = `# use /bin/sh to run commands, no matter what /etc/passwd says
SHELL=/bin/sh
# mail any output to ` + "`paul'" + `, no matter whose crontab this is
MAILTO=paul
#
# run five minutes after midnight, every day
5 0 * * *       $HOME/bin/daily.job >> $HOME/tmp/out 2>&1
# run at 2:15pm on the first of every month -- output mailed to paul
15 14 1 * *     $HOME/bin/monthly
# run at 10 pm on weekdays, annoy Joe
0 22 * * 1-5   mail -s "It's 10pm" joe%Joe,%%Where are your kids?%
23 0-23/2 * * * echo "run 23 minutes after midn, 2am, 4am ..., everyday"
5 4 * * sun     echo "run at 5 after 4 every sunday"
`

func TestTheExampleOfTheManual(t *testing.T) {
	f := crontab.Parse(example, crontab.User)
	if len(f.Problems) > 0 {
		t.Fatal(f.Problems)
	}
	env := []crontab.Var{{Name: "SHELL", Value: "/bin/sh"}, {Name: "MAILTO", Value: "paul"}}
	want := []crontab.Entry{
		{Line: 7, Expr: "5 0 * * *", Command: "$HOME/bin/daily.job >> $HOME/tmp/out 2>&1", Comment: "run five minutes after midnight, every day"},
		{Line: 9, Expr: "15 14 1 * *", Command: "$HOME/bin/monthly", Comment: "run at 2:15pm on the first of every month -- output mailed to paul"},
		{Line: 11, Expr: "0 22 * * 1-5", Command: `mail -s "It's 10pm" joe`, Stdin: "Joe,\n\nWhere are your kids?\n", Comment: "run at 10 pm on weekdays, annoy Joe"},
		{Line: 12, Expr: "23 0-23/2 * * *", Command: `echo "run 23 minutes after midn, 2am, 4am ..., everyday"`},
		{Line: 13, Expr: "5 4 * * sun", Command: `echo "run at 5 after 4 every sunday"`},
	}
	for i := range f.Entries {
		f.Entries[i].Text, f.Entries[i].Name, f.Entries[i].Hash = "", "", ""
		want[i].Env = env
	}
	if diff := cmp.Diff(want, f.Entries); diff != "" {
		t.Error(diff)
	}
}

func TestInput(t *testing.T) {
	for _, c := range []struct{ name, line, command, stdin string }{
		{"without a % there is no input", `date`, `date`, ""},
		{"behind a % is input, which ends in a line end", `cat%hello`, `cat`, "hello\n"},
		{"every further % is a line end", `cat%a%b%%c`, `cat`, "a\nb\n\nc\n"},
		{"a line end at the end is not doubled", `cat%a%`, `cat`, "a\n"},
		{"an empty input is none", `cat%`, `cat`, ""},
		{`\% in the command is a %`, `date +\%F`, `date +%F`, ""},
		{`\% in the input is a %`, `cat%100\%%done`, `cat`, "100%\ndone\n"},
		{"other backslashes stay", `echo a\b \\ c`, `echo a\b \\ c`, ""},
		{"other backslashes stay in the input", `cat%a\b`, `cat`, "a\\b\n"},
		{"a backslash that is itself kept from counting does not keep a %", `echo \\%x`, `echo \\`, "x\n"},
		{"blanks at the end of the input stay", "cat%a ", "cat", "a \n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := one(t, "* * * * * "+c.line, crontab.User)
			if e.Command != c.command || e.Stdin != c.stdin {
				t.Errorf("%q: %q with %q, want %q with %q", c.line, e.Command, e.Stdin, c.command, c.stdin)
			}
		})
	}
}

func TestVariables(t *testing.T) {
	for _, c := range []struct{ name, line, key, value string }{
		{"plain", "A=b", "A", "b"},
		{"blanks around the equals sign", "A = b", "A", "b"},
		{"blanks within the value", "A=b  c", "A", "b  c"},
		{"blanks at the end go", "A=b \t", "A", "b"},
		{"double quotes keep blanks", `A=" b "`, "A", " b "},
		{"single quotes keep blanks", `A=' b "c'`, "A", ` b "c`},
		{"quotes make an empty one", `MAILTO=""`, "MAILTO", ""},
		{"nothing makes an empty one, as cronie has it", `MAILTO=`, "MAILTO", ""},
		{"a name in quotes", `"A B"=c`, "A B", "c"},
		{"nothing is expanded", "PATH=$HOME/bin:$PATH", "PATH", "$HOME/bin:$PATH"},
		{"a number sign is no comment", "A=b # c", "A", "b # c"},
		{"the value may hold an equals sign", "A=b=c", "A", "b=c"},
		{"indented", " \tA=b", "A", "b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := one(t, c.line+"\n* * * * * true\n", crontab.User)
			if v, ok := e.Var(c.key); !ok || v != c.value {
				t.Errorf("%q: %s is %q, %v; want %q", c.line, c.key, v, ok, c.value)
			}
		})
	}
	t.Run("they hold below, until they are set anew", func(t *testing.T) {
		f := crontab.Parse("0 1 * * * a\nX=1\n0 2 * * * b\nX=2\nY=3\n0 3 * * * c\n", crontab.User)
		var got []string
		for _, e := range f.Entries {
			s := e.Command
			for _, v := range e.Env {
				s += " " + v.Name + "=" + v.Value
			}
			got = append(got, s)
		}
		if diff := cmp.Diff([]string{"a", "b X=1", "c X=2 Y=3"}, got); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("LOGNAME cannot be set", func(t *testing.T) {
		if _, ok := one(t, "LOGNAME=joe\n* * * * * true\n", crontab.User).Var("LOGNAME"); ok {
			t.Error("it was")
		}
	})
	t.Run("a command may begin with one", func(t *testing.T) {
		if e := one(t, "@daily A=b true", crontab.User); e.Command != "A=b true" || len(e.Env) != 0 {
			t.Errorf("%+v", e)
		}
	})
}

func TestTimes(t *testing.T) {
	for _, c := range []struct{ name, line, expr string }{
		{"five fields", "*/5 9-17 * * mon-fri true", "*/5 9-17 * * mon-fri"},
		{"tabs and several blanks", " 1\t2  3 \t4\t5 \ttrue", "1 2 3 4 5"},
		{"Sunday is 7 too", "0 0 * * 7 true", "0 0 * * 7"},
		{"a nickname", "@daily true", "@daily"},
		{"midnight", "@midnight true", "@midnight"},
		{"each minute, as FreeBSD has it", "@every_minute true", "* * * * *"},
		{"not logged, as cronie has it", "-*/5 * * * * true", "*/5 * * * *"},
		{"a carriage return is none of it", "0 0 * * * true\r", "0 0 * * *"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if e := one(t, c.line, crontab.User); e.Expr != c.expr || e.Command != "true" || e.Reboot {
				t.Errorf("%q: %q, %q", c.line, e.Expr, e.Command)
			}
		})
	}
	t.Run("at boot", func(t *testing.T) {
		if e := one(t, "@reboot true", crontab.User); !e.Reboot || e.Expr != "" {
			t.Errorf("%+v", e)
		}
	})
}

func TestSystem(t *testing.T) {
	e := one(t, "17 *\t* * *\troot\tcd / && run-parts --report /etc/cron.hourly\n", crontab.System)
	if e.User != "root" || e.Command != "cd / && run-parts --report /etc/cron.hourly" || e.Expr != "17 * * * *" {
		t.Errorf("%+v", e)
	}
	for path, want := range map[string]crontab.Form{
		"/etc/crontab": crontab.System, "/etc/cron.d/e2scrub_all": crontab.System,
		"crontab": crontab.User, "/var/spool/cron/crontabs/root": crontab.User, "-": crontab.User,
	} {
		if got := crontab.FormOf(path); got != want {
			t.Errorf("%s: form %d", path, got)
		}
	}
}

func TestProblems(t *testing.T) {
	for _, c := range []struct {
		name, line string
		form       crontab.Form
		why        string
	}{
		{"an hour that is none", "0 24 * * * true", crontab.User, "24"},
		{"an unknown nickname", "@often true", crontab.User, "nickname"},
		{"too few fields", "0 9 * true", crontab.User, "of the five fields"},
		{"no command", "0 9 * * *", crontab.User, "no command"},
		{"only input", "0 9 * * * %hello", crontab.User, "no command"},
		{"a date that never comes", "0 0 30 2 * true", crontab.User, "30"},
		{"no user", "0 9 * * *", crontab.System, "no user"},
		{"a user alone", "0 9 * * * root", crontab.System, "no command"},
		{"a random time of cronie", "0~59 * * * * true", crontab.User, "random"},
		{"an open quote", `A="b`, crontab.User, "quotes"},
		{"something behind a quote", `A="b" c`, crontab.User, "quotes"},
		{"a NUL", "0 9 * * * a\x00b", crontab.User, "NUL"},
	} {
		t.Run(c.name, func(t *testing.T) {
			good := "1 2 * * * true\n"
			if c.form == crontab.System {
				good = "1 2 * * * root true\n"
			}
			f := crontab.Parse(good+c.line+"\n"+good, c.form)
			if len(f.Entries) != 2 || len(f.Problems) != 1 {
				t.Fatalf("%d entries, problems %v", len(f.Entries), f.Problems)
			}
			if p := f.Problems[0]; p.Line != 2 || !strings.Contains(p.Why, c.why) || p.Text != c.line {
				t.Errorf("%+v, want %q on line 2", p, c.why)
			}
		})
	}
}

func TestComments(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"directly above", "# nightly\n0 1 * * * a", "nightly"},
		{"several lines", "# one\n#two\n0 1 * * * a", "one\ntwo"},
		{"an empty line parts them", "# of the file\n\n0 1 * * * a", ""},
		{"a variable parts them", "# of the variable\nA=b\n0 1 * * * a", ""},
		{"what crontab -e writes at the top is none", "# Edit this file to introduce tasks\n#\n# m h  dom mon dow   command\n0 1 * * * a", ""},
		{"entries that are switched off are none", "# real\n#0 2 * * * b\n0 1 * * * a", "real"},
		{"rules are none", "# -----\n# backup\n# =====\n0 1 * * * a", "backup"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if e := one(t, c.text, crontab.User); e.Comment != c.want {
				t.Errorf("%q, want %q", e.Comment, c.want)
			}
		})
	}
}

func TestNames(t *testing.T) {
	for command, want := range map[string]string{
		"/usr/local/bin/backup.sh --all":            "backup",
		"restic backup ~":                           "restic-backup",
		"cd /srv/app && ./bin/report.py":            "report",
		"test -x /usr/sbin/anacron || run-parts /x": "run-parts",
		"LANG=C nice -n /usr/bin/updatedb":          "updatedb",
		"[ -x /usr/lib/php/sessionclean ] && php x": "php",
		"*":                   "entry",
		"/opt/Mail Check/run": "mail",
		"\"/opt/x/Job.pl\"":   "job",
		"cd /x":               "cd",
		"flock -n /tmp/lock /usr/bin/sync-everything": "flock",
	} {
		if got := one(t, "0 1 * * * "+command, crontab.User).Name; got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
	t.Run("each is there once", func(t *testing.T) {
		f := crontab.Parse("0 1 * * * a\n0 2 * * * a-2\n0 3 * * * a\n0 4 * * * a", crontab.User)
		var got []string
		for _, e := range f.Entries {
			got = append(got, e.Name)
		}
		if diff := cmp.Diff([]string{"a", "a-2", "a-3", "a-4"}, got); diff != "" {
			t.Error(diff)
		}
	})
}

// A line is known again when its times change, and when others come and go.
func TestHash(t *testing.T) {
	hash := func(text string, i int) string { return crontab.Parse(text, crontab.User).Entries[i].Hash }
	a := hash("0 1 * * * a", 0)
	if got := hash("# c\n0 5 * * * b\n0 2 * * * a", 1); got != a {
		t.Errorf("%s, want %s", got, a)
	}
	if hash("0 1 * * * b", 0) == a || hash("0 1 * * * a%x", 0) == a {
		t.Error("another command has the same hash")
	}
	if got := hash("0 1 * * * a\n0 2 * * * a", 1); got != a+"-2" {
		t.Errorf("the second one is %s, want %s-2", got, a)
	}
}

func TestLine(t *testing.T) {
	for _, c := range []struct {
		command, stdin, want string
		ok                   bool
	}{
		{"date", "", "0 1 * * * date", true},
		{"date +%F", "", `0 1 * * * date +\%F`, true},
		{"cat", "a\nb\n", "0 1 * * * cat%a%b", true},
		{"cat", "100%\n", `0 1 * * * cat%100\%`, true},
		{"echo a\necho b", "", "", false},
		{`echo \%`, "", "", false},
		{"", "", "", false},
	} {
		got, ok := crontab.Line("0 1 * * *", c.command, c.stdin)
		if ok != c.ok || ok && got != c.want {
			t.Errorf("%q, %q: %q %v, want %q %v", c.command, c.stdin, got, ok, c.want, c.ok)
		}
	}
}

// Whatever stands in it, the lines are told apart, and what can be written is
// read as the same.
func FuzzParse(f *testing.F) {
	f.Add(example, false)
	f.Add("17 *\t* * *\troot\tcd / && run-parts\n@reboot root x%y\\%z\\\n", true)
	f.Add("A='b\n\"A B\"=c\n-*/5 * * * * \\%%\\\\%\n\x00", false)
	f.Fuzz(func(t *testing.T, text string, system bool) {
		form := crontab.User
		if system {
			form = crontab.System
		}
		file := crontab.Parse(text, form)
		names, hashes, last := map[string]bool{}, map[string]bool{}, 0
		for _, e := range file.Entries {
			if names[e.Name] || hashes[e.Hash] || e.Name == "" || e.Line <= last {
				t.Fatalf("%+v", e)
			}
			names[e.Name], hashes[e.Hash], last = true, true, e.Line
			if (e.Expr == "") != e.Reboot || e.Reboot {
				e.Expr = "@reboot"
			}
			line, ok := crontab.Line(e.Expr, e.Command, e.Stdin)
			if !ok {
				continue
			}
			again := crontab.Parse(line, crontab.User)
			if len(again.Entries) != 1 || again.Entries[0].Command != e.Command || again.Entries[0].Stdin != e.Stdin {
				t.Fatalf("%q: %q with %q became %+v", line, e.Command, e.Stdin, again)
			}
		}
	})
}

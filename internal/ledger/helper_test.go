package ledger

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The tests start their own binary again as other processes: these variables say
// what it shall be then.
const (
	envRole = "LEDGER_TEST_ROLE"
	envPath = "LEDGER_TEST_PATH"
	envName = "LEDGER_TEST_NAME"
)

const appendsEach = 40

func TestMain(m *testing.M) {
	var err error
	switch os.Getenv(envRole) {
	case "append":
		err = appendSome(appendsEach)
	case "append forever":
		err = appendSome(1 << 30)
	case "drain":
		err = drain()
	default:
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// appendSome appends entries with rising revisions, and says each one that is
// written.
func appendSome(n int) error {
	l := Open(os.Getenv(envPath))
	for i := range n {
		e := entry(os.Getenv(envName))
		e.Revision = fmt.Sprint(i)
		if err := l.Append(e); err != nil {
			return err
		}
		fmt.Println(i)
	}
	return nil
}

// drain removes all events of a spool that it can claim, and says which.
func drain() error {
	s := OpenSpool(os.Getenv(envPath))
	names, err := s.Pending()
	if err != nil {
		return err
	}
	for _, name := range names {
		c, err := s.Claim(name)
		if err != nil {
			continue // another process has it
		}
		fmt.Println(name)
		if err := c.Remove(); err != nil {
			return err
		}
	}
	return nil
}

// process is another process of this binary.
type process struct {
	*exec.Cmd
	lines *bufio.Scanner
}

func start(t *testing.T, role, path, name string) *process {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envRole+"="+role, envPath+"="+path, envName+"="+name)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // it has ended, if all went well
	return &process{cmd, bufio.NewScanner(out)}
}

// rest reads what a process says until its end.
func (p *process) rest() []string {
	var lines []string
	for p.lines.Scan() {
		lines = append(lines, p.lines.Text())
	}
	return lines
}

var at = time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)

func digestOf(digit string) string { return "sha256:" + strings.Repeat(digit, 64) }

func entry(name string) Entry { return Entry{Time: at, Name: name, Digest: digestOf("a"), Kind: "id"} }

func newLedger(t *testing.T) *Ledger {
	t.Helper()
	return Open(filepath.Join(t.TempDir(), "state", "ledger.jsonl"))
}

func write(t *testing.T, l *Ledger, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(l.Path()), 0o700))
	require.NoError(t, os.WriteFile(l.Path(), []byte(text), 0o600))
}

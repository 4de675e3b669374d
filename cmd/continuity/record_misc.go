package main

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/config"
	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/send"
	"github.com/agentcontinuity/otelcol-continuity/continuity"
)

// argsOf wants so many arguments, and says which.
func argsOf(least, most int, which string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return errors.New("say " + which)
		case len(args) > most:
			return fmt.Errorf("there are %d arguments: say %s; a value with blanks stands in quotes", len(args), which)
		}
		return nil
	}
}

// flagsOnly wants no arguments, and says what the command takes instead.
func flagsOnly(instead string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return fmt.Errorf("%s takes flags, and no arguments: %s; --help has all flags", cmd.Name(), instead)
	}
}

// offer completes a flag from a closed list.
func offer(cmd *cobra.Command, flag string, choices []string) {
	if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(choices, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // the flag was added just before
	}
}

func (a *app) flushCommand() *cobra.Command {
	var refused bool
	cmd := &cobra.Command{
		Use:   "flush",
		Short: "Send what waits in the spool",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := a.config()
			if err != nil {
				return err
			}
			if refused {
				if err := cfg.Spool().Readmit(); err != nil {
					return err
				}
			}
			result, err := send.New(cfg, a.now).Flush(cmd.Context())
			if err != nil {
				return err
			}
			return a.flushed(&result)
		},
	}
	cmd.Flags().BoolVar(&refused, "refused", false, "send again what a collector refused for good")
	return cmd
}

var errBusy = errors.New("another process is sending them")

func (a *app) flushed(result *send.Result) error {
	if a.json {
		if err := a.sent(result, "", ""); err != nil {
			return err
		}
	} else {
		a.print().Line("%s accepted, %d refused, %d waiting", count(result.Earlier, "event"), result.Refused, result.Waiting)
	}
	if result.Refused > 0 || result.Waiting > 0 {
		return fmt.Errorf("not all events were accepted: %w", cmp.Or(result.Why, errBusy))
	}
	return nil
}

func (a *app) digestCommand() *cobra.Command {
	var file, as string
	var plain bool
	cmd := &cobra.Command{
		Use:   "digest [VALUE]",
		Short: "Print the digest of a value",
		Long: `Print the digest of a value, made with the project's key where it has one. Equal
decisions have equal digests, however they are spelled.`,
		Args: argsOf(0, 1, "VALUE"),
		RunE: func(_ *cobra.Command, args []string) error {
			cfg, err := a.config()
			if err != nil {
				return err
			}
			if (len(args) == 1) == (file != "") {
				return errors.New("say either VALUE or --file")
			}
			value, _, err := a.value(&decideFlags{file: file}, args)
			if err != nil {
				return err
			}
			digester, err := cfg.Digester()
			if err != nil && !plain {
				return err
			}
			if plain {
				digester = continuity.Digester{}
			}
			return a.digest(cfg, digester, as, value)
		},
	}
	cmd.Flags().StringVar(&file, "file", "", "read the value from a file, or from standard input where it is -")
	cmd.Flags().StringVar(&as, "as", config.KindText, "kind of the value: "+strings.Join(config.Kinds, ", "))
	cmd.Flags().BoolVar(&plain, "plain", false, "do not use the key")
	offer(cmd, "as", config.Kinds)
	return cmd
}

func (a *app) digest(cfg *config.Config, digester continuity.Digester, kind, value string) error {
	// A name that no catalogue speaks of: any word is a choice.
	digest, err := cfg.Digest(digester, "value", kind, value)
	if err != nil {
		return err
	}
	if a.json {
		return a.print().JSON(struct {
			Digest     continuity.Digest `json:"digest"`
			KeyID      string            `json:"key_id,omitempty"`
			Kind       string            `json:"kind"`
			Normalizer string            `json:"normalizer"`
		}{digest, digester.KeyID(), kind, continuity.Normalizer})
	}
	a.print().Line("%s", digest)
	return nil
}

// version is set by the linker: -X main.version=v1.2.3.
var version string

type versions struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func (v versions) String() string {
	text := v.Version
	if v.Revision != "" {
		text += " (" + v.Revision + ")"
	}
	return text + ", " + v.Go + ", " + v.Platform
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v := versionOf(debug.ReadBuildInfo())
			if a.json {
				return a.print().JSON(v)
			}
			a.print().Line("continuity %s", v)
			return nil
		},
	}
}

func versionOf(info *debug.BuildInfo, ok bool) versions {
	v := versions{Version: version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if !ok {
		v.Version = cmp.Or(v.Version, "unknown")
		return v
	}
	v.Version = cmp.Or(v.Version, strings.Trim(info.Main.Version, "()"), "devel")
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			v.Revision = s.Value[:min(len(s.Value), 12)] + v.Revision
		case s.Key == "vcs.modified" && s.Value == "true":
			v.Revision += "+"
		}
	}
	return v
}

//! The verbs that make coop a client, with their flags and help. It does not know what they do.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use super::agent::{self, Nudge, Respond, State};

pub(super) const EXIT_CODES: &str = "\
Exit codes:
  0   done
  1   coop refused; stderr says CODE: why
  64  the command line makes no sense
  69  no coop answers, or the connection was lost
  77  the token is missing, wrong, or not enough";

const ATTACH_EXAMPLES: &str = "\
Examples:
  coop attach                             the coop that COOP_URL or COOP_SOCKET names
  coop attach http://127.0.0.1:8080       over TCP
  coop attach --lock /tmp/coop.sock       prevent other clients from typing
  coop attach --no-resize /tmp/coop.sock  keep the session's size

Several users can be attached at once. After a lost connection it reconnects for up to 30 s.

Exit codes: the child's own if it exits meanwhile (128 + N if signal N ended it), 0 after Ctrl-],
75 if coop does not confirm input from a pipe, else as for the other verbs (coop screen --help).";

const INPUT_EXAMPLES: &str = "\
Options come before the text; everything from its first word on is the text.

Examples:
  coop input -t /tmp/coop.sock ls -la
  coop input --no-enter 'half a line'
  coop input -- --starts-with-a-dash";

const KEYS_EXAMPLES: &str = "\
Keys: Enter Tab Escape Space Backspace Delete Insert Up Down Left Right Home End PageUp PageDown
F1 to F12, single characters, and any of them with Ctrl-, Alt- or Shift- (C-, M-, S-) before it.
One unknown key refuses all of them.

Examples:
  coop keys C-c
  coop keys -t http://127.0.0.1:8080 Escape : q ! Enter";

const EVENTS_EXAMPLES: &str = "\
Types: state prompt nudge respond stop start transcript usage exit restart resize shutdown.

Examples:
  coop events                             everything kept, then everything new
  coop events --types exit | head -1      wait for the end of the child
  coop events --json --since 120 | jq .";

/// coop as a client of a running coop.
#[derive(Debug, Parser)]
#[command(name = "coop", version, max_term_width = 100)]
pub struct Client {
    #[command(subcommand)]
    pub verb: Verb,
}

/// The coop to call.
#[derive(Debug, Clone, Args)]
pub struct Target {
    /// http://HOST:PORT, https://HOST:PORT, unix:///PATH or a socket's path
    /// [default: COOP_URL, COOP_SOCKET, or the default socket]
    #[arg(value_name = "URL|SOCKET")]
    pub target: Option<String>,
    #[command(flatten)]
    pub identity: Identity,
}

/// The coop to call, for verbs whose arguments are the message.
#[derive(Debug, Clone, Args)]
pub struct At {
    /// http://HOST:PORT, https://HOST:PORT, unix:///PATH or a socket's path
    /// [default: COOP_URL, COOP_SOCKET, or the default socket]
    #[arg(long, short, value_name = "URL|SOCKET")]
    pub target: Option<String>,
    #[command(flatten)]
    pub identity: Identity,
}

/// The credentials of the client, and the authority that it trusts.
#[derive(Debug, Clone, Args)]
pub struct Identity {
    /// Token to send
    #[arg(long, env = "COOP_AUTH_TOKEN", hide_env_values = true, value_name = "TOKEN")]
    pub token: Option<String>,
    /// Trust this authority's certificates (PEM) for https
    #[arg(long, value_name = "FILE")]
    pub tls_ca: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Connects this terminal to the session; Ctrl-] leaves it
    #[command(after_help = ATTACH_EXAMPLES)]
    Attach {
        #[command(flatten)]
        target: Target,
        /// Prevent every other client from typing meanwhile
        #[arg(long)]
        lock: bool,
        /// Leave the session's size as it is
        #[arg(long)]
        no_resize: bool,
        /// Let the program set this terminal's clipboard (OSC 52); it can never read it
        #[arg(long)]
        allow_clipboard: bool,
    },
    /// Prints the screen
    #[command(after_help = EXIT_CODES)]
    Screen {
        #[command(flatten)]
        target: Target,
        /// With colours, as the terminal would get them
        #[arg(long, conflicts_with = "json")]
        ansi: bool,
        /// The whole snapshot as JSON
        #[arg(long)]
        json: bool,
    },
    /// Types text, and then Enter
    #[command(after_help = INPUT_EXAMPLES)]
    Input {
        #[command(flatten)]
        at: At,
        /// Do not press Enter
        #[arg(long)]
        no_enter: bool,
        /// The text; several words are joined by spaces
        #[arg(required = true, trailing_var_arg = true)]
        text: Vec<String>,
        /// Print the response as JSON
        #[arg(long)]
        json: bool,
    },
    /// Presses keys, for example: coop keys C-c Up Enter
    #[command(after_help = KEYS_EXAMPLES)]
    Keys {
        #[command(flatten)]
        at: At,
        /// The keys, in this order
        #[arg(required = true)]
        keys: Vec<String>,
        /// Print the response as JSON
        #[arg(long)]
        json: bool,
    },
    /// Prints events as they happen
    #[command(after_help = EVENTS_EXAMPLES)]
    Events {
        #[command(flatten)]
        target: Target,
        /// Start after this event instead of with everything that is kept
        #[arg(long, default_value_t = 0, value_name = "SEQ")]
        since: u64,
        /// Only these types, for example state,exit
        #[arg(long, value_delimiter = ',', value_name = "TYPES")]
        types: Vec<String>,
        /// One JSON object a line
        #[arg(long)]
        json: bool,
    },
    /// Prints the agent's state, or waits for another one
    #[command(after_help = agent::STATE_HELP)]
    State(State),
    /// Gives the agent a message, as a user at its composer would
    #[command(after_help = agent::NUDGE_HELP)]
    Nudge(Nudge),
    /// Shows the agent's prompt, or answers it
    #[command(after_help = agent::RESPOND_HELP)]
    Respond(Respond),
    /// Stops the agent's turn; without one nothing is typed
    #[command(after_help = agent::INTERRUPT_HELP)]
    Interrupt {
        #[command(flatten)]
        target: Target,
        /// Print the response as JSON
        #[arg(long)]
        json: bool,
    },
    /// Explains the agent's state: every source's last vote, and which one counts
    #[command(after_help = agent::EXPLAIN_HELP)]
    Explain {
        #[command(flatten)]
        target: Target,
        /// Print the response as JSON
        #[arg(long)]
        json: bool,
    },
    /// Ends the session's child, everything it started, and coop, and waits until they are gone
    Shutdown {
        #[command(flatten)]
        target: Target,
        /// How long the child may take before it is killed [default: 10]
        #[arg(long, value_name = "SECS")]
        grace: Option<u64>,
        /// Print the response as JSON
        #[arg(long)]
        json: bool,
    },
}

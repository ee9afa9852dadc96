//! `--attach`: coop serves a session of a real tmux or GNU screen. Each test starts its own server
//! with its own sockets.

mod gnu_screen;
mod multiplexer;
mod tmux;
mod unsupported;

//! `--attach`: coop at the terminal of a real tmux and a real GNU screen, each with sockets of its own.

mod foreign;
mod gnu_screen;
mod refusals;
mod tmux;

//! What coop knows of agents. Drivers do no I/O and have no clock; they see the screen as a
//! value and nothing else of the terminal.

pub mod agent;

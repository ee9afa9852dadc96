//! Security: which callers may call which method, from where, and how many may connect.

mod health_port;
mod input_budget;
mod limits;
mod listeners;
mod origins;
mod process_memory;
mod secrets;
mod strangers;
mod strangers_memory;
mod strangers_tls;
mod tokens;
mod wrong_tokens;

//! Builds the messages of `coop.v1` from the session's values, and reads requests into them. The
//! only module that knows both vocabularies; it does not call the session.

mod event;
mod input;
mod outcome;
mod output;
mod prompt;
mod screen;
mod session;
mod state;

pub(super) use self::event::{
    epoch_gap, event, event_type, exit_event, gap_event, heartbeat, overrun, restart_event,
};
pub(super) use self::input::{
    attach_error, input_raw_response, input_response, keys_response, lease, lease_released,
    lease_ttl, resize_response, size_from_wire,
};
pub(super) use self::outcome::{interrupted, nudged, refused_nudge, refused_response, responded};
pub use self::output::replayed_chunk;
pub(super) use self::output::{chunk, output_response, stream_start};
pub(super) use self::prompt::respond_request;
pub(super) use self::screen::{
    Format, attach_response, attach_snapshot, screen_response, screen_snapshot, screen_text,
    scrollback_response, terminal_size,
};
pub(super) use self::session::{
    cwd, env_list, env_removed, env_set, env_value, health, ready, restarted, shutdown_accepted,
    signal_delivered, status, switched, usage,
};
pub(super) use self::state::{
    agent_state, explanation, state_event, state_gap, state_heartbeat, state_snapshot, waited,
};

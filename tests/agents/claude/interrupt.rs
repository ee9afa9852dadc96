//! The real claude is stopped, whatever it is doing.

use crate::interrupt;
use crate::world::Setup;

#[tokio::test]
async fn before_anything_has_streamed() {
    interrupt::before_anything_has_streamed(Setup::claude()).await;
}

#[tokio::test]
async fn while_text_streams() {
    interrupt::while_text_streams(Setup::claude(), "line 2 of 3").await;
}

#[tokio::test]
async fn while_a_tool_runs() {
    interrupt::while_a_tool_runs(Setup::claude()).await;
}

#[tokio::test]
async fn at_a_dialog() {
    interrupt::at_a_dialog(Setup::claude()).await;
}

#[tokio::test]
async fn at_a_question() {
    interrupt::at_a_question(Setup::claude()).await;
}

#[tokio::test]
async fn at_rest_there_is_nothing_to_stop() {
    interrupt::at_rest_there_is_nothing_to_stop(Setup::claude()).await;
}

#[tokio::test]
async fn while_it_thinks() {
    let Some(mut world) = Setup::claude().idle().await else { return };
    world.works_at("gate", "#think deeply #hold gate #say never").await;
    interrupt::stopped_and_alive(&mut world, "after the thought").await;
}

/// An Escape that somebody presses is seen as well as coop's own.
#[tokio::test]
async fn by_a_person() {
    let Some(mut world) = Setup::claude().idle().await else { return };
    for (name, text) in [("one", "#hold one #say never"), ("two", "#stream 3x0 #hold two #say never")] {
        let nudged = world.works_at(name, text).await;
        world.press("\x1b").await;
        world.wait_state_after(nudged.seq, "idle").await;
        world.echoes(&format!("after {name}")).await;
    }
}

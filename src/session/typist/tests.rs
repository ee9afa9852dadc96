//! Order, holds, stalls and limits of the write queue, without a runtime.

use tokio::sync::oneshot;

use super::*;

type Waiting = oneshot::Receiver<Result<usize, Error>>;

/// A typist whose replies go out at once.
#[derive(Default)]
struct Writer {
    typist: Typist,
    replies: Replies,
}

impl Writer {
    fn submit(&mut self, now: Now, bytes: &'static [u8]) -> Waiting {
        let (reply, waiting) = oneshot::channel();
        self.typist.submit(now, Write::text(Bytes::from_static(bytes)), reply, &mut self.replies);
        self.replies.send_all();
        waiting
    }

    fn wrote(&mut self, now: Now, count: usize) {
        self.typist.wrote(now, count, &mut self.replies);
        self.replies.send_all();
    }

    fn handle_deadlines(&mut self, now: Now) {
        self.typist.handle_deadlines(now, &mut self.replies);
        self.replies.send_all();
    }
}

#[test]
fn writes_go_out_in_order_and_report_their_length() {
    let (mut writer, now) = (Writer::default(), Now::read());
    let mut first = writer.submit(now, b"hello");
    let mut second = writer.submit(now, b"x");
    assert_eq!(writer.typist.next(), Some(&b"hello"[..]));
    writer.wrote(now, 2);
    assert_eq!(writer.typist.next(), Some(&b"llo"[..]));
    assert!(first.try_recv().is_err());
    writer.wrote(now, 3);
    assert_eq!(first.try_recv().unwrap(), Ok(5));
    writer.wrote(now, 1);
    assert_eq!(second.try_recv().unwrap(), Ok(1));
    assert_eq!(writer.typist.next(), None);
}

#[test]
fn a_query_reply_never_lands_inside_a_write() {
    let (mut writer, now) = (Writer::default(), Now::read());
    let _first = writer.submit(now, b"ab");
    let _second = writer.submit(now, b"cd");
    writer.wrote(now, 1);
    writer.typist.reply_to_query(now, b"\x1b[1;1R");
    assert_eq!(writer.typist.next(), Some(&b"b"[..]));
    writer.wrote(now, 1);
    assert_eq!(writer.typist.next(), Some(&b"\x1b[1;1R"[..]));
    writer.wrote(now, 3);
    assert_eq!(writer.typist.next(), Some(&b";1R"[..]));
    writer.wrote(now, 3);
    assert_eq!(writer.typist.next(), Some(&b"cd"[..]));
}

#[test]
fn a_child_that_keeps_asking_gets_a_limited_number_of_replies() {
    let (mut writer, start) = (Writer::default(), Now::read());
    let reply = b"\x1b[1;1R";
    let answered = |writer: &mut Writer, now: Now| {
        let mut answered = 0;
        for _ in 0..10 * QUERY_REPLY_RATE / reply.len() {
            writer.typist.reply_to_query(now, reply);
            if let Some(count) = writer.typist.next().map(<[u8]>::len) {
                answered += count;
                writer.wrote(now, count);
            }
        }
        answered
    };
    let all = QUERY_REPLY_RATE / reply.len() * reply.len();
    assert_eq!(answered(&mut writer, start), all);
    assert_eq!(answered(&mut writer, start.after(QUERY_REPLY_WINDOW / 2)), 0);
    assert_eq!(answered(&mut writer, start.after(QUERY_REPLY_WINDOW)), all);
}

#[test]
fn a_write_to_a_stalled_child_is_dropped_after_five_seconds() {
    let (mut writer, start) = (Writer::default(), Now::read());
    let mut stuck = writer.submit(start, b"abc");
    writer.wrote(start.after(Duration::from_secs(1)), 1);
    let mut behind = writer.submit(start.after(Duration::from_secs(3)), b"d");
    writer.handle_deadlines(start.after(Duration::from_secs(5)));
    assert!(stuck.try_recv().is_err(), "progress was one second in");
    assert_eq!(writer.typist.deadline(), Some(start.after(Duration::from_secs(6)).steady));
    writer.handle_deadlines(start.after(Duration::from_secs(6)));
    let error = stuck.try_recv().unwrap().unwrap_err();
    assert_eq!((error.code, error.metadata[0].1.as_str()), (Code::WriterBusy, "1"));
    assert!(behind.try_recv().is_err(), "it has only waited three seconds");
    writer.handle_deadlines(start.after(Duration::from_secs(8)));
    assert!(behind.try_recv().unwrap().is_err());
}

#[test]
fn a_dropped_paste_is_ended_before_the_next_write() {
    let (mut writer, start) = (Writer::default(), Now::read());
    let _stuck = writer.submit(start, b"\x1b[200~one\rtwo\x1b[201~\r");
    writer.wrote(start, 9);
    let _next = writer.submit(start.after(Duration::from_secs(4)), b"ls\r");
    writer.handle_deadlines(start.after(STALL));
    assert_eq!(writer.typist.next(), Some(&b"\x1b[201~"[..]));
    writer.wrote(start.after(STALL), 6);
    assert_eq!(writer.typist.next(), Some(&b"ls\r"[..]));
}

#[test]
fn the_queue_is_bounded_but_an_empty_queue_takes_a_write_of_any_size() {
    static BIG: [u8; QUEUE_LIMIT + 1] = [b'x'; QUEUE_LIMIT + 1];
    let (mut writer, now) = (Writer::default(), Now::read());
    let mut big = writer.submit(now, &BIG);
    assert!(big.try_recv().is_err(), "accepted, still waiting");
    let mut refused = writer.submit(now, b"more");
    assert_eq!(refused.try_recv().unwrap().unwrap_err().code, Code::WriterBusy);
}

#[test]
fn a_task_writes_before_waiting_clients_and_after_a_write_that_has_begun() {
    let (mut writer, now) = (Writer::default(), Now::read());
    let _begun = writer.submit(now, b"ab");
    writer.wrote(now, 1);
    let mut client = writer.submit(now, b"client");
    let hold = writer.typist.hold(now);
    writer.typist.write_for(&hold, now, Write::bytes(Bytes::from_static(b"one")));
    writer.typist.write_for(&hold, now, Write::bytes(Bytes::from_static(b"two")));
    assert_eq!(writer.typist.next(), Some(&b"b"[..]));
    writer.wrote(now, 1);
    assert_eq!(writer.typist.next(), Some(&b"one"[..]));
    writer.wrote(now, 3);
    assert!(!writer.typist.task_writes_done());
    writer.wrote(now, 3);
    assert!(writer.typist.task_writes_done());
    assert_eq!(
        (writer.typist.next(), writer.typist.deadline()),
        (None, None),
        "the task still holds the writer"
    );
    let later = now.after(Duration::from_secs(8));
    drop(hold);
    writer.typist.collect_hold(later);
    writer.handle_deadlines(later);
    assert!(client.try_recv().is_err(), "it has waited for the task, not for the child");
    assert_eq!(writer.typist.next(), Some(&b"client"[..]));
}

#[test]
fn a_dropped_hold_drops_the_unwritten_writes_of_its_task() {
    let (mut writer, now) = (Writer::default(), Now::read());
    let hold = writer.typist.hold(now);
    writer.typist.write_for(&hold, now, Write::bytes(Bytes::from_static(b"never")));
    drop(hold);
    writer.typist.collect_hold(now);
    assert_eq!(writer.typist.next(), None);
    let mut after = writer.submit(now, b"x");
    writer.wrote(now, 1);
    assert_eq!(after.try_recv().unwrap(), Ok(1));
}

#[test]
fn a_pause_follows_a_lone_escape() {
    let (mut writer, now) = (Writer::default(), Now::read());
    let _escape = writer.submit(now, b"\x1b");
    let _next = writer.submit(now, b"[A");
    writer.wrote(now, 1);
    writer.typist.reply_to_query(now, b"\x1b[1;1R");
    assert_eq!(writer.typist.next(), None);
    assert_eq!(writer.typist.deadline(), Some(now.after(PAUSE_AFTER_ESCAPE).steady));
    writer.handle_deadlines(now.after(PAUSE_AFTER_ESCAPE));
    assert_eq!(writer.typist.next(), Some(&b"\x1b[1;1R"[..]));
}

#[test]
fn no_write_is_kept_for_the_next_child() {
    let (mut writer, now) = (Writer::default(), Now::read());
    let mut waiting = writer.submit(now, b"rm -rf");
    writer.typist.reply_to_query(now, b"reply");
    writer.typist.fail_all(&Error::exited(), &mut writer.replies);
    writer.replies.send_all();
    assert_eq!(waiting.try_recv().unwrap().unwrap_err().code, Code::Exited);
    assert_eq!(writer.typist.next(), None);
}

//! Which sequence does what: the table from the tap's findings to the engine's operations.
//! It knows the sequences' names and nothing of how an operation is carried out.

use std::sync::Arc;

use avt::parser::Function;

use super::engine::Engine;
use super::osc::Osc;
use super::sequence::Csi;
use super::sgr;
use super::tap::{Sink, Terminator};
use super::terminal::Signal;

impl Sink for Engine {
    fn print_ascii(&mut self, text: &[u8]) {
        self.joined = false;
        self.draw_all(text.iter().map(|byte| Function::Print(char::from(*byte))));
    }

    fn print(&mut self, text: &str) {
        // Joiners, selectors and other format characters take a cell of their own in avt, and so does
        // each picture of several that are joined into one; programs count one picture, and everything
        // to its right would be shifted. Marks that carry text are kept.
        let mut joined = self.joined;
        let draws = |c: &char| {
            let part = std::mem::replace(&mut joined, *c == JOINER) && is_picture(*c);
            !part && !is_format(*c)
        };
        self.draw_all(text.chars().filter(draws).map(Function::Print));
        self.joined = joined;
    }

    fn control(&mut self, byte: u8) {
        self.joined = false;
        match byte {
            0x08 => self.draw(Function::Bs),
            b'\t' => self.draw(Function::Ht),
            b'\n' | 0x0b | 0x0c => self.draw(Function::Lf),
            b'\r' => self.draw(Function::Cr),
            0x0e => self.draw(Function::So),
            0x0f => self.draw(Function::Si),
            _ => {}
        }
    }

    fn escape(&mut self, intermediates: &[u8], last: u8) {
        self.joined = false;
        match (intermediates, last) {
            ([], b'=' | b'>') => self.set_application_keypad(last == b'='),
            ([], b'Z') => self.device_attributes(),
            ([], b'c') => self.hard_reset(),
            ([], b'M') => self.reverse_index(),
            ([], b'7') => {
                self.save_cursor();
                self.draw(Function::Decsc);
            }
            ([], b'8') => {
                self.restore_cursor();
                self.draw(Function::Decrc);
            }
            ([], b'D') => self.draw(Function::Lf),
            ([], b'E') => self.draw(Function::Nel),
            ([], b'H') => self.draw(Function::Hts),
            ([b'#' | b'(' | b')'], _) => {
                self.execute(b"\x1b", intermediates, last);
            }
            _ => {}
        }
    }

    fn csi(&mut self, csi: Csi<'_>) {
        self.joined = false;
        match (csi.prefix, csi.intermediates, csi.last) {
            (None, [], b'm') => self.draw(Function::Sgr(sgr::parse(csi.params))),
            (None, [], b'c') if csi.number(0) == 0 => self.device_attributes(),
            (Some(b'>'), [], b'c') if csi.number(0) == 0 => self.reply(format_args!("\x1b[>0;10;0c")),
            (None, [], b'n') if csi.number(0) == 5 => self.reply(format_args!("\x1b[0n")),
            (None, [], b'n') if csi.number(0) == 6 => {
                let (row, col) = self.reported_cursor();
                self.reply(format_args!("\x1b[{row};{col}R"));
            }
            (Some(b'?'), [], b'n') if csi.number(0) == 6 => {
                let (row, col) = self.reported_cursor();
                self.reply(format_args!("\x1b[?{row};{col}R"));
            }
            (Some(b'?'), [b'$'], b'p') => self.report_mode(true, csi.number(0)),
            (None, [b'$'], b'p') => self.report_mode(false, csi.number(0)),
            (Some(b'>'), [], b'q') if csi.number(0) == 0 => self.report_version(),
            (Some(b'?'), [], b'u') => self.reply(format_args!("\x1b[?0u")),
            (Some(b'?'), [], b'h') => self.set_modes(csi, true),
            (Some(b'?'), [], b'l') => self.set_modes(csi, false),
            (None, [b'!'], b'p') => self.soft_reset(csi),
            (None, [], b'h') => self.set_ansi_modes(csi, true),
            (None, [], b'l') => self.set_ansi_modes(csi, false),
            (None, [], b'r') => self.set_margins(csi.number(0), csi.number(1)),
            (None, [], b't') => self.window_operation(csi),
            (None, [], b'J') if csi.number(0) == 3 => self.scrollback_mut().clear(),
            (None, [], b's') if csi.params.is_empty() => {
                self.save_cursor();
                self.draw(Function::Scosc);
            }
            (None, [], b'u') if csi.params.is_empty() => {
                self.restore_cursor();
                self.draw(Function::Scorc);
            }
            (None, [], b's' | b'u') => {}
            // A repetition beyond one row is never meant, and would be work without bound.
            (None, [], b'b') => self.draw(Function::Rep(csi.number(0).clamp(1, self.size().cols()))),
            (None, [], b'L') => self.draw_in_region(Function::Il(csi.number(0))),
            (None, [], b'M') => self.draw_in_region(Function::Dl(csi.number(0))),
            (None, [], _) => self.forward(csi),
            _ => {}
        }
    }

    fn osc(&mut self, payload: &[u8], end: Terminator) {
        match Osc::parse(payload) {
            Some(Osc::Title(title)) => self.set_title(Arc::from(title)),
            Some(Osc::Progress(progress)) => self.set_progress(progress),
            Some(Osc::Notification(notification)) => {
                self.fed.signals.push(Signal::Notification(notification));
            }
            Some(Osc::ProgramStatus(status)) => self.fed.signals.push(Signal::ProgramStatus(status)),
            Some(Osc::ColorQuery(colors)) => {
                let end = match end {
                    Terminator::Bell => "\x07",
                    Terminator::StringTerminator => "\x1b\\",
                };
                for color in colors {
                    self.reply(format_args!("\x1b]{}{end}", color.reply()));
                }
            }
            None => {}
        }
    }

    fn dcs(&mut self, payload: &[u8]) {
        // Requests for settings and capabilities get the reply for one that is not known, so that
        // no program waits for it; nothing of the request is repeated.
        if payload.starts_with(b"$q") {
            self.reply(format_args!("\x1bP0$r\x1b\\"));
        } else if payload.starts_with(b"+q") {
            self.reply(format_args!("\x1bP0+r\x1b\\"));
        }
    }
}

/// Makes one picture of the two around it.
pub(super) const JOINER: char = '\u{200d}';

fn is_picture(c: char) -> bool {
    matches!(c, '\u{2190}'..='\u{21ff}' | '\u{2300}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}')
}

/// Characters without width that carry no text of their own, and the tones of skin.
fn is_format(c: char) -> bool {
    matches!(c, '\u{1f3fb}'..='\u{1f3ff}' | '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{e0100}'..='\u{e01ef}')
}

//! The table from sequences to the engine's operations.
//! It does not know how an operation is carried out.

use std::sync::Arc;

use avt::Charset;

use super::engine::{Direction, Engine, Extent};
use super::osc::{ColorRequest, Osc};
use super::sequence::Csi;
use super::sgr;
use super::tap::Sink;
use super::terminal::Signal;
use super::tokenizer::Terminator;

impl Sink for Engine {
    fn print_ascii(&mut self, text: &[u8]) {
        self.print_plain(text);
    }

    fn print(&mut self, text: &str) {
        self.print_text(text);
    }

    fn control(&mut self, byte: u8) {
        match byte {
            b'\t' => {
                self.tab(1);
                self.moved();
            }
            0x0e | 0x0f => self.shift_charset(byte == 0x0e),
            0x08 | b'\n' | 0x0b | 0x0c | b'\r' => {
                self.moved();
                match byte {
                    0x08 => self.backspace(),
                    b'\r' => self.carriage_return(),
                    _ => self.line_feed(),
                }
            }
            _ => {}
        }
    }

    fn escape(&mut self, intermediates: &[u8], last: u8) {
        let charset = if last == b'0' { Charset::Drawing } else { Charset::Ascii };
        match (intermediates, last) {
            ([], b'=' | b'>') => self.set_application_keypad(last == b'='),
            ([], b'Z') => self.device_attributes(),
            ([b'('], _) => self.designate(false, charset),
            ([b')'], _) => self.designate(true, charset),
            ([], b'7') => self.save_cursor(),
            _ => {
                self.moved();
                match (intermediates, last) {
                    ([], b'c') => self.hard_reset(),
                    ([], b'M') => self.reverse_index(),
                    ([], b'8') => self.restore_cursor(),
                    ([], b'D') => self.index(),
                    ([], b'E') => self.next_line(),
                    ([], b'H') => self.set_tab(true),
                    ([b'#'], b'8') => self.alignment_pattern(),
                    _ => {}
                }
            }
        }
    }

    fn csi(&mut self, csi: Csi<'_>) {
        let number = csi.number(0);
        match (csi.prefix, csi.intermediates, csi.last) {
            (None, [], b'm') => self.set_rendition(sgr::parse(csi.params)),
            (None, [], b'c') if csi.asks(0) => self.device_attributes(),
            (Some(b'>'), [], b'c') if csi.asks(0) => {
                self.reply(format_args!("\x1b[>0;10;0c"));
            }
            (None, [], b'n') if csi.asks(5) => self.reply(format_args!("\x1b[0n")),
            (None, [], b'n') if csi.asks(6) => {
                let (row, col) = self.reported_cursor();
                self.reply(format_args!("\x1b[{row};{col}R"));
            }
            (Some(b'?'), [], b'n') if csi.asks(6) => {
                let (row, col) = self.reported_cursor();
                self.reply(format_args!("\x1b[?{row};{col}R"));
            }
            (Some(b'?'), [b'$'], b'p') if csi.asks(number) => {
                self.report_mode(true, number);
            }
            (None, [b'$'], b'p') if csi.asks(number) => {
                self.report_mode(false, number);
            }
            (Some(b'>'), [], b'q') if csi.asks(0) => self.report_version(),
            (Some(b'?'), [], b'u') if csi.params.is_empty() => self.reply(format_args!("\x1b[?0u")),
            (Some(b'?'), [], b'h') => self.set_modes(csi, true),
            (Some(b'?'), [], b'l') => self.set_modes(csi, false),
            (Some(b'?'), [], b's') => self.save_modes(csi),
            (Some(b'?'), [], b'r') => self.restore_modes(csi),
            (None, [], b'h') => self.set_ansi_modes(csi, true),
            (None, [], b'l') => self.set_ansi_modes(csi, false),
            (None, [], b't') => self.window_operation(csi),
            (None, [b'"'], b'q') => self.set_protection(number),
            (None, [], b'J') if number == 3 => self.scrollback_mut().clear(),
            (None, [], b's') if self.can_have_sides() => {
                self.moved();
                self.set_sides(number, csi.number(1));
            }
            (None, [], b's') if csi.params.is_empty() => self.save_cursor(),
            (None, [], b's' | b'u') if !csi.params.is_empty() => {}
            (None, [], b'b') => self.repeat(number),
            (None, [], b'I') => {
                self.tab(number);
                self.moved();
            }
            (None, [], b'Z') => {
                self.back_tab(number);
                self.moved();
            }
            _ => {
                self.moved();
                self.move_or_erase(csi);
            }
        }
    }

    fn osc(&mut self, payload: &[u8], end: Terminator) {
        match Osc::parse(payload) {
            Some(Osc::Title(title)) => self.set_title(Arc::from(title)),
            Some(Osc::Progress(progress)) => self.set_progress(progress),
            Some(Osc::Notification(notification)) => {
                self.fed.signals.push(Signal::Notification(notification));
            }
            Some(Osc::ProgramStatus(status)) => {
                self.fed.signals.push(Signal::ProgramStatus(status));
            }
            Some(Osc::ProgramStatusQuery) => self.report_status_support(end),
            Some(Osc::Colors(requests)) => {
                for request in requests {
                    self.color(request, end);
                }
            }
            None => {}
        }
    }

    fn dcs(&mut self, payload: &[u8]) {
        // Requests for capabilities and for unknown settings get the reply for unknown ones, so
        // that no program waits for it; the reply repeats nothing of the request.
        if let Some(setting) = payload.strip_prefix(b"$q") {
            self.report_setting(setting);
        } else if payload.starts_with(b"+q") {
            self.reply(format_args!("\x1bP0+r\x1b\\"));
        }
    }
}

impl Engine {
    /// The sequences after which the cursor is no longer right behind the last character.
    fn move_or_erase(&mut self, csi: Csi<'_>) {
        let number = csi.number(0);
        match (csi.prefix, csi.intermediates, csi.last) {
            (None, [b'!'], b'p') => self.soft_reset(),
            (None, [], b'u') => self.restore_cursor(),
            (None, [], b'r') => self.set_margins(number, csi.number(1)),
            (None, [], b'C') => self.forth(number),
            (None, [], b'D') => self.back(number),
            (None, [], b'G' | b'`') => self.set_column(number),
            (None, [], b'H' | b'f') => self.set_position(number, csi.number(1)),
            (None, [], b'e') => self.down(number),
            (None, [], b'@') => self.shift_characters(Direction::Right, number),
            (None, [], b'P') => self.shift_characters(Direction::Left, number),
            (None, [], b'L') => self.shift_lines(Direction::Down, number),
            (None, [], b'M') => self.shift_lines(Direction::Up, number),
            (None, [], b'S') => self.scroll(Direction::Up, number),
            (None, [], b'T') => self.scroll(Direction::Down, number),
            (None, [b' '], b'@') => self.scroll(Direction::Left, number),
            (None, [b' '], b'A') => self.scroll(Direction::Right, number),
            (None, [b'\''], b'}') => self.shift_columns(Direction::Right, number),
            (None, [b'\''], b'~') => self.shift_columns(Direction::Left, number),
            (None, [], b'X') => self.erase_characters(number),
            (None, [], b'J' | b'K') => self.erase_parsed(csi),
            (Some(b'?'), [], b'J' | b'K') => {
                if let Some(extent) = Extent::from_number(number) {
                    self.erase_selectively(extent, csi.last == b'J');
                }
            }
            (None, [], b'g' | b'W') | (Some(b'?'), [], b'W') => self.change_tabs(csi),
            (None, [], b'E' | b'F') => {
                self.forward(csi);
                self.carriage_return();
            }
            (None, [], b'A' | b'B' | b'a' | b'd') => self.forward(csi),
            _ => {}
        }
    }

    fn change_tabs(&mut self, csi: Csi<'_>) {
        match (csi.prefix, csi.last, csi.number(0)) {
            (None, b'W', 0) => self.set_tab(true),
            (None, b'g', 0) | (None, b'W', 2) => self.set_tab(false),
            (None, b'g', 3) | (None, b'W', 5) => self.clear_tabs(),
            (Some(b'?'), b'W', 5) => self.reset_tabs(),
            _ => {}
        }
    }

    fn color(&mut self, request: ColorRequest, end: Terminator) {
        match request {
            ColorRequest::Query(slot) => {
                let (reply, end) = (self.colors.reply(slot), end.as_str());
                self.reply(format_args!("\x1b]{reply}{end}"));
            }
            ColorRequest::Set(slot, color) => self.colors.set(slot, color),
            ColorRequest::Reset(slot) => self.colors.reset(slot),
            ColorRequest::ResetPalette => self.colors.reset_palette(),
        }
    }
}

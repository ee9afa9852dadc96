//! The lines that scrolled off the top of the primary screen, bounded in number and memory.
//! Line numbers are absolute and never used twice.

use std::collections::VecDeque;

use super::row::Row;

/// The most memory that the lines may take.
const MEMORY_LIMIT: usize = 16 * 1024 * 1024;

/// The number of a line since the session began, counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct LineNumber(pub u64);

/// The kept lines, oldest first.
#[derive(Debug)]
pub struct Scrollback {
    lines: VecDeque<Row>,
    first: u64,
    memory: usize,
    line_limit: usize,
    memory_limit: usize,
}

impl Scrollback {
    pub fn new(line_limit: usize) -> Self {
        Self::with_memory_limit(line_limit, MEMORY_LIMIT)
    }

    fn with_memory_limit(line_limit: usize, memory_limit: usize) -> Self {
        Self { lines: VecDeque::new(), first: 0, memory: 0, line_limit, memory_limit }
    }

    pub fn push(&mut self, line: Row) {
        self.memory += line.memory();
        self.lines.push_back(line);
        while self.lines.len() > self.line_limit || self.memory > self.memory_limit {
            let Some(oldest) = self.lines.pop_front() else { break };
            self.memory -= oldest.memory();
            self.first += 1;
        }
    }

    pub fn len(&self) -> usize {
        self.lines.len()
    }

    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The number of the oldest kept line; equal to `next_line` when none is kept.
    pub fn first_line(&self) -> LineNumber {
        LineNumber(self.first)
    }

    /// The number that the next line will get.
    pub fn next_line(&self) -> LineNumber {
        LineNumber(self.first + self.lines.len() as u64)
    }

    /// Up to `limit` lines from number `from` on; lines that were dropped are skipped, as the
    /// returned numbers show.
    pub fn range(
        &self,
        from: LineNumber,
        limit: usize,
    ) -> impl ExactSizeIterator<Item = (LineNumber, &Row)> {
        let start = from.0.saturating_sub(self.first);
        let start = usize::try_from(start).unwrap_or(usize::MAX).min(self.lines.len());
        let end = start.saturating_add(limit).min(self.lines.len());
        let first = self.first + start as u64;
        self.lines
            .range(start..end)
            .enumerate()
            .map(move |(index, row)| (LineNumber(first + index as u64), row))
    }

    /// The last `count` lines, oldest first.
    pub fn last(&self, count: usize) -> impl ExactSizeIterator<Item = (LineNumber, &Row)> {
        let skipped = self.lines.len().saturating_sub(count) as u64;
        self.range(LineNumber(self.first + skipped), count)
    }

    /// Drops all lines; their numbers are not used again.
    pub fn clear(&mut self) {
        self.first += self.lines.len() as u64;
        self.lines = VecDeque::new();
        self.memory = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::cluster::Clusters;
    use crate::term::row::RowBuilder;

    fn line(text: &str) -> Row {
        let mut terminal = avt::Terminal::new(40, 1).unwrap();
        terminal.feed(text);
        RowBuilder::default()
            .build(terminal.screen().line(0).unwrap().cells(), &Clusters::default())
    }

    fn texts<'a>(lines: impl Iterator<Item = (LineNumber, &'a Row)>) -> Vec<(u64, String)> {
        lines.map(|(number, row)| (number.0, row.text().to_owned())).collect()
    }

    #[test]
    fn numbers_are_absolute_and_never_reused() {
        let mut scrollback = Scrollback::new(3);
        for n in 0..5 {
            scrollback.push(line(&format!("line {n}")));
        }
        assert_eq!(scrollback.first_line(), LineNumber(2));
        assert_eq!(scrollback.next_line(), LineNumber(5));
        assert_eq!(
            texts(scrollback.range(LineNumber(0), 2)),
            [(2, "line 2".into()), (3, "line 3".into())]
        );
        assert_eq!(texts(scrollback.range(LineNumber(4), 9)), [(4, "line 4".into())]);
        assert_eq!(scrollback.range(LineNumber(u64::MAX), usize::MAX).len(), 0);
        assert_eq!(texts(scrollback.last(1)), [(4, "line 4".into())]);
        scrollback.clear();
        assert!(scrollback.is_empty());
        scrollback.push(line("after"));
        assert_eq!(texts(scrollback.last(10)), [(5, "after".into())]);
    }

    #[test]
    fn memory_is_bounded_as_well_as_the_number_of_lines() {
        let cost = line("0123456789").memory();
        let mut scrollback = Scrollback::with_memory_limit(1000, 10 * cost);
        for _ in 0..100 {
            scrollback.push(line("0123456789"));
        }
        assert_eq!(scrollback.len(), 10);
        assert_eq!(scrollback.first_line(), LineNumber(90));
        for _ in 0..100 {
            scrollback.push(line(""));
        }
        assert!(scrollback.memory <= 10 * cost);
        assert_eq!(scrollback.memory, scrollback.lines.iter().map(Row::memory).sum::<usize>());
    }

    #[test]
    fn a_limit_of_zero_keeps_no_lines_and_still_counts_them() {
        let mut scrollback = Scrollback::new(0);
        scrollback.push(line("x"));
        assert!(scrollback.is_empty());
        assert_eq!(scrollback.next_line(), LineNumber(1));
    }
}

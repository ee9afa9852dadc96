//! Observes avt while it draws: keeps the rows that leave the screen, and which rows changed.
//! It does not know what is drawn.

use std::ops::Range;

use avt::{Observation, Observer};

use super::cluster::Clusters;
use super::row::RowBuilder;
use super::scrollback::Scrollback;
use super::size::Size;

/// What drawing changes besides avt's own state.
pub(super) struct Canvas {
    pub(super) scrollback: Scrollback,
    pub(super) builder: RowBuilder,
    /// What the cells hold that no single character can say.
    pub(super) clusters: Clusters,
    /// For each row, whether it may differ from the last snapshot.
    pub(super) dirty: Vec<bool>,
    pub(super) changed: bool,
}

impl Canvas {
    pub(super) fn new(size: Size, scrollback: Scrollback) -> Self {
        Self {
            scrollback,
            builder: RowBuilder::default(),
            clusters: Clusters::default(),
            dirty: vec![true; usize::from(size.rows())],
            changed: false,
        }
    }
}

impl Observer for &mut Canvas {
    type Output = ();

    fn resized(&mut self, _cols: usize, rows: usize) {
        self.dirty.clear();
        self.dirty.resize(rows, true);
        self.changed = true;
    }

    fn dirty(&mut self, rows: Range<usize>) {
        self.changed = true;
        // Nearly every call is about the one row that is printed on.
        if rows.len() == 1 {
            if let Some(row) = self.dirty.get_mut(rows.start) {
                *row = true;
            }
        } else if let Some(rows) = self.dirty.get_mut(rows) {
            rows.fill(true);
        }
    }

    fn evicted(&mut self, _: &mut Observation<'_>, line: &avt::Line) {
        let row = self.builder.build(line.cells(), &self.clusters);
        self.scrollback.push(row);
    }

    fn end(&mut self, _: &mut Observation<'_>) {}
}

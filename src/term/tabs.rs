//! The tab stops of a terminal. It does not know where the cursor is.

const DISTANCE: usize = 8;

/// For each column, whether a tab stops there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tabs {
    stops: Vec<bool>,
}

impl Tabs {
    pub(super) fn new(cols: u16) -> Self {
        Self { stops: (0..usize::from(cols)).map(is_default).collect() }
    }

    /// Columns that are new get the stops of a fresh terminal.
    pub(super) fn resize(&mut self, cols: u16) {
        let cols = usize::from(cols);
        self.stops.truncate(cols);
        self.stops.extend((self.stops.len()..cols).map(is_default));
    }

    pub(super) fn set(&mut self, col: usize, stop: bool) {
        if let Some(slot) = self.stops.get_mut(col) {
            *slot = stop;
        }
    }

    pub(super) fn clear(&mut self) {
        self.stops.fill(false);
    }

    /// The next stop, or the last column.
    pub(super) fn after(&self, col: usize) -> usize {
        let stops = self.stops.iter().enumerate().skip(col + 1);
        stops.filter(|(_, stop)| **stop).map(|(col, _)| col).next().unwrap_or(self.last())
    }

    /// The stop before, or the first column.
    pub(super) fn before(&self, col: usize) -> usize {
        let stops = self.stops.iter().enumerate().take(col);
        stops.rev().find(|(_, stop)| **stop).map_or(0, |(col, _)| col)
    }

    pub(super) fn is_default(&self) -> bool {
        self.stops.iter().enumerate().all(|(col, stop)| *stop == is_default(col))
    }

    pub(super) fn stops(&self) -> impl Iterator<Item = usize> {
        self.stops.iter().enumerate().filter(|(_, stop)| **stop).map(|(col, _)| col)
    }

    fn last(&self) -> usize {
        self.stops.len().saturating_sub(1)
    }
}

fn is_default(col: usize) -> bool {
    col > 0 && col.is_multiple_of(DISTANCE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stops_are_found_in_both_directions() {
        let mut tabs = Tabs::new(20);
        assert_eq!([0, 7, 8, 16, 19].map(|col| tabs.after(col)), [8, 8, 16, 19, 19]);
        assert_eq!([0, 8, 9, 19].map(|col| tabs.before(col)), [0, 0, 8, 16]);
        tabs.set(3, true);
        tabs.set(8, false);
        tabs.set(99, true);
        assert_eq!((tabs.after(0), tabs.after(3), tabs.before(16)), (3, 16, 3));
        assert!(!tabs.is_default());
        tabs.resize(10);
        tabs.resize(30);
        assert_eq!(tabs.stops().collect::<Vec<_>>(), [3, 16, 24]);
        tabs.clear();
        assert_eq!((tabs.after(0), tabs.before(9)), (29, 0));
    }
}

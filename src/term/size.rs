//! The size of a terminal, valid by construction. It does not know what a resize does.

/// The largest number of columns or rows, which bounds the memory of one screen to 32 MiB.
const LIMIT: u32 = 1000;

/// Columns and rows, each from 1 to 1000.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    cols: u16,
    rows: u16,
}

/// A size outside of the limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "terminal size {cols}x{rows} is out of range: columns and rows must each be from 1 to 1000"
)]
pub struct InvalidSize {
    pub cols: u32,
    pub rows: u32,
}

impl Size {
    pub fn new(cols: u32, rows: u32) -> Result<Self, InvalidSize> {
        match (within_limit(cols), within_limit(rows)) {
            (Some(cols), Some(rows)) => Ok(Self { cols, rows }),
            _ => Err(InvalidSize { cols, rows }),
        }
    }

    pub fn cols(self) -> u16 {
        self.cols
    }

    pub fn rows(self) -> u16 {
        self.rows
    }
}

fn within_limit(count: u32) -> Option<u16> {
    if (1..=LIMIT).contains(&count) { u16::try_from(count).ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_inclusive() {
        for (cols, rows) in [(1, 1), (1000, 1000), (200, 50)] {
            let size = Size::new(cols, rows).unwrap();
            assert_eq!((u32::from(size.cols()), u32::from(size.rows())), (cols, rows));
        }
        for (cols, rows) in [(0, 1), (1, 0), (1001, 1), (1, 1001), (65535, 65535), (u32::MAX, 1)] {
            let error = Size::new(cols, rows).unwrap_err();
            assert_eq!(error, InvalidSize { cols, rows });
            assert!(error.to_string().contains("from 1 to 1000"));
        }
    }
}

//! Gives the characters that share one cell a code point of their own, because a cell of avt holds
//! one. It does not know where the cells are: its owner says which code points are still in use.

use std::collections::HashMap;
use std::sync::Arc;

use super::width::Width;

/// How many clusters are known at a time. More on one screen lose their marks.
const LIMIT: usize = 16 * 1024;
/// The longest cluster in bytes; the longest emoji of Unicode has 35.
const LENGTH_LIMIT: usize = 64;
/// The code points that stand for narrow clusters: private use, where no icon font is.
const NARROW: u32 = 0x10_0000;
/// The same for wide ones: plane 3 is two columns wide, and nothing is assigned from here on.
const WIDE: u32 = 0x3_8000;
/// How many clusters are refused before it is worth a search for unused ones again.
const PATIENCE: usize = 4096;

/// What one cell shows.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Cluster {
    pub(super) text: Box<str>,
    pub(super) width: Width,
    /// Whether the cell is protected from selective erasing (DECSCA).
    pub(super) protected: bool,
}

impl Cluster {
    /// `None` if the text is too long to be kept.
    pub(super) fn new(text: &str, width: Width, protected: bool) -> Option<Self> {
        (text.len() <= LENGTH_LIMIT).then(|| Self { text: Box::from(text), width, protected })
    }
}

/// The known clusters, each with its code point. Its memory is bounded.
#[derive(Debug, Default)]
pub(super) struct Clusters {
    slots: Vec<Option<Arc<Cluster>>>,
    numbers: HashMap<Arc<Cluster>, u32>,
    free: Vec<u32>,
    /// How many clusters were refused since the last search for unused ones.
    refused: usize,
}

impl Clusters {
    /// Whether a code point stands for clusters only. One that a program prints must be a cluster
    /// itself, so that it is not taken for another.
    pub(super) fn reserves(c: char) -> bool {
        number(c).is_some()
    }

    /// The cluster that a cell's character stands for; `None` if it stands for itself.
    #[inline]
    pub(super) fn get(&self, c: char) -> Option<&Cluster> {
        let slot = self.slots.get(number(c)? as usize)?;
        slot.as_deref()
    }

    /// The code point of a cluster; `None` if all are taken.
    pub(super) fn intern(&mut self, cluster: Cluster) -> Option<char> {
        let width = cluster.width;
        if let Some(number) = self.numbers.get(&cluster) {
            return code_point(*number, width);
        }
        let number = match self.free.pop() {
            Some(number) => number,
            None if self.slots.len() < LIMIT => {
                self.slots.push(None);
                u32::try_from(self.slots.len() - 1).ok()?
            }
            None => {
                self.refused += 1;
                return None;
            }
        };
        let cluster = Arc::new(cluster);
        *self.slots.get_mut(number as usize)? = Some(Arc::clone(&cluster));
        self.numbers.insert(cluster, number);
        code_point(number, width)
    }

    /// Whether a search for unused clusters is worth its time, after one was refused.
    pub(super) fn wants_search(&self) -> bool {
        self.refused % PATIENCE == 1
    }

    /// Forgets the clusters that no cell holds.
    pub(super) fn retain(&mut self, held: impl Iterator<Item = char>) {
        let mut used = vec![false; self.slots.len()];
        for number in held.filter_map(number) {
            if let Some(used) = used.get_mut(number as usize) {
                *used = true;
            }
        }
        for ((number, slot), used) in (0..).zip(&mut self.slots).zip(used) {
            if let Some(cluster) = slot.take_if(|_| !used) {
                self.numbers.remove(&cluster);
                self.free.push(number);
            }
        }
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }
}

#[inline]
fn number(c: char) -> Option<u32> {
    let c = u32::from(c);
    if c < WIDE {
        return None;
    }
    let base = if c >= NARROW { NARROW } else { WIDE };
    let number = c - base;
    ((number as usize) < LIMIT).then_some(number)
}

fn code_point(number: u32, width: Width) -> Option<char> {
    char::from_u32(number + if width == Width::Wide { WIDE } else { NARROW })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cluster(text: &str, width: Width) -> Cluster {
        Cluster::new(text, width, false).unwrap()
    }

    #[test]
    fn code_points_have_the_width_of_their_clusters() {
        for number in [0, 1, LIMIT - 1] {
            let number = u32::try_from(number).unwrap();
            assert_eq!(Width::of(code_point(number, Width::Narrow).unwrap()), Width::Narrow);
            assert_eq!(Width::of(code_point(number, Width::Wide).unwrap()), Width::Wide);
        }
        assert!(Clusters::reserves('\u{100000}') && Clusters::reserves('\u{38000}'));
        assert!(!Clusters::reserves('\u{f0001}') && !Clusters::reserves('\u{104000}'));
        assert_eq!(Cluster::new(&"x".repeat(LENGTH_LIMIT + 1), Width::Narrow, false), None);
    }

    #[test]
    fn a_full_table_refuses_until_something_is_unused() {
        let mut clusters = Clusters::default();
        let texts: Vec<_> = (0..LIMIT).map(|n| format!("{n}\u{301}")).collect();
        let codes: Vec<_> = texts
            .iter()
            .map(|text| clusters.intern(cluster(text, Width::Narrow)).unwrap())
            .collect();
        assert_eq!(clusters.intern(cluster("more", Width::Narrow)), None);
        assert!(clusters.wants_search());
        clusters.retain(codes.iter().copied().skip(1));
        assert_eq!(clusters.len(), LIMIT - 1);
        assert_eq!(clusters.intern(cluster("more", Width::Narrow)), codes.first().copied());
        assert_eq!(clusters.intern(cluster(&texts[1], Width::Narrow)), Some(codes[1]));
    }

    /// The cell, the text in it, whether that is wide, whether protected, whether to search then.
    fn step() -> impl Strategy<Value = (usize, String, bool, bool, bool)> {
        let text = "[a-e][\u{301}-\u{303}]{1,2}";
        (0_usize..8, text, any::<bool>(), any::<bool>(), any::<bool>())
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        /// Cells come and go in any order; each always reads as what was put there.
        #[test]
        fn what_a_cell_holds_is_never_replaced(
            steps in prop::collection::vec(step(), 1..200),
        ) {
            let mut clusters = Clusters::default();
            let mut cells: [Option<(char, Cluster)>; 8] = Default::default();
            for (cell, text, wide, protected, search) in steps {
                let width = if wide { Width::Wide } else { Width::Narrow };
                let cluster = Cluster::new(&text, width, protected).unwrap();
                let c = clusters.intern(cluster.clone()).unwrap();
                prop_assert_eq!(Width::of(c), width);
                cells[cell] = Some((c, cluster));
                if search {
                    clusters.retain(cells.iter().flatten().map(|(c, _)| *c));
                    let mut held: Vec<_> = cells.iter().flatten().map(|(c, _)| *c).collect();
                    held.sort_unstable();
                    held.dedup();
                    prop_assert_eq!(clusters.len(), held.len());
                }
                for (c, cluster) in cells.iter().flatten() {
                    prop_assert_eq!(clusters.get(*c), Some(cluster));
                }
            }
        }
    }
}

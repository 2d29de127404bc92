//! What readers of an index see of it: published rows. No lock here is held while the disk is waited for.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use super::files::Files;
use super::hasher::Secret;
use super::strip::{Extent, Strip, StripKind};
use super::writer::Grown;

/// See the module.
pub struct Shared {
    files: Files,
    secret: Secret,
    piece_pages: i64,
    counts: Arc<Strip>,
    partitions: RwLock<Vec<Arc<Strip>>>,
    indexed: AtomicI64,
    /// A reader found damage.
    is_damaged: AtomicBool,
    /// Told when it is found.
    on_damage: OnceLock<Box<dyn Fn() + Send + Sync>>,
}

const COUNTS: u8 = b'C';
const LINKS: u8 = b'L';

impl Shared {
    /// An index of all commits below `indexed`, with this in its strips: that of the counts first.
    pub fn new(files: Files, secret: Secret, piece_pages: i64, indexed: i64, extents: Vec<Extent>) -> Shared {
        let mut extents = extents.into_iter();
        let strip = |letter, number, extent| {
            let kind = StripKind { letter, number, piece_pages };
            Arc::new(Strip::new(kind, files.clone(), &secret, extent))
        };
        let counts = strip(COUNTS, 0, extents.next().unwrap_or_default());
        let partitions = (0..).zip(extents).map(|(number, extent)| strip(LINKS, number, extent)).collect();
        Shared {
            counts,
            partitions: RwLock::new(partitions),
            indexed: AtomicI64::new(indexed),
            is_damaged: AtomicBool::new(false),
            on_damage: OnceLock::new(),
            files,
            secret,
            piece_pages,
        }
    }

    /// Commits below are indexed.
    pub fn indexed(&self) -> i64 {
        self.indexed.load(Ordering::Acquire)
    }

    pub fn counts(&self) -> &Arc<Strip> {
        &self.counts
    }

    /// The partition's strip, if anything of it was indexed.
    pub fn partition(&self, partition: u32) -> Option<Arc<Strip>> {
        self.partitions.read().unwrap_or_else(PoisonError::into_inner).get(partition as usize).cloned()
    }

    /// All strips, that of the counts first.
    pub fn strips(&self) -> Vec<Arc<Strip>> {
        let partitions = self.partitions.read().unwrap_or_else(PoisonError::into_inner);
        std::iter::once(&self.counts).chain(partitions.iter()).cloned().collect()
    }

    /// The partition's strip, made if it is new.
    pub fn strip(&self, partition: u32) -> Arc<Strip> {
        if let Some(strip) = self.partition(partition) {
            return strip;
        }
        let mut partitions = self.partitions.write().unwrap_or_else(PoisonError::into_inner);
        while partitions.len() <= partition as usize {
            let kind = StripKind { letter: LINKS, number: partitions.len() as u32, piece_pages: self.piece_pages };
            partitions.push(Arc::new(Strip::new(kind, self.files.clone(), &self.secret, Extent::default())));
        }
        partitions[partition as usize].clone()
    }

    /// What was written takes its place; nobody reads it yet.
    pub fn install(&self, grown: Grown) {
        self.counts.install(grown.counts);
        grown.partitions.into_iter().for_each(|(partition, growth)| self.strip(partition).install(growth));
    }

    /// Commits below `next` may be read: they end at `ends`. The rows first, for whoever sees the commit reads them.
    pub fn publish(&self, next: i64, ends: &[i64]) {
        for (partition, end) in (0..).zip(ends) {
            if *end > 0 {
                self.strip(partition).publish(*end);
            }
        }
        self.counts.publish(next);
        self.indexed.store(next, Ordering::Release);
    }

    pub fn mark_damaged(&self) {
        self.is_damaged.store(true, Ordering::Release);
    }

    /// Remembers damage that a reader found, and tells of it if it is news.
    pub fn found_damaged(&self) {
        if !self.is_damaged.swap(true, Ordering::AcqRel)
            && let Some(tell) = self.on_damage.get()
        {
            tell();
        }
    }

    /// `tell` is called once a reader finds damage. The first one stays.
    pub fn on_damage(&self, tell: Box<dyn Fn() + Send + Sync>) {
        self.on_damage.get_or_init(|| tell);
    }

    pub fn is_damaged(&self) -> bool {
        self.is_damaged.load(Ordering::Acquire)
    }
}

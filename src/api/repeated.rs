//! What a request asks for twice. In one pass, since a request may name very many things.

use std::collections::HashSet;
use std::hash::Hash;

/// The keys that stand more than once.
pub fn repeated<K: Eq + Hash>(keys: impl Iterator<Item = K>) -> HashSet<K> {
    let mut once = HashSet::new();
    let mut twice = HashSet::new();
    for key in keys {
        if let Some(key) = once.replace(key) {
            twice.insert(key);
        }
    }
    twice
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_twice_or_more_is_found_once() {
        assert_eq!(repeated([1, 2, 3, 2, 3, 3].iter()), HashSet::from([&2, &3]));
        assert!(repeated("abc".chars()).is_empty());
    }
}

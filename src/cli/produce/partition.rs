//! Which partition a record goes to: the same as with Kafka's own producers.

/// Chooses partitions.
pub struct Partitioner {
    /// Those of the topic, in order.
    partitions: Vec<i32>,
    fixed: Option<i32>,
    /// Where records without a key go, until the batch is sent.
    sticky: usize,
}

impl Partitioner {
    /// `fixed` takes all records, whatever their key.
    pub fn new(partitions: Vec<i32>, fixed: Option<i32>) -> Partitioner {
        Partitioner { partitions, fixed, sticky: 0 }
    }

    pub fn choose(&self, key: Option<&[u8]>) -> i32 {
        match (self.fixed, key) {
            (Some(partition), _) => partition,
            (None, Some(key)) => self.partitions[positive(murmur2(key)) % self.partitions.len()],
            (None, None) => self.partitions[self.sticky],
        }
    }

    /// A batch was sent: records without a key go to the next partition.
    pub fn turn(&mut self) {
        self.sticky = (self.sticky + 1) % self.partitions.len();
    }
}

fn positive(hash: u32) -> usize {
    (hash & 0x7fff_ffff) as usize
}

/// MurmurHash2 with Kafka's seed.
fn murmur2(bytes: &[u8]) -> u32 {
    const SEED: u32 = 0x9747_b28c;
    const FACTOR: u32 = 0x5bd1_e995;
    let mut hash = SEED ^ bytes.len() as u32;
    let (words, rest) = bytes.as_chunks::<4>();
    for word in words {
        let mut word = u32::from_le_bytes(*word).wrapping_mul(FACTOR);
        word = (word ^ word >> 24).wrapping_mul(FACTOR);
        hash = hash.wrapping_mul(FACTOR) ^ word;
    }
    if !rest.is_empty() {
        let rest = rest.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte));
        hash = (hash ^ rest).wrapping_mul(FACTOR);
    }
    hash = (hash ^ hash >> 13).wrapping_mul(FACTOR);
    hash ^ hash >> 15
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_hashed_as_kafka_does() {
        // From Kafka's own tests of Utils.murmur2.
        let hashes = [
            ("21", -973_932_308),
            ("foobar", -790_332_482),
            ("a-little-bit-long-string", -985_981_536),
            ("a-little-bit-longer-string", -1_486_304_829),
            ("lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58_897_971),
            ("abc", 479_470_107),
        ];
        for (key, hash) in hashes {
            assert_eq!(murmur2(key.as_bytes()) as i32, hash, "{key}");
        }
    }

    #[test]
    fn a_key_stays_in_its_partition_and_no_key_goes_round() {
        let mut partitioner = Partitioner::new(vec![0, 1, 2], None);
        let of_key = partitioner.choose(Some(b"k"));
        assert_eq!(partitioner.choose(None), 0);
        partitioner.turn();
        assert_eq!((partitioner.choose(None), partitioner.choose(Some(b"k"))), (1, of_key));
        assert_eq!(Partitioner::new(vec![0, 1, 2], Some(2)).choose(Some(b"k")), 2);
    }
}

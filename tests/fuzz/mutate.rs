//! Changes to sound bytes.

use streamstack::disk::SplitMix;

/// Numbers that lengths and counts go wrong with.
const NUMBERS: [i64; 12] = [0, 1, -1, -2, 0x7f, 0xff, 0x7fff, 0xffff, 0x7fff_ffff, 0x8000_0000, i64::MAX, i64::MIN];

/// One to six changes.
pub fn mutate(bytes: &mut Vec<u8>, random: &mut SplitMix) {
    for _ in 0..=random.below(6) {
        mutate_once(bytes, random);
    }
}

fn mutate_once(bytes: &mut Vec<u8>, random: &mut SplitMix) {
    if bytes.is_empty() {
        return bytes.push(random.below(256) as u8);
    }
    let at = random.below(bytes.len() as u64) as usize;
    let until = (at + 1 + random.below(16) as usize).min(bytes.len());
    match random.below(8) {
        0 => bytes[at] ^= 1 << random.below(8),
        1 => bytes[at] = random.below(256) as u8,
        2 => bytes.truncate(at),
        3 => drop(bytes.drain(at..until)),
        4 => {
            let copied = bytes[at..until].to_vec();
            bytes.splice(at..at, copied);
        }
        5 => bytes.insert(at, random.below(256) as u8),
        6 => {
            let number = NUMBERS[random.below(NUMBERS.len() as u64) as usize].to_be_bytes();
            let width = [1, 2, 4, 8][random.below(4) as usize].min(bytes.len() - at);
            bytes[at..at + width].copy_from_slice(&number[8 - width..]);
        }
        _ => {
            let fill = [0, 0xff, 0x80][random.below(3) as usize];
            bytes[at..until].fill(fill);
        }
    }
}

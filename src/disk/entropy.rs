//! Randomness of the machine: ids and salts that nobody may guess.

use std::io;

use rustix::io::Errno;
use rustix::rand::{GetRandomFlags, getrandom};
use uuid::Uuid;

/// `N` random bytes.
pub fn bytes<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    let mut done = 0;
    while done < N {
        match getrandom(&mut bytes[done..], GetRandomFlags::empty()) {
            Ok(count) => done += count,
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(bytes)
}

/// A random (version 4) UUID.
pub fn uuid() -> io::Result<Uuid> {
    Ok(uuid::Builder::from_random_bytes(bytes()?).into_uuid())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_draws_differ() {
        assert_ne!(bytes::<16>().unwrap(), bytes::<16>().unwrap());
        let id = uuid().unwrap();
        assert_eq!(id.get_version_num(), 4);
        assert_ne!(id, uuid().unwrap());
    }
}

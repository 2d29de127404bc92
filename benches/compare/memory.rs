//! The memory of the machine, touched before anything is measured.
//!
//! A virtual machine gets its memory from the host page by page, at the first touch: a page fault there that costs ten
//! times what copying the page does, and that would be most of what a broker's writes to the page cache cost. A
//! machine that has run for a while has touched all of it. Reading a file of holes fills the page cache without the disk.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::Fault;

/// Left alone: what the brokers and the load need for themselves.
const ASIDE_BYTES: u64 = 1 << 30;

/// Fills the page cache with clean pages, which the kernel takes back as they are needed.
pub fn warm(folder: &Path) -> Result<(), Fault> {
    std::fs::create_dir_all(folder)?;
    let mut file = tempfile::tempfile_in(folder)?;
    let bytes = free_bytes()?.saturating_sub(ASIDE_BYTES);
    file.set_len(bytes)?;
    drain(&mut file)?;
    // Its pages would go with it.
    std::mem::forget(file);
    Ok(())
}

fn drain(file: &mut File) -> Result<(), Fault> {
    let mut piece = vec![0; 1 << 20];
    while file.read(&mut piece)? > 0 {}
    Ok(())
}

/// Memory that holds nothing.
fn free_bytes() -> Result<u64, Fault> {
    let info = std::fs::read_to_string("/proc/meminfo")?;
    let line = info.lines().find_map(|line| line.strip_prefix("MemFree:")).ok_or("/proc/meminfo names no MemFree")?;
    let kib: u64 = line.trim().trim_end_matches("kB").trim().parse()?;
    Ok(kib << 10)
}

//! The journal: its files, frames and entries.

use std::path::Path;

use crate::disk::Disk;
use crate::model::codec;

use super::super::error::StoreError;
use super::super::journal::{self, FRAME_HEAD_BYTES, Found};
use super::super::span::Source;
use super::{Item, Kind, Plain, Selection, Sink};

/// Shows and verifies the journal in `folder`.
pub fn inspect(disk: &dyn Disk, folder: &Path, selection: &Selection, sink: Sink<'_>) -> Result<(), StoreError> {
    let (mut num_frames, mut num_entries) = (0_u64, 0_u64);
    for found in journal::inspect(disk, folder)? {
        match found {
            Found::File { file, bytes, header } => {
                (num_frames, num_entries) = (0, 0);
                if let Err(fault) = header {
                    sink(Item::new(Kind::Journal, &file, 0).fact("bytes", bytes).damaged(0, fault));
                }
            }
            Found::Frame { file, position, head } => {
                num_frames += 1;
                num_entries += u64::from(head.count);
                let item = Item::new(Kind::Frame, &file, position)
                    .fact("lsn", head.first.0)
                    .fact("count", head.count)
                    .fact("bytes", head.bytes)
                    .fact("synced", head.synced.0)
                    .fact("generation", head.generation);
                if selection.frames {
                    sink(item);
                }
                entries(disk, &file, position, head.first.0, head.bytes, selection, sink);
            }
            Found::End { file, position, lsn, fault, proof } => {
                let item = Item::new(Kind::Journal, &file, position)
                    .fact("frames", num_frames)
                    .fact("entries", num_entries)
                    .fact("next_lsn", lsn.0);
                sink(match proof {
                    Some(synced) => {
                        item.damaged(position, format!("{fault}, though entries below {synced} were durable"))
                    }
                    None => item,
                });
            }
            Found::Gap { file, expected, found } => {
                sink(
                    Item::new(Kind::Journal, &file, 0)
                        .damaged(0, format!("it starts at entry {found}, {expected} is due")),
                );
            }
            Found::Unreadable { file, error } => sink(Item::new(Kind::Journal, &file, 0).damaged(0, error)),
        }
    }
    Ok(())
}

/// Decodes the entries of a frame; shows them when asked to.
fn entries(
    disk: &dyn Disk,
    file: &Path,
    position: u64,
    first: u64,
    num_bytes: u64,
    selection: &Selection,
    sink: Sink<'_>,
) {
    let payload_at = position + FRAME_HEAD_BYTES as u64;
    let payload = Plain::open(disk, file.to_owned()).and_then(|plain| plain.slice(payload_at, position + num_bytes));
    let item = |kind, lsn: u64| Item::new(kind, file, position).fact("lsn", lsn);
    // The batches that stand in segments are looked at there.
    let decode = |payload| codec::decode_group(payload, &mut |apart| Ok(apart.hollow()));
    match payload.map(decode) {
        Ok(Ok(entries)) if selection.entries => {
            for (index, entry) in entries.iter().enumerate() {
                sink(item(Kind::Entry, first + index as u64).fact("entry", shortened(format!("{entry:?}"))));
            }
        }
        Ok(Ok(_)) => (),
        Ok(Err(error)) => sink(item(Kind::Frame, first).damaged(position, error)),
        Err(error) => sink(item(Kind::Frame, first).with(Err(error))),
    }
}

/// The bytes of batches would fill the screen.
fn shortened(text: String) -> String {
    const CHARS_MAX: usize = 240;
    match text.char_indices().nth(CHARS_MAX) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text,
    }
}

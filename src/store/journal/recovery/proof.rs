//! Proof that entries behind a stop were durable.

use super::reader::Stop;
use crate::disk::Disk;
use crate::model::Lsn;
use crate::store::journal::JournalError;
use crate::store::journal::files::{NamedFile, read_file};
use crate::store::journal::header::{FileHeader, HEADER_BYTES};
use crate::store::journal::residue::claim_behind;

/// Says where the journal speaks of durable entries past the stop, that no manifest covers.
pub(super) fn of_later_entries(
    disk: &dyn Disk,
    files: &[NamedFile],
    stop: &Stop,
    from: Lsn,
) -> Result<Option<String>, JournalError> {
    let needed = stop.lsn.max(from);
    let claim = stop.end.as_ref().and_then(|end| end.claim);
    if let Some(claim) = claim.filter(|claim| claim.synced > needed) {
        return Ok(Some(format!(
            "the frame at byte {} says that entries below {} were durable",
            claim.position, claim.synced
        )));
    }
    for file in &files[stop.num_kept..] {
        if let Some(proof) = of_file(disk, file, needed)? {
            return Ok(Some(format!("{} {proof}", file.path.display())));
        }
    }
    Ok(None)
}

fn of_file(disk: &dyn Disk, file: &NamedFile, needed: Lsn) -> Result<Option<String>, JournalError> {
    let content = read_file(disk, &file.path)?;
    let Ok(header) = FileHeader::decode(&content) else {
        return Ok(Some("has a damaged header".to_owned()));
    };
    if header.synced > needed {
        return Ok(Some(format!("says in its header that entries below {} were durable", header.synced)));
    }
    let claim = claim_behind(&content, HEADER_BYTES, header.generation);
    Ok(claim
        .filter(|claim| claim.synced > needed)
        .map(|claim| format!("says at byte {} that entries below {} were durable", claim.position, claim.synced)))
}

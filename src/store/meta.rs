//! `meta.properties`: whose data a folder holds. Written last when a folder is set up, so that where it is,
//! a manifest and a journal must be too.

use std::path::{Path, PathBuf};

use crate::disk::Disk;

use super::error::FileError;
use super::manifest::{read_whole, write_whole};

pub const META_FILE: &str = "meta.properties";
/// The format of the whole data folder. In format 1 the rows of tables had no checksums (see `row`).
pub const FORMAT: u32 = 2;

/// What the file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meta {
    /// The newest format of anything in the folder.
    pub format: u32,
    /// A UUID in base64, as Kafka writes it.
    pub cluster_id: String,
    pub node_id: i32,
}

/// Why a data folder is not ours to open.
#[derive(Debug, thiserror::Error)]
pub enum MetaError {
    #[error("{}: {what}; give streamstack a data folder of its own", .path.display())]
    Foreign { path: PathBuf, what: String },
    #[error("{} says format {found}, this version knows up to {FORMAT}: use a newer streamstack", .path.display())]
    Newer { path: PathBuf, found: u32 },
    #[error("{} says {field} {found}, the configuration says {expected}", .path.display())]
    Other { path: PathBuf, field: &'static str, found: String, expected: String },
    #[error(transparent)]
    File(#[from] FileError),
}

impl Meta {
    /// Of a folder that begins now.
    pub fn new(cluster_id: String, node_id: i32) -> Meta {
        Meta { format: FORMAT, cluster_id, node_id }
    }

    /// The file of the data folder `dir`; none when there is no such file.
    pub fn read(disk: &dyn Disk, dir: &Path) -> Result<Option<Meta>, MetaError> {
        let path = dir.join(META_FILE);
        if !disk.exists(&path).map_err(FileError::io(&path))? {
            return Ok(None);
        }
        let bytes = read_whole(disk, &path)?;
        parse(&path, &String::from_utf8_lossy(&bytes)).map(Some)
    }

    pub fn write(&self, disk: &dyn Disk, dir: &Path) -> Result<(), FileError> {
        let Meta { format, cluster_id, node_id } = self;
        let text = format!("streamstack.format={format}\ncluster.id={cluster_id}\nnode.id={node_id}\n");
        write_whole(disk, &dir.join(META_FILE), text.as_bytes())
    }

    /// Says that what is written from here on is of the newest format: programs that know only older ones then refuse the folder.
    pub fn upgrade(&mut self, disk: &dyn Disk, dir: &Path) -> Result<(), FileError> {
        if self.format < FORMAT {
            let from = std::mem::replace(&mut self.format, FORMAT);
            self.write(disk, dir)?;
            tracing::info!(from, to = FORMAT, "the data folder has a newer format from here on");
        }
        Ok(())
    }

    /// Refuses a folder of another node or, when one is expected, of another cluster.
    pub fn check(&self, dir: &Path, node_id: i32, cluster_id: Option<&str>) -> Result<(), MetaError> {
        let other = |field, found: &str, expected: &str| {
            let (found, expected) = (found.to_owned(), expected.to_owned());
            Err(MetaError::Other { path: dir.join(META_FILE), field, found, expected })
        };
        if self.node_id != node_id {
            return other("node.id", &self.node_id.to_string(), &node_id.to_string());
        }
        match cluster_id {
            Some(expected) if expected != self.cluster_id => other("cluster.id", &self.cluster_id, expected),
            _ => Ok(()),
        }
    }
}

fn parse(path: &Path, text: &str) -> Result<Meta, MetaError> {
    let foreign = |what: &str| MetaError::Foreign { path: path.to_owned(), what: what.to_owned() };
    let value = |key: &str| {
        let lines = text.lines().map(str::trim).filter(|line| !line.starts_with('#'));
        lines
            .filter_map(|line| line.split_once('='))
            .find(|(name, _)| name.trim() == key)
            .map(|(_, value)| value.trim())
    };
    let format =
        value("streamstack.format").ok_or_else(|| foreign("the folder of another program (no streamstack.format)"))?;
    let format: u32 = format.parse().map_err(|_| foreign("streamstack.format is not a number"))?;
    if format > FORMAT {
        return Err(MetaError::Newer { path: path.to_owned(), found: format });
    }
    let cluster_id = value("cluster.id").ok_or_else(|| foreign("no cluster.id"))?.to_owned();
    let node_id = value("node.id").and_then(|id| id.parse().ok()).ok_or_else(|| foreign("no node.id"))?;
    Ok(Meta { format, cluster_id, node_id })
}

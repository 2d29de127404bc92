//! The tree of folders and files, as the process sees it and as a power loss would leave it.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;

use super::content::Content;
use super::plan::{Op, Plan, Verdict, dead};
use crate::disk::OpenMode;

/// What a disk holds that was given no capacity.
const ROOM_WITHOUT_END: u64 = 1 << 50;

/// Index of a node; the root is 0.
pub(super) type NodeId = usize;

pub(super) const ROOT: NodeId = 0;

#[derive(Clone)]
pub(super) enum Node {
    Folder(Folder),
    File(File),
}

/// Names as the process sees them and as they would survive.
#[derive(Clone, Default)]
pub(super) struct Folder {
    pub(super) live: BTreeMap<Arc<str>, NodeId>,
    pub(super) durable: BTreeMap<Arc<str>, NodeId>,
}

/// Bytes as the process sees them, as they would survive, and what lies between.
#[derive(Clone, Default)]
pub(super) struct File {
    pub(super) live: Content,
    pub(super) durable: Content,
    pub(super) unsynced: Vec<Unsynced>,
    /// Room reserved past the size; counts against the capacity.
    pub(super) allocated: u64,
}

/// A change of a file since its last sync.
#[derive(Clone)]
pub(super) enum Unsynced {
    Write { at: u64, bytes: Bytes },
    Size(u64),
}

/// One step of the folder tree since the folders' last sync: all of its changes happen or none.
#[derive(Clone)]
pub(super) struct NameStep {
    pub(super) changes: Vec<NameChange>,
}

#[derive(Clone)]
pub(super) struct NameChange {
    pub(super) folder: NodeId,
    pub(super) name: Arc<str>,
    /// What the name means from here on; `None` when it is gone.
    pub(super) node: Option<NodeId>,
}

pub(super) struct State {
    pub(super) nodes: Vec<Node>,
    pub(super) unsynced_names: Vec<NameStep>,
    pub(super) plan: Plan,
    pub(super) capacity: Option<u64>,
    pub(super) locks: BTreeSet<PathBuf>,
}

impl State {
    pub(super) fn new() -> State {
        State {
            nodes: vec![Node::Folder(Folder::default())],
            unsynced_names: Vec::new(),
            plan: Plan::default(),
            capacity: None,
            locks: BTreeSet::new(),
        }
    }

    pub(super) fn open(&mut self, path: &Path, mode: OpenMode) -> io::Result<NodeId> {
        self.plan.alive()?;
        let (folder, name) = self.parent(path)?;
        match self.folder(folder)?.live.get(&name) {
            Some(&id) => self.file(id).map(|_| id),
            None if mode == OpenMode::Create => self.create(path, folder, name, Node::File(File::default())),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    pub(super) fn exists(&self, path: &Path) -> io::Result<bool> {
        self.plan.alive()?;
        Ok(self.find(path).is_ok())
    }

    pub(super) fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        self.plan.alive()?;
        Ok(self.folder(self.find(path)?)?.live.keys().map(|name| name.to_string()).collect())
    }

    pub(super) fn create_dir_all(&mut self, path: &Path) -> io::Result<()> {
        self.plan.alive()?;
        let mut so_far = PathBuf::new();
        let mut folder = ROOT;
        for part in names(path)? {
            so_far.push(&*part);
            folder = match self.folder(folder)?.live.get(&part) {
                Some(&id) => id,
                None => self.create(&so_far, folder, part, Node::Folder(Folder::default()))?,
            };
        }
        self.folder(folder).map(drop)
    }

    pub(super) fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        self.plan.alive()?;
        let (from_folder, from_name) = self.parent(from)?;
        let (to_folder, to_name) = self.parent(to)?;
        let node = self.find(from)?;
        let gone = NameChange { folder: from_folder, name: from_name, node: None };
        let there = NameChange { folder: to_folder, name: to_name, node: Some(node) };
        self.step(Op::Rename, to, vec![gone, there])
    }

    pub(super) fn remove_file(&mut self, path: &Path) -> io::Result<()> {
        self.plan.alive()?;
        let (folder, name) = self.parent(path)?;
        self.file(self.find(path)?)?;
        self.step(Op::Unlink, path, vec![NameChange { folder, name, node: None }])
    }

    /// One step an entry, deepest first, as the kernel is asked to do it.
    pub(super) fn remove_dir_all(&mut self, path: &Path) -> io::Result<()> {
        self.plan.alive()?;
        let id = self.find(path)?;
        let inside: Vec<(Arc<str>, NodeId)> =
            self.folder(id)?.live.iter().map(|(name, &id)| (Arc::clone(name), id)).collect();
        for (name, child) in inside {
            let path = path.join(&*name);
            match self.nodes[child] {
                Node::Folder(_) => self.remove_dir_all(&path)?,
                Node::File(_) => self.remove_file(&path)?,
            }
        }
        let (folder, name) = self.parent(path)?;
        self.step(Op::Unlink, path, vec![NameChange { folder, name, node: None }])
    }

    pub(super) fn sync_dir(&mut self, path: &Path) -> io::Result<()> {
        self.plan.alive()?;
        let id = self.find(path)?;
        self.folder(id)?;
        match self.plan.change(Op::SyncDir, path, 0)? {
            Verdict::Done => {}
            Verdict::Failed(error) => return Err(error),
            Verdict::InFlight => return Err(dead()),
        }
        let touches = |step: &NameStep| step.changes.iter().any(|change| change.folder == id);
        let (synced, rest) = std::mem::take(&mut self.unsynced_names).into_iter().partition(touches);
        self.unsynced_names = rest;
        for step in synced {
            self.make_durable(&step);
        }
        Ok(())
    }

    pub(super) fn make_durable(&mut self, step: &NameStep) {
        for change in &step.changes {
            if let Node::Folder(folder) = &mut self.nodes[change.folder] {
                set_name(&mut folder.durable, change);
            }
        }
    }

    pub(super) fn file(&self, id: NodeId) -> io::Result<&File> {
        match &self.nodes[id] {
            Node::File(file) => Ok(file),
            Node::Folder(_) => Err(io::ErrorKind::IsADirectory.into()),
        }
    }

    pub(super) fn file_mut(&mut self, id: NodeId) -> io::Result<&mut File> {
        match &mut self.nodes[id] {
            Node::File(file) => Ok(file),
            Node::Folder(_) => Err(io::ErrorKind::IsADirectory.into()),
        }
    }

    pub(super) fn free_bytes(&self) -> io::Result<u64> {
        self.plan.alive()?;
        Ok(self.free())
    }

    pub(super) fn total_bytes(&self) -> io::Result<u64> {
        self.plan.alive()?;
        Ok(self.capacity.unwrap_or(ROOM_WITHOUT_END))
    }

    /// Room left. Files count with their size or their reserved room, as long as they have a name.
    pub(super) fn free(&self) -> u64 {
        let Some(capacity) = self.capacity else { return ROOM_WITHOUT_END };
        capacity.saturating_sub(self.used_below(ROOT))
    }

    fn used_below(&self, id: NodeId) -> u64 {
        match &self.nodes[id] {
            Node::File(file) => file.room(),
            Node::Folder(folder) => folder.live.values().map(|&id| self.used_below(id)).sum(),
        }
    }

    fn create(&mut self, path: &Path, folder: NodeId, name: Arc<str>, node: Node) -> io::Result<NodeId> {
        let id = self.nodes.len();
        self.nodes.push(node);
        self.step(Op::Create, path, vec![NameChange { folder, name, node: Some(id) }])?;
        Ok(id)
    }

    fn step(&mut self, op: Op, path: &Path, changes: Vec<NameChange>) -> io::Result<()> {
        let verdict = self.plan.change(op, path, 0)?;
        if let Verdict::Failed(error) = verdict {
            return Err(error);
        }
        for change in &changes {
            if let Node::Folder(folder) = &mut self.nodes[change.folder] {
                set_name(&mut folder.live, change);
            }
        }
        self.unsynced_names.push(NameStep { changes });
        if matches!(verdict, Verdict::InFlight) { Err(dead()) } else { Ok(()) }
    }

    fn folder(&self, id: NodeId) -> io::Result<&Folder> {
        match &self.nodes[id] {
            Node::Folder(folder) => Ok(folder),
            Node::File(_) => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    fn find(&self, path: &Path) -> io::Result<NodeId> {
        names(path)?.iter().try_fold(ROOT, |folder, name| {
            self.folder(folder)?.live.get(name).copied().ok_or_else(|| io::ErrorKind::NotFound.into())
        })
    }

    fn parent(&self, path: &Path) -> io::Result<(NodeId, Arc<str>)> {
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let folder = self.find(folder)?;
        self.folder(folder)?;
        Ok((folder, text(name)?))
    }
}

impl File {
    pub(super) fn room(&self) -> u64 {
        self.live.size().max(self.allocated)
    }
}

fn set_name(names: &mut BTreeMap<Arc<str>, NodeId>, change: &NameChange) {
    match change.node {
        Some(id) => names.insert(Arc::clone(&change.name), id),
        None => names.remove(&change.name),
    };
}

/// The names of a path from the root; relative paths start at the root too.
fn names(path: &Path) -> io::Result<Vec<Arc<str>>> {
    path.components()
        .filter(|part| !matches!(part, Component::RootDir | Component::CurDir))
        .map(|part| match part {
            Component::Normal(name) => text(name),
            _ => Err(io::ErrorKind::InvalidInput.into()),
        })
        .collect()
}

fn text(name: &OsStr) -> io::Result<Arc<str>> {
    name.to_str().map(Arc::from).ok_or_else(|| io::ErrorKind::InvalidInput.into())
}

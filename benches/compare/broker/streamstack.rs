//! Our own broker: the binary that cargo built for this bench.

use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::data_folder;
use crate::Fault;

/// A running StreamStack. Ended when dropped.
pub struct Server {
    child: Child,
}

impl Server {
    pub fn start(folder: &Path, port: u16, durability: &str) -> Result<Server, Fault> {
        let log = File::create(folder.join("streamstack.log"))?;
        let child = Command::new(env!("CARGO_BIN_EXE_streamstack"))
            .arg("serve")
            .args(["--override", &format!("listeners=PLAINTEXT://127.0.0.1:{port}")])
            .args(["--override", &format!("log.dirs={}", data_folder(folder).display())])
            .args(["--override", &format!("streamstack.durability={durability}")])
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()?;
        Ok(Server { child })
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let ended = self.child.kill().and_then(|()| self.child.wait());
        if let Err(error) = ended {
            eprintln!("streamstack, pid {}, may still run: {error}", self.child.id());
        }
    }
}

//! Our own broker: the binary that cargo built for this bench, or another.

use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::{Ending, data_folder};
use crate::Fault;

/// The file of its folder that it logs to.
pub const LOG_NAME: &str = "streamstack.log";

/// A running StreamStack. Ended when dropped.
pub struct Server {
    child: Child,
}

impl Server {
    pub fn start(program: &Path, folder: &Path, port: u16, settings: &[&str]) -> Result<Server, Fault> {
        let log = File::create(folder.join(LOG_NAME))?;
        let child = Command::new(program)
            // What the environment configures would be measured too; the scripts of Kafka have variables of that kind.
            .env_clear()
            .arg("serve")
            .args(["--override", &format!("listeners=PLAINTEXT://127.0.0.1:{port}")])
            .args(["--override", &format!("log.dirs={}", data_folder(folder).display())])
            .args(settings.iter().flat_map(|setting| ["--override", setting]))
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .map_err(|e| format!("{}: {e}", program.display()))?;
        Ok(Server { child })
    }

    pub fn end(&mut self, how: Ending) -> Result<(), Fault> {
        match how {
            Ending::Kill => self.child.kill()?,
            Ending::Stop => {
                let pid = rustix::process::Pid::from_child(&self.child);
                rustix::process::kill_process(pid, rustix::process::Signal::TERM)?;
            }
        }
        self.child.wait()?;
        Ok(())
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

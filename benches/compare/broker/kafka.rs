//! The real Apache Kafka, through the scripts in compat/kafka.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{Ending, data_folder};
use crate::Fault;

/// A running Kafka. Stopped when dropped.
pub struct Server {
    pub pid: u32,
    scripts: PathBuf,
    data: PathBuf,
    ended: bool,
}

impl Server {
    pub fn start(scripts: &Path, folder: &Path, port: u16, settings: &[&str]) -> Result<Server, Fault> {
        run(Command::new(scripts.join("setup.sh")))?;
        let data = data_folder(folder);
        let mut command = Command::new(scripts.join("kafka-server.sh"));
        command.arg("start").arg(&data).arg(port.to_string()).args(settings);
        let pid = run(command)?.trim().parse()?;
        Ok(Server { pid, scripts: scripts.to_owned(), data, ended: false })
    }

    pub fn end(&mut self, how: Ending) -> Result<(), Fault> {
        let mut command = Command::new(self.scripts.join("kafka-server.sh"));
        command.arg(if how == Ending::Stop { "stop" } else { "kill" }).arg(&self.data);
        run(command)?;
        self.ended = true;
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.ended {
            return;
        }
        if let Err(fault) = self.end(Ending::Kill) {
            eprintln!("kafka, pid {}, may still run: {fault}", self.pid);
        }
    }
}

/// Runs a script to its end; gives what it printed.
fn run(mut command: Command) -> Result<String, Fault> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output().map_err(|e| format!("{name}: {e}"))?;
    if !output.status.success() {
        return Err(format!("{name}: {}", output.status).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

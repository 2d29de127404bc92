//! Somebody at a terminal with a broker: runs commands and sees what they print.

use std::io::Write;
use std::process::{Command, Output, Stdio};

use crate::serving::{Serving, program};

/// What a command printed, and how it ended.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub errors: String,
}

/// A broker with a data folder of its own.
pub struct Terminal {
    pub serving: Serving,
    _folder: tempfile::TempDir,
}

impl Terminal {
    pub fn new() -> Terminal {
        Terminal::with(&[])
    }

    /// With flags of `serve`. Streams are sealed by nobody but the test.
    pub fn with(args: &[&str]) -> Terminal {
        let folder = tempfile::tempdir().unwrap();
        let args = [&["--override", "streamstack.seal.ms=3600000", "--log-level", "error"], args].concat();
        let serving = Serving::start(&folder.path().join("data"), &args);
        Terminal { serving, _folder: folder }
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = program(args);
        command.env("STREAMSTACK_BOOTSTRAP", self.serving.address.to_string());
        command
    }

    pub fn run(&self, args: &[&str]) -> Ran {
        self.feed(args, "")
    }

    /// With this on its standard input.
    pub fn feed(&self, args: &[&str], input: impl AsRef<[u8]>) -> Ran {
        finish(&mut self.command(args), input.as_ref())
    }

    /// What a command prints that must succeed without a word of complaint.
    pub fn out(&self, args: &[&str]) -> String {
        let Ran { code, out, errors } = self.run(args);
        assert_eq!((code, errors.as_str()), (0, ""), "{args:?}: {out}");
        out
    }

    /// What a command says that must fail and print nothing; the broker's address is written `BROKER`.
    pub fn refusal(&self, args: &[&str]) -> (i32, String) {
        let Ran { code, out, errors } = self.run(args);
        assert_eq!(out, "", "{args:?}");
        (code, errors.replace(&self.serving.address.to_string(), "BROKER"))
    }
}

pub fn finish(command: &mut Command, input: &[u8]) -> Ran {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A command that has refused reads no further.
    let _ = child.stdin.take().unwrap().write_all(input);
    let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ran { code: status.code().unwrap(), out: text(stdout), errors: text(stderr) }
}

/// Lines with times and sizes blanked out, which differ from run to run, and with single blanks.
pub fn settled(text: &str) -> Vec<String> {
    let line = |line: &str| {
        let mut words: Vec<String> = line.split_whitespace().map(settled_word).collect();
        for unit in 1..words.len() {
            if ["B", "KiB"].contains(&words[unit].as_str()) && words[unit - 1].parse::<f64>().is_ok() {
                words[unit - 1] = "SIZE".to_owned();
            }
        }
        words.join(" ")
    };
    text.lines().map(line).collect()
}

fn settled_word(word: &str) -> String {
    let is_time = |word: &str, marks: &str| {
        word.len() >= 8
            && word.chars().all(|c| c.is_ascii_digit() || marks.contains(c))
            && word.chars().filter(|c| marks.contains(*c)).count() >= 2
    };
    match word {
        _ if is_time(word, "-") => "DATE".to_owned(),
        _ if is_time(word, ":.") => "TIME".to_owned(),
        _ => word.to_owned(),
    }
}

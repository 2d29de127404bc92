//! Ctrl-C: the first asks the command to end in order, the second ends it at once.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use tokio::runtime;
use tokio::signal::unix::{SignalKind, signal};

static CAME: AtomicBool = AtomicBool::new(false);
/// What a shell gives a program that SIGINT ended.
const INTERRUPTED: i32 = 130;
/// Tools such as timeout(1) send the same signal twice, to the process and to its group: that is one Ctrl-C.
const SAME: Duration = Duration::from_millis(300);

/// From here on Ctrl-C does not end the process, but [`came`] says so.
pub(super) fn listen() -> io::Result<()> {
    let runtime = runtime::Builder::new_current_thread().enable_io().build()?;
    let (ready, is_ready) = mpsc::channel();
    thread::Builder::new().name("ctrl-c".into()).spawn(move || {
        runtime.block_on(async {
            let mut first = match signal(SignalKind::interrupt()) {
                Ok(interrupts) => interrupts,
                Err(error) => return ready.send(Err(error)).unwrap_or_default(),
            };
            // Whoever listens may have gone by the time it hears of it.
            ready.send(Ok(())).unwrap_or_default();
            first.recv().await;
            CAME.store(true, Ordering::Release);
            thread::sleep(SAME);
            // Hears what comes from now on only.
            if let Ok(mut second) = signal(SignalKind::interrupt()) {
                second.recv().await;
                std::process::exit(INTERRUPTED);
            }
        });
    })?;
    is_ready.recv().unwrap_or_else(|gone| Err(io::Error::other(gone)))
}

/// Ctrl-C was pressed.
pub(super) fn came() -> bool {
    CAME.load(Ordering::Acquire)
}

//! The lines that become records, read by a thread of their own so that what came is sent while more is waited for.

use std::io::{self, BufRead, BufReader, Read};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

/// Lines are handed over in chunks of about this size, or when no more have come.
const CHUNK_BYTES: usize = 256 << 10;
const CHUNKS_WAITING_MAX: usize = 8;
/// More than any broker takes as one record.
const LINE_BYTES_MAX: usize = 256 << 20;

/// Some lines, without what ends them; or why there are no more.
pub type Chunk = io::Result<Vec<Vec<u8>>>;

/// Starts reading. The channel closes at the end of the input.
pub fn lines(source: impl Read + Send + 'static) -> io::Result<Receiver<Chunk>> {
    let (sender, chunks) = sync_channel(CHUNKS_WAITING_MAX);
    thread::Builder::new().name("input".into()).spawn(move || {
        let mut source = BufReader::with_capacity(CHUNK_BYTES, source);
        while let Some(chunk) = next_chunk(&mut source).transpose() {
            let is_last = chunk.is_err();
            if !hand_over(&sender, chunk) || is_last {
                return;
            }
        }
    })?;
    Ok(chunks)
}

/// False when nobody takes chunks any more.
fn hand_over(sender: &SyncSender<Chunk>, chunk: Chunk) -> bool {
    sender.send(chunk).is_ok()
}

fn next_chunk(source: &mut BufReader<impl Read>) -> io::Result<Option<Vec<Vec<u8>>>> {
    let (mut lines, mut num_bytes) = (Vec::new(), 0);
    while let Some(line) = next_line(source)? {
        num_bytes += line.len() + 1;
        lines.push(line);
        // Never waits for a line while others could go.
        if num_bytes >= CHUNK_BYTES || !source.buffer().contains(&b'\n') {
            break;
        }
    }
    Ok((!lines.is_empty()).then_some(lines))
}

fn next_line(source: &mut BufReader<impl Read>) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    let num_read = source.by_ref().take(LINE_BYTES_MAX as u64).read_until(b'\n', &mut line)?;
    match line.last() {
        Some(b'\n') => {
            line.pop();
        }
        Some(_) if num_read == LINE_BYTES_MAX => {
            return Err(io::Error::other(format!("a line is longer than {LINE_BYTES_MAX} bytes")));
        }
        Some(_) => {}
        None => return Ok(None),
    }
    Ok(Some(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &'static [u8]) -> Vec<Vec<u8>> {
        lines(text).unwrap().into_iter().flat_map(|chunk| chunk.unwrap()).collect()
    }

    #[test]
    fn lines_are_bytes_between_line_feeds() {
        assert_eq!(read(b"a\n\nb\r\n\xff"), [&b"a"[..], b"", b"b\r", b"\xff"]);
        assert_eq!(read(b"a\n"), [b"a"]);
        assert!(read(b"").is_empty());
    }

    #[test]
    fn a_source_that_breaks_says_so_after_what_it_gave() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("torn"))
            }
        }
        let mut chunks = lines((&b"a\n"[..]).chain(Broken)).unwrap().into_iter();
        assert_eq!(chunks.next().unwrap().unwrap(), [b"a"]);
        assert_eq!(chunks.next().unwrap().unwrap_err().to_string(), "torn");
        assert!(chunks.next().is_none());
    }
}

//! A TCP round trip on the loopback, without a broker.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Instant;

use crate::Fault;
use crate::sample::{Meter, Sample};

pub fn echo(size: usize, seconds: f64) -> Result<Sample, Fault> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let mut near = TcpStream::connect(listener.local_addr()?)?;
    near.set_nodelay(true)?;
    let (far, _) = listener.accept()?;
    far.set_nodelay(true)?;
    // Ends when `near` is dropped.
    thread::spawn(move || send_back(far, size));
    let mut message = vec![7; size];
    let mut meter = Meter::start(None, seconds);
    while !meter.is_over() {
        let start = Instant::now();
        near.write_all(&message)?;
        near.read_exact(&mut message)?;
        meter.count(start.elapsed(), size);
    }
    Ok(meter.finish())
}

fn send_back(mut far: TcpStream, size: usize) {
    let mut message = vec![0; size];
    while far.read_exact(&mut message).and_then(|()| far.write_all(&message)).is_ok() {}
}

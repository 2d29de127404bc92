//! What clients send: requests of every API and version, and batches of every codec.

use std::sync::Arc;

use bytes::Bytes;
use streamstack::api::{self, ConnectionInfo, Reply, TABLE};
use streamstack::batch::{self, BatchBuilder, Compression, Limits, NewRecord, Producer};
use streamstack::broker::Broker;
use streamstack::config::{ServerConfig, Sources};
use streamstack::disk::{FaultyDisk, ManualClock, SplitMix};

use super::fuzz;
use super::mutate::mutate;
use super::sample::{Choices, Sample};

const CODECS: [Compression; 5] =
    [Compression::None, Compression::Gzip, Compression::Snappy, Compression::Lz4, Compression::Zstd];

fn broker() -> Arc<Broker> {
    let overrides = ["log.dirs=/data", "streamstack.journal.file.bytes=1048576"].map(str::to_owned).to_vec();
    let config = ServerConfig::load(&Sources { overrides, ..Sources::default() }).unwrap();
    Broker::open(Arc::new(FaultyDisk::new()), Arc::new(ManualClock::new(1_767_225_600_000)), config).unwrap()
}

/// A request of any API and version, mostly sound.
fn request(random: &mut SplitMix) -> Bytes {
    let api = &TABLE[random.below(TABLE.len() as u64) as usize];
    let version = api.min + random.below((api.max - api.min + 1) as u64) as i16;
    let choices = (0..random.below(40)).map(|_| random.below(256) as u8).collect();
    let mut body = Sample::of(api.schema, version, Choices::of(choices)).body;
    if random.chance(9, 10) {
        mutate(&mut body, random);
    }
    let mut frame = [&api.key.to_be_bytes()[..], &version.to_be_bytes(), &7_i32.to_be_bytes()].concat();
    frame.extend((-1_i16).to_be_bytes());
    if api.schema.is_flexible(version) {
        frame.push(0);
    }
    frame.extend(body);
    if random.chance(1, 20) {
        mutate(&mut frame, random);
    }
    frame.into()
}

#[test]
fn mutated_requests_are_answered_or_refused() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    let _entered = runtime.enter();
    let connection = ConnectionInfo {
        peer: "192.0.2.1:999".parse().unwrap(),
        local: "192.0.2.7:9092".parse().unwrap(),
        listener: "PLAINTEXT".to_owned(),
    };
    let broker = broker();
    fuzz("requests", |random| {
        let reply = api::handle(&broker, &connection, request(random));
        broker.kick();
        if let Reply::Later(making) = reply {
            // A long poll passes its time at once: the clock is paused.
            let _ = runtime.block_on(making);
        }
    });
    runtime.block_on(broker.shut_down()).unwrap();
}

fn sound_batch(random: &mut SplitMix) -> Vec<u8> {
    let codec = CODECS[random.below(5) as usize];
    let mut builder = BatchBuilder::new(0).compression(codec);
    if random.chance(1, 3) {
        builder = builder.producer(Producer { id: 1, epoch: 0, base_sequence: random.below(100) as i32 });
    }
    for n in 0..1 + random.below(8) {
        let value = vec![random.below(256) as u8; random.below(200) as usize];
        let value = random.chance(4, 5).then_some(&value[..]);
        builder.push(NewRecord { timestamp: 1_767_225_600_000 + n as i64, key: Some(b"key"), value, headers: &[] });
    }
    builder.build().to_vec()
}

#[test]
fn mutated_batches_are_taken_or_refused_and_what_is_taken_reads_whole() {
    let limits = Limits::of_size(1 << 20);
    fuzz("batches", |random| {
        let mut bytes = sound_batch(random);
        let body_only = random.chance(1, 2) && bytes.len() > batch::HEADER_LEN;
        if body_only {
            let mut body = bytes.split_off(batch::HEADER_LEN);
            mutate(&mut body, random);
            bytes.extend(body);
            let length = bytes.len() as i32 - 12;
            bytes[8..12].copy_from_slice(&length.to_be_bytes());
        } else {
            mutate(&mut bytes, random);
        }
        if bytes.len() >= batch::HEADER_LEN && random.chance(4, 5) {
            let crc = batch::checksum(&bytes);
            bytes[17..21].copy_from_slice(&crc.to_be_bytes());
        }
        let Ok(taken) = batch::check_produced(Bytes::from(bytes), &limits) else { return };
        let records = batch::records(&taken.bytes, 1 << 20).expect("it was taken");
        let read: Vec<_> = records.iter().map(|record| record.expect("it was taken")).collect();
        assert_eq!(read.len() as i32, taken.header.record_count);
    });
}

//! Frames of hostile lengths, for every API and version that is served: they are refused, or decode in a little memory.

#[path = "hostile_frames/allocation.rs"]
mod allocation;
#[path = "hostile_frames/sample.rs"]
mod sample;

use bytes::Bytes;
use kafka_protocol::messages::*;
use kafka_protocol::protocol::{Decodable, Message};
use proptest::prelude::*;
use sample::{Choices, Sample};
use streamstack::api::{Api, TABLE};
use streamstack::wire::client_software::ClientSoftware;
use streamstack::wire::guard;
use streamstack::wire::produce_request::ProduceRequest as OwnProduceRequest;

/// Memory that a hostile frame may take.
const MEMORY_MAX: usize = 1 << 20;

fn versions() -> impl Iterator<Item = (&'static Api, i16)> {
    TABLE.iter().flat_map(|api| (api.min..=api.max).map(move |version| (api, version)))
}

/// Decodes as the handler of the API does. None: refused before a decoder saw it.
fn decode(api: &Api, version: i16, body: &[u8]) -> Option<Result<(), String>> {
    let body = Bytes::copy_from_slice(body);
    match api.key {
        // Decoders of our own hold the guard's rules themselves.
        0 => return OwnProduceRequest::decode(&body, version).ok().map(|_| Ok(())),
        18 => return ClientSoftware::read(&body, version).ok().map(|_| Ok(())),
        _ => {}
    }
    let left = guard::check(api.schema, version, &body).ok()?;
    Some(match api.key {
        1 => whole::<FetchRequest>(body, version, left),
        2 => whole::<ListOffsetsRequest>(body, version, left),
        3 => whole::<MetadataRequest>(body, version, left),
        8 => whole::<OffsetCommitRequest>(body, version, left),
        9 => whole::<OffsetFetchRequest>(body, version, left),
        10 => whole::<FindCoordinatorRequest>(body, version, left),
        11 => whole::<JoinGroupRequest>(body, version, left),
        12 => whole::<HeartbeatRequest>(body, version, left),
        13 => whole::<LeaveGroupRequest>(body, version, left),
        14 => whole::<SyncGroupRequest>(body, version, left),
        15 => whole::<DescribeGroupsRequest>(body, version, left),
        16 => whole::<ListGroupsRequest>(body, version, left),
        19 => whole::<CreateTopicsRequest>(body, version, left),
        20 => whole::<DeleteTopicsRequest>(body, version, left),
        21 => whole::<DeleteRecordsRequest>(body, version, left),
        22 => whole::<InitProducerIdRequest>(body, version, left),
        23 => whole::<OffsetForLeaderEpochRequest>(body, version, left),
        24 => whole::<AddPartitionsToTxnRequest>(body, version, left),
        25 => whole::<AddOffsetsToTxnRequest>(body, version, left),
        26 => whole::<EndTxnRequest>(body, version, left),
        27 => whole::<WriteTxnMarkersRequest>(body, version, left),
        28 => whole::<TxnOffsetCommitRequest>(body, version, left),
        29 => whole::<DescribeAclsRequest>(body, version, left),
        30 => whole::<CreateAclsRequest>(body, version, left),
        31 => whole::<DeleteAclsRequest>(body, version, left),
        32 => whole::<DescribeConfigsRequest>(body, version, left),
        33 => whole::<AlterConfigsRequest>(body, version, left),
        35 => whole::<DescribeLogDirsRequest>(body, version, left),
        37 => whole::<CreatePartitionsRequest>(body, version, left),
        42 => whole::<DeleteGroupsRequest>(body, version, left),
        43 => whole::<ElectLeadersRequest>(body, version, left),
        44 => whole::<IncrementalAlterConfigsRequest>(body, version, left),
        45 => whole::<AlterPartitionReassignmentsRequest>(body, version, left),
        46 => whole::<ListPartitionReassignmentsRequest>(body, version, left),
        47 => whole::<OffsetDeleteRequest>(body, version, left),
        48 => whole::<DescribeClientQuotasRequest>(body, version, left),
        50 => whole::<DescribeUserScramCredentialsRequest>(body, version, left),
        57 => whole::<UpdateFeaturesRequest>(body, version, left),
        60 => whole::<DescribeClusterRequest>(body, version, left),
        61 => whole::<DescribeProducersRequest>(body, version, left),
        65 => whole::<DescribeTransactionsRequest>(body, version, left),
        66 => whole::<ListTransactionsRequest>(body, version, left),
        68 => whole::<ConsumerGroupHeartbeatRequest>(body, version, left),
        69 => whole::<ConsumerGroupDescribeRequest>(body, version, left),
        74 => whole::<ListConfigResourcesRequest>(body, version, left),
        75 => whole::<DescribeTopicPartitionsRequest>(body, version, left),
        key => panic!("no decoder for key {key}: add it here"),
    })
}

/// The decoder must end where the guard did.
fn whole<R: Decodable + Message>(mut body: Bytes, version: i16, left: usize) -> Result<(), String> {
    // Versions that the decoder does not know have the layout of the last that it knows.
    let version = version.min(R::VERSIONS.max);
    R::decode(&mut body, version).map_err(|error| error.to_string())?;
    if body.len() == left { Ok(()) } else { Err(format!("{} bytes left, {left} for the guard", body.len())) }
}

fn check_honest(api: &Api, version: i16, sample: &Sample) {
    let decoded = decode(api, version, &sample.body);
    let body = &sample.body;
    assert_eq!(
        decoded,
        Some(Ok(())),
        "{} v{version}: {body:02x?} {:?}",
        api.name,
        guard::check(api.schema, version, body)
    );
}

/// What passes the guard decodes, and neither takes much.
fn check_hostile(api: &Api, version: i16, body: &[u8]) {
    let (decoded, peak) = allocation::peak_of(|| decode(api, version, body));
    assert!(!matches!(decoded, Some(Err(_))), "{} v{version}: {body:02x?}: {decoded:?}", api.name);
    assert!(peak < MEMORY_MAX, "{} v{version} took {peak} bytes: {body:02x?}", api.name);
}

#[test]
fn honest_requests_pass_and_decode_whole() {
    for (api, version) in versions() {
        for choice in 0..8 {
            check_honest(api, version, &Sample::of(api.schema, version, Choices::all(choice)));
        }
    }
}

#[test]
fn every_length_made_hostile_is_refused_or_cheap() {
    let mut num_frames = 0;
    for (api, version) in versions() {
        for choice in [1, 2, 7] {
            let sample = Sample::of(api.schema, version, Choices::all(choice));
            for length in &sample.lengths {
                for hostile in length.hostile() {
                    let (before, after) = (&sample.body[..length.at], &sample.body[length.at + length.len..]);
                    check_hostile(api, version, &[before, &hostile, after].concat());
                    // Nothing behind it: the length is all that there is.
                    check_hostile(api, version, &[before, &hostile].concat());
                    num_frames += 2;
                }
            }
        }
    }
    assert!(num_frames > 10_000, "{num_frames}");
}

#[test]
fn every_cut_and_every_flipped_byte_is_refused_or_cheap() {
    for (api, version) in versions() {
        let sample = Sample::of(api.schema, version, Choices::all(2));
        for at in 0..sample.body.len().min(200) {
            check_hostile(api, version, &sample.body[..at]);
            for bits in [0xff, 0x80, 0x01] {
                let mut body = sample.body.clone();
                body[at] ^= bits;
                check_hostile(api, version, &body);
            }
        }
    }
}

proptest! {
    #[test]
    fn honest_requests_of_any_shape_pass(api in 0..TABLE.len(), version in 0_i16..20, choices in prop::collection::vec(any::<u8>(), 0..60)) {
        let api = &TABLE[api];
        let version = version % (api.max - api.min + 1) + api.min;
        check_honest(api, version, &Sample::of(api.schema, version, Choices::of(choices)));
    }

    #[test]
    fn garbage_is_refused_or_cheap(api in 0..TABLE.len(), version in 0_i16..20, body in prop::collection::vec(any::<u8>(), 0..80)) {
        let api = &TABLE[api];
        let version = version % (api.max - api.min + 1) + api.min;
        check_hostile(api, version, &body);
    }
}

//! Hostile lengths by hand. Every API and version against the decoder: `api/tests.rs`, with the table.

use super::super::schema;
use super::*;

fn fault(schema: &Schema, version: i16, body: &[u8]) -> Fault {
    check(schema, version, body).unwrap_err().fault
}

#[test]
fn an_array_of_two_thousand_million_topics_is_refused() {
    assert_eq!(fault(&schema::METADATA, 1, &i32::MAX.to_be_bytes()), Fault::Count { count: i32::MAX as u32, left: 0 });
    let compact = [0xff, 0xff, 0xff, 0xff, 0x0f];
    assert_eq!(fault(&schema::METADATA, 12, &compact), Fault::Count { count: u32::MAX - 1, left: 0 });
}

#[test]
fn nulls_stand_only_where_the_version_has_them() {
    let null = (-1_i32).to_be_bytes();
    assert_eq!(check(&schema::METADATA, 1, &null), Ok(0));
    let error = check(&schema::METADATA, 0, &null).unwrap_err();
    assert_eq!(error, GuardError { at: 4, field: "topics", fault: Fault::Null });
    assert_eq!(error.to_string(), "byte 4, field topics: null where the protocol has no null");
}

#[test]
fn bytes_after_the_end_are_passed_over() {
    // As librdkafka 2.16 asks for all topics.
    assert_eq!(check(&schema::METADATA, 13, &[0, 0, 0, 0, 1, 0, 0]), Ok(3));
}

#[test]
fn a_known_tag_must_fill_its_length() {
    // max_wait, min_bytes, max_bytes, isolation, session, epoch; no topics, none forgotten, no rack; then the tags.
    let body = [vec![0; 21], vec![1, 1, 1]].concat();
    let with_tags =
        |tags: &[u8]| check(&schema::FETCH, 18, &[&body, tags].concat()).map(drop).map_err(|error| error.fault);
    assert_eq!(with_tags(&[1, 0, 3, 3, b'c', b'1']), Ok(()));
    assert_eq!(with_tags(&[1, 0, 4, 3, b'c', b'1', 0]), Err(Fault::TagLength { tag: 0, said: 4, taken: 3 }));
    assert_eq!(with_tags(&[1, 0, 1, 0xff]), Err(Fault::Short { needed: 1, left: 0 }));
    assert_eq!(with_tags(&[1, 9, 2, 7, 7]), Ok(()), "a tag of a later version is passed over");
}

#[test]
fn many_empty_strings_cost_more_than_they_weigh() {
    let count = 6_000_000;
    let mut body = vec![0; 4 + 2 * count + 4];
    body[..4].copy_from_slice(&(count as i32).to_be_bytes());
    assert!(matches!(fault(&schema::DELETE_TOPICS, 1, &body), Fault::Costly { .. }));
}

#[test]
fn a_string_is_no_longer_than_old_versions_can_tell() {
    let find = |len: usize| {
        let mut body = vec![0, 2];
        let mut length = len + 1;
        while length >= 0x80 {
            body.push(length as u8 | 0x80);
            length >>= 7;
        }
        body.push(length as u8);
        body.extend(vec![b'g'; len]);
        body.push(0);
        body
    };
    assert!(check(&schema::FIND_COORDINATOR, 4, &find(32_767)).is_ok());
    assert_eq!(fault(&schema::FIND_COORDINATOR, 4, &find(32_768)), Fault::LongString { len: 32_768 });
}

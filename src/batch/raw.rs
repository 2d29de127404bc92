//! One record as it stands in the bytes, nothing copied.

use super::varint::Cursor;

/// The fields of a record; `headers` are whole and well-formed.
#[derive(Clone, Copy)]
pub(super) struct RawRecord<'a> {
    pub timestamp_delta: i64,
    pub offset_delta: i32,
    pub key: Option<&'a [u8]>,
    pub value: Option<&'a [u8]>,
    pub num_headers: i32,
    pub headers: &'a [u8],
}

impl<'a> RawRecord<'a> {
    /// Reads the next record. The error says what is wrong with it.
    #[inline(always)]
    pub fn read(input: &mut Cursor<'a>) -> Result<RawRecord<'a>, &'static str> {
        let length = input.varint().ok_or("its length is missing")?;
        let length = usize::try_from(length).map_err(|_| "its length is negative")?;
        let body = input.take(length).ok_or("it reaches past the end of the batch")?;
        let mut body = Cursor::new(body);
        body.byte().ok_or("its attributes are missing")?;
        let timestamp_delta = body.varlong().ok_or("its timestamp is not a varint")?;
        let offset_delta = body.varint().ok_or("its offset is not a varint")?;
        let key = nullable(&mut body).ok_or("its key's length is wrong")?;
        let value = nullable(&mut body).ok_or("its value's length is wrong")?;
        let num_headers = body.varint().ok_or("its number of headers is missing")?;
        let headers = body.rest();
        skip_headers(&mut body, num_headers)?;
        if !body.is_empty() {
            return Err("it is longer than its fields");
        }
        Ok(RawRecord { timestamp_delta, offset_delta, key, value, num_headers, headers })
    }
}

/// Reads one header of a record.
#[inline(always)]
pub(super) fn read_header<'a>(input: &mut Cursor<'a>) -> Result<(&'a [u8], Option<&'a [u8]>), &'static str> {
    let length = input.varint().and_then(|length| usize::try_from(length).ok());
    let key = length.and_then(|length| input.take(length)).ok_or("a header key's length is wrong")?;
    let value = nullable(input).ok_or("a header value's length is wrong")?;
    Ok((key, value))
}

#[inline(always)]
fn skip_headers(body: &mut Cursor<'_>, num_headers: i32) -> Result<(), &'static str> {
    if num_headers < 0 {
        return Err("its number of headers is negative");
    }
    for _ in 0..num_headers {
        // Each takes two bytes at least, so a wrong number ends at the end of the record.
        read_header(body)?;
    }
    Ok(())
}

/// A byte string whose length may be -1 for null; none if it is cut or its length is below -1.
#[inline(always)]
fn nullable<'a>(input: &mut Cursor<'a>) -> Option<Option<&'a [u8]>> {
    match input.varint()? {
        -1 => Some(None),
        length => input.take(usize::try_from(length).ok()?).map(Some),
    }
}

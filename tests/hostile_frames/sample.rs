//! Requests made from the schemas: of any size, with every length's place known.

use streamstack::wire::schema::{Field, Kind, Schema};

/// A request's body, and where its lengths stand.
pub struct Sample {
    pub body: Vec<u8>,
    pub lengths: Vec<Length>,
    version: i16,
    flexible: bool,
    choices: Choices,
}

/// A length or count in a body.
#[derive(Clone, Copy, Debug)]
pub struct Length {
    pub at: usize,
    pub len: usize,
    pub compact: bool,
}

/// Small numbers that decide what a sample holds; a fixed one after the last.
pub struct Choices {
    left: std::vec::IntoIter<u8>,
    then: u8,
}

impl Choices {
    /// Every choice is `then`.
    pub fn all(then: u8) -> Choices {
        Choices { left: Vec::new().into_iter(), then }
    }

    pub fn of(choices: Vec<u8>) -> Choices {
        Choices { left: choices.into_iter(), then: 0 }
    }

    fn next(&mut self) -> u8 {
        self.left.next().unwrap_or(self.then)
    }
}

impl Sample {
    /// A well-formed request of that version.
    pub fn of(schema: &Schema, version: i16, choices: Choices) -> Sample {
        let flexible = schema.is_flexible(version);
        let mut sample = Sample { body: Vec::new(), lengths: Vec::new(), version, flexible, choices };
        sample.fields(schema.fields);
        sample
    }

    fn fields(&mut self, fields: &'static [Field]) {
        let version = self.version;
        for field in fields.iter().filter(|field| field.tag.is_none() && field.is_in(version)) {
            self.value(&field.kind, field.may_be_null(version));
        }
        if self.flexible {
            self.tags(fields);
        }
    }

    /// Choice 0 leaves the tags out; others put in all known ones and perhaps one of a later version.
    fn tags(&mut self, fields: &'static [Field]) {
        let version = self.version;
        let choice = self.choices.next();
        let known =
            fields.iter().filter(|field| !choice.is_multiple_of(4) && field.tag.is_some() && field.is_in(version));
        let known: Vec<&Field> = known.collect();
        let unknown = choice % 4 > 1;
        self.length(Some(known.len() + usize::from(unknown)), true, 0);
        for field in known {
            let tag = field.tag.expect("filtered");
            let (start, lengths) = (self.body.len(), self.lengths.len());
            self.value(&field.kind, field.may_be_null(version));
            let value = self.body.split_off(start);
            let moved = self.lengths.split_off(lengths);
            self.varint(tag);
            self.length(Some(value.len()), true, 0);
            let by = self.body.len() - start;
            self.lengths.extend(moved.into_iter().map(|length| Length { at: length.at + by, ..length }));
            self.body.extend(value);
        }
        if unknown {
            self.varint(77);
            self.length(Some(3), true, 0);
            self.body.extend([1, 2, 3]);
        }
    }

    fn value(&mut self, kind: &'static Kind, may_be_null: bool) {
        if let Kind::Fixed(len) = kind {
            let fill = self.choices.next();
            return self.body.extend((0..*len).map(|_| fill));
        }
        let choice = self.choices.next();
        let len = if may_be_null && choice.is_multiple_of(3) { None } else { Some(usize::from(choice % 5)) };
        match kind {
            Kind::Fixed(_) => {}
            Kind::String => self.bytes(len, b'a', 2),
            Kind::Bytes => self.bytes(len, 0xff, 4),
            Kind::Array(element) => {
                self.length(len, self.flexible, 4);
                (0..len.unwrap_or(0)).for_each(|_| self.value(element, false));
            }
            Kind::Struct(fields) => match (may_be_null, len) {
                (true, None) => self.body.push(0xff),
                (true, Some(_)) => {
                    self.body.push(1);
                    self.fields(fields);
                }
                (false, _) => self.fields(fields),
            },
        }
    }

    fn bytes(&mut self, len: Option<usize>, fill: u8, width: usize) {
        self.length(len, self.flexible, width);
        self.body.extend((0..len.unwrap_or(0)).map(|_| fill));
    }

    /// `width` is that of the old kind of length; 0 for tags, whose count is never one more than it is.
    fn length(&mut self, len: Option<usize>, compact: bool, width: usize) {
        let at = self.body.len();
        match (compact, width, len) {
            (true, 0, len) => self.varint(len.unwrap_or(0) as u32),
            (true, _, None) => self.varint(0),
            (true, _, Some(len)) => self.varint(len as u32 + 1),
            (false, 2, len) => self.body.extend(len.map_or(-1, |len| len as i16).to_be_bytes()),
            (false, _, len) => self.body.extend(len.map_or(-1, |len| len as i32).to_be_bytes()),
        }
        self.lengths.push(Length { at, len: self.body.len() - at, compact });
    }

    fn varint(&mut self, mut value: u32) {
        while value >= 0x80 {
            self.body.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.body.push(value as u8);
    }
}

impl Length {
    /// Lengths that no honest client sends, in the place of this one.
    pub fn hostile(&self) -> Vec<Vec<u8>> {
        if self.compact {
            return vec![
                vec![0xff, 0xff, 0xff, 0xff, 0x0f],
                vec![0xff, 0xff, 0xff, 0xff, 0x07],
                vec![0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
                vec![0x80; 10],
                vec![0x80, 0x80, 0x80, 0x10],
                vec![0xff, 0x7f],
                vec![0x00],
            ];
        }
        let numbers: [i64; 8] = [i64::from(i32::MAX), i64::from(i32::MIN), -2, -1, 1 << 24, 0x7fff, -0x8000, 1000];
        numbers.iter().map(|number| number.to_be_bytes()[8 - self.len..].to_vec()).collect()
    }
}

//! Java's properties format: `key=value`, `key: value` or `key value` lines, `#` and `!` comments,
//! a trailing backslash continues a line, escapes are `\t \n \r \f \\ \uXXXX`, others stand for themselves.

use std::collections::HashMap;

/// One property, and the line (from 1) on which it starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    pub key: String,
    pub value: String,
    pub line: usize,
}

/// A property that a later line gives again; as in Java the later one counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Duplicate {
    pub key: String,
    pub line: usize,
    pub again: usize,
}

/// A text that is not in the format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PropertiesError {
    #[error("line {line}: \\u must be followed by four hexadecimal digits")]
    BadEscape { line: usize },
    #[error("line {line}: half of a surrogate pair")]
    BadSurrogate { line: usize },
}

/// All properties in order, repeated ones included.
pub fn parse(text: &str) -> Result<Vec<Property>, PropertiesError> {
    logical_lines(text).into_iter().map(|(line, text)| split(&text, line)).collect()
}

/// The properties that are given more than once.
pub fn duplicates(properties: &[Property]) -> Vec<Duplicate> {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    let mut found = Vec::new();
    for Property { key, line, .. } in properties {
        if let Some(first) = seen.insert(key, *line) {
            found.push(Duplicate { key: key.clone(), line: first, again: *line });
        }
    }
    found
}

fn blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\x0c')
}

/// Lines without blank ones and comments, continuations joined, with the number of their first line.
fn logical_lines(text: &str) -> Vec<(usize, String)> {
    let unix = text.replace("\r\n", "\n").replace('\r', "\n");
    let mut lines: Vec<(usize, String)> = Vec::new();
    let mut continues = false;
    for (number, line) in unix.split('\n').enumerate() {
        let line = line.trim_start_matches(blank);
        match lines.last_mut() {
            Some((_, whole)) if continues => whole.push_str(line),
            _ if line.is_empty() || line.starts_with(['#', '!']) => continue,
            _ => lines.push((number + 1, line.to_owned())),
        }
        continues = line.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1;
        if continues && let Some((_, whole)) = lines.last_mut() {
            whole.pop();
        }
    }
    lines
}

/// The key ends at the first `=`, `:` or blank that is not escaped.
fn split(text: &str, line: usize) -> Result<Property, PropertiesError> {
    let mut escaped = false;
    let end = text.find(|c: char| {
        let ends = !escaped && (matches!(c, '=' | ':') || blank(c));
        escaped = c == '\\' && !escaped;
        ends
    });
    let (key, rest) = text.split_at(end.unwrap_or(text.len()));
    let rest = rest.trim_start_matches(blank);
    let value = rest.strip_prefix(['=', ':']).unwrap_or(rest).trim_start_matches(blank);
    Ok(Property { key: unescape(key, line)?, value: unescape(value, line)?, line })
}

fn unescape(text: &str, line: usize) -> Result<String, PropertiesError> {
    // Through UTF-16, because \u escapes are its units and may come in surrogate pairs.
    let mut units: Vec<u16> = Vec::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        let plain = match c {
            '\\' => match chars.next() {
                Some('u') => {
                    units.push(unicode(&mut chars).ok_or(PropertiesError::BadEscape { line })?);
                    continue;
                }
                Some('t') => '\t',
                Some('n') => '\n',
                Some('r') => '\r',
                Some('f') => '\x0c',
                Some(other) => other,
                None => continue,
            },
            other => other,
        };
        units.extend_from_slice(plain.encode_utf16(&mut [0; 2]));
    }
    String::from_utf16(&units).map_err(|_| PropertiesError::BadSurrogate { line })
}

fn unicode(chars: &mut std::str::Chars<'_>) -> Option<u16> {
    let mut unit = 0;
    for _ in 0..4 {
        unit = unit * 16 + chars.next()?.to_digit(16)?;
    }
    u16::try_from(unit).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pairs(text: &str) -> Vec<(String, String)> {
        parse(text).unwrap().into_iter().map(|property| (property.key, property.value)).collect()
    }

    fn pair(text: &str) -> (String, String) {
        let mut all = pairs(text);
        assert_eq!(all.len(), 1, "{text:?}");
        all.remove(0)
    }

    fn is(text: &str, key: &str, value: &str) {
        assert_eq!(pair(text), (key.to_owned(), value.to_owned()), "{text:?}");
    }

    #[test]
    fn every_separator_of_java() {
        is("a=b", "a", "b");
        is("  a : b ", "a", "b ");
        is("a b", "a", "b");
        is("a\t=\tb=c", "a", "b=c");
        is("a==b", "a", "=b");
        is("a", "a", "");
        is("=b", "", "b");
        is(r"a\=b\ c = d", "a=b c", "d");
    }

    #[test]
    fn comments_and_blank_lines_are_skipped() {
        assert_eq!(pairs("# a=b\n ! c=d\n\n \t\r\ne=f\r# \\\ng=h").len(), 2);
    }

    #[test]
    fn a_backslash_continues_a_line() {
        is("a = b,\\\n    c,\\\r\n  # d", "a", "b,c,# d");
        is("a=b\\\\\n", "a", "b\\");
        is("a=b\\", "a", "b");
        assert_eq!(pairs("# c \\\na=b"), pairs("a=b"));
    }

    #[test]
    fn escapes() {
        is(r"a=\t\n\r\f\\\q\u0041\ud83d\ude00", "a", "\t\n\r\x0c\\qA😀");
        assert_eq!(parse("\na=\\u00g0").unwrap_err(), PropertiesError::BadEscape { line: 2 });
        assert_eq!(parse("a=\\ud83d").unwrap_err(), PropertiesError::BadSurrogate { line: 1 });
    }

    #[test]
    fn a_key_given_twice_is_reported_with_both_lines() {
        let properties = parse("a=1\nb=2\n\na=3").unwrap();
        assert_eq!(duplicates(&properties), [Duplicate { key: "a".to_owned(), line: 1, again: 4 }]);
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_or_refused(text in r"(?s)[ab=: \\#!\n\r\tuéf0]{0,60}") {
            let _ = parse(&text);
        }

        #[test]
        fn what_is_escaped_comes_back(key in r"[a-z.é= :#!]{1,12}", value in r"[a-z\\ =:é]{0,12}") {
            let escape = |text: &str| text.chars().fold(String::new(), |mut out, c| {
                if !c.is_alphanumeric() { out.push('\\'); }
                out.push(c);
                out
            });
            prop_assert_eq!(pair(&format!("{} = {}", escape(&key), escape(&value))), (key, value));
        }
    }
}

//! Regular expressions over topic names, in linear time: RE2's language as clients of Kafka write it.
//!
//! A name must match as a whole. `\Q...\E` is RE2's and not this engine's, so it is written out beforehand. What this
//! engine has no word for (a lone `{`, `\C`) is refused as invalid.

use regex_automata::meta::Regex;
use regex_syntax::hir::{Hir, Look};

/// Longest regular expression.
const LENGTH_MAX: usize = 4_096;
/// Room for its automaton: repeated repetitions grow without bound.
const AUTOMATON_BYTES_MAX: usize = 1 << 20;

/// A compiled regular expression.
#[derive(Clone, Debug)]
pub struct Pattern(Regex);

impl Pattern {
    /// Compiles it, or says what is wrong with it.
    pub fn new(text: &str) -> Result<Pattern, String> {
        if text.len() > LENGTH_MAX {
            return Err(format!("it is {} bytes long, and {LENGTH_MAX} is the most", text.len()));
        }
        let hir = regex_syntax::parse(&without_quotes(text)).map_err(|error| error.to_string())?;
        // Put around the parsed expression: around its text, `a)(b` would become right.
        let whole = Hir::concat(vec![Hir::look(Look::Start), hir, Hir::look(Look::End)]);
        let limits =
            Regex::config().nfa_size_limit(Some(AUTOMATON_BYTES_MAX)).onepass_size_limit(Some(AUTOMATON_BYTES_MAX));
        let regex = Regex::builder().configure(limits).build_from_hir(&whole);
        regex.map(Pattern).map_err(|error| error.to_string())
    }

    /// Whether it matches all of `name`.
    pub fn matches(&self, name: &str) -> bool {
        self.0.is_match(name)
    }
}

/// The same expression with what stands between `\Q` and `\E` (or the end) escaped.
fn without_quotes(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        plain.push_str(&rest[..at]);
        let escaped = &rest[at + 1..];
        rest = match escaped.strip_prefix('Q') {
            Some(quoted) => {
                let (quoted, after) = quoted.split_once("\\E").unwrap_or((quoted, ""));
                plain.push_str(&regex_syntax::escape(quoted));
                after
            }
            None => {
                // The character behind is taken with the backslash, for `\\Q` is no quote.
                let len = 1 + escaped.chars().next().map_or(0, char::len_utf8);
                plain.push_str(&rest[at..at + len]);
                &rest[at + len..]
            }
        };
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, matching: &[&str], other: &[&str]) {
        let compiled = Pattern::new(pattern).unwrap();
        for name in matching {
            assert!(compiled.matches(name), "{pattern:?} does not match {name:?}");
        }
        for name in other {
            assert!(!compiled.matches(name), "{pattern:?} matches {name:?}");
        }
    }

    #[test]
    fn the_whole_name_must_match() {
        check("foo", &["foo"], &["foobar", "afoo", ""]);
        check("a|ab", &["a", "ab"], &["abc", "b"]);
        check("^orders.*$", &["orders", "orders-1"], &["my-orders"]);
        check("(?x) foo # a comment", &["foo"], &["foo # a comment"]);
        check("(?i)foo", &["FOO", "foo"], &["fo"]);
        check("", &[""], &["a"]);
    }

    #[test]
    fn quotes_of_re2_are_understood() {
        check(r"\Qa.b\E.*", &["a.b", "a.bc"], &["axb"]);
        check(r"\Qa.b", &["a.b"], &["axb"]);
        check(r"a\\Q", &[r"a\Q"], &["aQ"]);
        check(r"\d+\.x", &["12.x"], &["12ax"]);
    }

    #[test]
    fn what_is_no_expression_is_refused() {
        for bad in ["[", "(", "a)(b", "*", r"\1", "a{2,1}", "(?=a)", r"a\"] {
            Pattern::new(bad).unwrap_err();
        }
    }

    #[test]
    fn expressions_are_bounded_in_length_and_in_size() {
        Pattern::new(&"a".repeat(LENGTH_MAX)).unwrap();
        Pattern::new(&"a".repeat(LENGTH_MAX + 1)).unwrap_err();
        Pattern::new("(((a{1000}){1000}){1000})").unwrap_err();
    }

    #[test]
    fn an_expression_that_backtracking_engines_hang_on_is_answered_at_once() {
        check("(a+)+b", &["aab"], &[&"a".repeat(249)]);
    }
}

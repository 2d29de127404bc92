//! Rust files as the house rules see them: code without comments, strings and tests, by line.

use std::fs;
use std::path::Path;

/// A Rust file.
pub struct Source {
    /// Below the repository, with `/`.
    pub path: String,
    pub text: String,
    /// The same lines, with comments, literals and test modules blanked out.
    code: String,
}

impl Source {
    pub fn read(path: &str) -> Source {
        let text = read_text(path).unwrap_or_else(|| panic!("cannot read {path}"));
        let code = without_tests(&plain_code(&text));
        Source { path: path.to_owned(), text, code }
    }

    /// The module right below the crate that the file belongs to.
    pub fn module(&self) -> String {
        let below = self.path.trim_start_matches("src/");
        below.split('/').next().unwrap_or(below).trim_end_matches(".rs").to_owned()
    }

    /// Lines (from 1) whose code holds the phrase.
    pub fn places(&self, phrase: &str) -> impl Iterator<Item = usize> {
        (1..).zip(self.code.lines()).filter(move |(_, line)| line.contains(phrase)).map(|(number, _)| number)
    }

    /// Lines whose code holds the word alone.
    pub fn places_of_word(&self, word: &str) -> impl Iterator<Item = usize> {
        let lines = (1..).zip(self.code.lines());
        lines.filter(move |(_, line)| words(line).any(|other| other == word)).map(|(number, _)| number)
    }

    /// Every `crate::name`, also of the form `crate::{name, ...}`, with its line.
    pub fn arrows(&self) -> Vec<(usize, String)> {
        let mut found = Vec::new();
        for (at, _) in self.code.match_indices("crate::") {
            let line = self.code[..at].lines().count().max(1);
            let rest = &self.code[at + "crate::".len()..];
            let names: Vec<&str> = match rest.strip_prefix('{') {
                Some(group) => top_level_names(group),
                None => words(rest).take(1).collect(),
            };
            found.extend(names.into_iter().map(|name| (line, name.to_owned())));
        }
        found
    }
}

/// All Rust files below a folder, in order; none when it is missing. Files of test modules are left out of `src`.
pub fn rust_files(folder: &str) -> Vec<Source> {
    let paths =
        repository().into_iter().filter(|path| path.starts_with(&format!("{folder}/")) && path.ends_with(".rs"));
    let files: Vec<Source> = paths.map(|path| Source::read(&path)).collect();
    let tests: Vec<String> = files.iter().flat_map(test_modules).collect();
    let is_test =
        |path: &str| tests.iter().any(|test| path == format!("{test}.rs") || path.starts_with(&format!("{test}/")));
    files.into_iter().filter(|file| !is_test(&file.path)).collect()
}

/// Every file of the repository, as paths below it.
pub fn repository() -> Vec<String> {
    let mut found = Vec::new();
    walk(Path::new(env!("CARGO_MANIFEST_DIR")), "", &mut found);
    found.sort();
    found
}

/// A file's text, or `None` when it is not text.
pub fn read_text(path: &str) -> Option<String> {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).ok()
}

/// The hosts of the URLs in a line.
pub fn hosts(line: &str) -> impl Iterator<Item = &str> {
    let urls = line.split("http").skip(1).filter_map(|rest| rest.trim_start_matches('s').strip_prefix("://"));
    let hosts = urls.map(|rest| {
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '-'))).unwrap_or(rest.len());
        rest[..end].trim_end_matches('.')
    });
    hosts.filter(|host| !host.is_empty())
}

fn walk(folder: &Path, below: &str, found: &mut Vec<String>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if below.is_empty() { name.clone() } else { format!("{below}/{name}") };
        let Ok(kind) = entry.file_type() else { continue };
        // What is built, and what runs leave behind.
        if matches!(name.as_str(), ".git" | "target" | "streamstack-data" | "node_modules" | "__pycache__") {
            continue;
        }
        match kind.is_dir() {
            true => walk(&entry.path(), &path, found),
            false => found.push(path),
        }
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty())
}

/// The first names of `a::b, c, d::{e, f}}`: a, c and d.
fn top_level_names(group: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let (mut depth, mut start) = (0, 0);
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => {
                names.extend(words(&group[start..at]).next());
                break;
            }
            '}' => depth -= 1,
            ',' if depth == 0 => {
                names.extend(words(&group[start..at]).next());
                start = at + 1;
            }
            _ => {}
        }
    }
    names
}

/// The paths, without `.rs`, of the modules that a file declares for tests only.
fn test_modules(file: &Source) -> Vec<String> {
    let folder = match file.path.strip_suffix("/mod.rs").or(file.path.strip_suffix("/lib.rs")) {
        Some(folder) => folder,
        None => file.path.trim_end_matches(".rs"),
    };
    let lines: Vec<&str> = file.text.lines().map(str::trim).collect();
    let pairs = lines.windows(2).filter(|pair| pair[0].starts_with("#[cfg(test)]"));
    let names = pairs.filter_map(|pair| words(pair[1].strip_suffix(';')?).skip_while(|word| *word != "mod").nth(1));
    names.map(|name| format!("{folder}/{name}")).collect()
}

/// Blanks out the item that follows each `#[cfg(test)]`.
fn without_tests(code: &str) -> String {
    let mut kept = String::with_capacity(code.len());
    let mut rest = code;
    while let Some(at) = rest.find("#[cfg(test)]") {
        kept.push_str(&rest[..at]);
        let item = &rest[at..];
        let end = end_of_item(item);
        kept.extend(item[..end].chars().filter(|c| *c == '\n'));
        rest = &item[end..];
    }
    kept + rest
}

/// One past the item's closing brace, or its semicolon if that comes first.
fn end_of_item(item: &str) -> usize {
    let mut depth = 0;
    for (at, c) in item.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 1 => return at + 1,
            '}' => depth -= 1,
            ';' if depth == 0 => return at + 1,
            _ => {}
        }
    }
    item.len()
}

/// The text with comments and the insides of literals as blanks; line breaks stay.
fn plain_code(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let skip = comment_or_literal(rest, code.chars().last());
        if skip > 0 {
            code.extend(rest[..skip].chars().map(|c| if c == '\n' { c } else { ' ' }));
            rest = &rest[skip..];
        } else {
            let first = rest.chars().next().unwrap_or(' ');
            code.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    code
}

/// Length of the comment or literal that `rest` starts with, 0 if none.
fn comment_or_literal(rest: &str, before: Option<char>) -> usize {
    let in_word = before.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let raw = rest.strip_prefix('r').or(rest.strip_prefix("br")).filter(|_| !in_word);
    if rest.starts_with("//") {
        return rest.find('\n').unwrap_or(rest.len());
    }
    if rest.starts_with("/*") {
        return rest.find("*/").map_or(rest.len(), |end| end + 2);
    }
    if let Some(after) = raw {
        let hashes = after.bytes().take_while(|byte| *byte == b'#').count();
        if after[hashes..].starts_with('"') {
            let close = format!("\"{}", "#".repeat(hashes));
            let open = rest.len() - after.len() + hashes + 1;
            return rest[open..].find(&close).map_or(rest.len(), |end| open + end + close.len());
        }
    }
    if rest.starts_with('"') {
        return end_of_quoted(rest, '"');
    }
    // A char literal, not a lifetime: closed after one character or an escape.
    let mut chars = rest.chars();
    match (chars.next(), chars.next(), chars.next()) {
        (Some('\''), Some('\\'), _) => end_of_quoted(rest, '\''),
        (Some('\''), Some(inside), Some('\'')) => 2 + inside.len_utf8(),
        _ => 0,
    }
}

fn end_of_quoted(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

#[test]
fn code_is_told_from_comments_literals_and_tests() {
    let text = "let a = \"x.unwrap() \\\" todo!\"; // dbg!\nlet c = '\"'; f::<'a>(r#\"unsafe \" \"#);\n\
                #[cfg(test)]\nmod tests {\n    fn f() { g().unwrap() }\n}\nuse crate::{model::ids, wire};";
    let code = without_tests(&plain_code(text));
    for gone in ["unwrap", "todo", "dbg", "unsafe"] {
        assert!(!code.contains(gone), "{gone} in {code}");
    }
    assert_eq!(code.lines().count(), text.lines().count());
    let source = Source { path: "src/x/y.rs".to_owned(), text: text.to_owned(), code };
    assert_eq!(source.arrows(), [(7, "model".to_owned()), (7, "wire".to_owned())]);
    assert_eq!(source.module(), "x");
    assert_eq!(
        hosts("see https://kafka.apache.org/x and http://127.0.0.1:1").collect::<Vec<_>>(),
        ["kafka.apache.org", "127.0.0.1"]
    );
}

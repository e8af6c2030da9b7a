//! Finding text in files, line by line, within bounds that are told.

use std::{collections::HashSet, ops::Range};

use regex::bytes::{Regex, RegexBuilder};

use super::{
    FileError, Files,
    list::{Next, Visit, Visitor},
    look::{FileKind, contents},
};
use crate::{checkpoint::Rules, git::ignored, inner_path::InnerPath, seen::Kind};

/// Files that one search reads.
pub const SEARCH_FILES_MAX: u64 = 100_000;

/// Bytes that one search reads: some seconds of work.
pub const SEARCH_BYTES_MAX: u64 = 256 << 20;

/// A larger file is not searched, and counted.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// Where a zero byte makes a file one of no text.
const HEAD_BYTES: usize = 8_000;

/// What is shown of a line, in bytes.
const LINE_BYTES_MAX: usize = 400;

/// What of it is before the match.
const LEAD_BYTES: usize = 100;

/// What an expression may take up, compiled.
const PATTERN_BYTES_MAX: usize = 1 << 20;

/// Why a text is nothing to search for.
#[derive(Debug, Clone, thiserror::Error)]
pub enum PatternError {
    /// It is no expression, or too large a one.
    #[error(transparent)]
    Expression(#[from] regex::Error),
    /// It has no letter, or more than one line.
    #[error("it is empty or has several lines")]
    Lines,
}

/// What is searched for.
#[derive(Debug, Clone)]
pub struct Pattern(Regex);

/// Whether large and small letters differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Case {
    /// They do.
    Kept,
    /// They do not.
    Ignored,
}

impl Pattern {
    /// These words as they are.
    ///
    /// # Errors
    /// If they are too many, or more than a line.
    pub fn words(text: &str, case: Case) -> Result<Self, PatternError> {
        Self::new(text, &regex::escape(text), case)
    }

    /// A regular expression. Its time is that of the text, whatever it says.
    ///
    /// # Errors
    /// If it is none, too large a one, or more than a line.
    pub fn expression(text: &str, case: Case) -> Result<Self, PatternError> {
        Self::new(text, text, case)
    }

    fn new(said: &str, expression: &str, case: Case) -> Result<Self, PatternError> {
        if said.is_empty() || said.contains('\n') {
            return Err(PatternError::Lines);
        }
        let mut builder = RegexBuilder::new(expression);
        builder.case_insensitive(case == Case::Ignored).size_limit(PATTERN_BYTES_MAX);
        Ok(Self(builder.build()?))
    }
}

/// A place in a search: everything before it was searched, and of the file itself so many lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchAt {
    /// The file.
    pub path: InnerPath,
    /// The last line that was searched; 0 if none was.
    pub line: u64,
}

/// A search.
#[derive(Debug, Clone)]
pub struct Search<'a> {
    /// What for.
    pub pattern: &'a Pattern,
    /// In this folder or file.
    pub within: &'a InnerPath,
    /// What is passed over.
    pub rules: Rules,
    /// Where a former one ended.
    pub from: Option<SearchAt>,
    /// How many lines are told.
    pub limit: usize,
}

/// A line that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// In which file.
    pub path: InnerPath,
    /// Its number, from 1.
    pub line: u64,
    /// Where in the file the match begins.
    pub offset: u64,
    /// The line as text, or what of it is around the match; what is no text in it is replaced.
    pub text: String,
    /// Whether that is not all of the line.
    pub is_cut: bool,
}

/// What was found, and what was not looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Searched {
    /// The lines, by file and number.
    pub found: Vec<Found>,
    /// Files that were searched.
    pub files: u64,
    /// Bytes in them.
    pub bytes: u64,
    /// Files of no text.
    pub binary: u64,
    /// Files that are too large.
    pub too_large: u64,
    /// Files and folders that could not be read.
    pub unreadable: u64,
    /// Where the next search goes on, if a bound was reached.
    pub next: Option<SearchAt>,
}

impl Files {
    /// Searches files for text.
    ///
    /// # Errors
    /// If there is no such folder or file, or git cannot say what it ignores.
    pub fn search(&self, search: Search<'_>) -> Result<Searched, FileError> {
        let ignored = if search.rules.keep_ignored {
            HashSet::new()
        } else {
            ignored(&std::path::PathBuf::from(search.within.to_string()), &self.root)?
        };
        let seen = self.seen(search.within)?.ok_or_else(|| FileError::NotFound(search.within.clone()))?;
        let (within, from) = (search.within.clone(), search.from.clone());
        let mut searcher = Searcher { search, ignored, done: Searched::default() };
        if seen.kind() == Kind::File {
            let (folder, name) = self.place(&within)?;
            searcher.file(&Visit { folder: &folder, name, path: within.clone(), seen })?;
            return Ok(searcher.done);
        }
        if seen.kind() != Kind::Folder {
            return Err(FileError::Other { path: within, is: super::kind_of(&seen) });
        }
        // A file that was searched in part is searched once more, from the line on.
        if let Some(SearchAt { path, .. }) = &from
            && path.is_in(&within)
            && let Ok((folder, name)) = self.place(path)
            && let Some(seen) = self.seen(path)?
            && searcher.file(&Visit { folder: &folder, name, path: path.clone(), seen })? == Next::Stop
        {
            return Ok(searcher.done);
        }
        self.walk(&within, from.as_ref().map(|from| &from.path), &mut searcher)?;
        Ok(searcher.done)
    }
}

struct Searcher<'a> {
    search: Search<'a>,
    ignored: HashSet<Vec<u8>>,
    done: Searched,
}

impl Visitor for Searcher<'_> {
    fn visit(&mut self, visit: Visit<'_>) -> Result<Next, FileError> {
        let is_git = !self.search.rules.keep_git && visit.name == b".git";
        if is_git || self.ignored.contains(&visit.path.bytes()) {
            return Ok(Next::Pass);
        }
        match visit.seen.kind() {
            Kind::Folder => Ok(Next::Enter),
            Kind::File => self.file(&visit),
            Kind::Link | Kind::Other(_) => Ok(Next::Pass),
        }
    }

    fn enters(&self) -> bool {
        true
    }

    fn closed(&mut self, _path: &InnerPath) {
        self.done.unreadable = self.done.unreadable.saturating_add(1);
    }
}

impl Searcher<'_> {
    fn file(&mut self, visit: &Visit<'_>) -> Result<Next, FileError> {
        let done = &mut self.done;
        if super::kind_of(&visit.seen) != FileKind::File {
            return Ok(Next::Pass);
        }
        if visit.seen.size > FILE_BYTES_MAX {
            done.too_large = done.too_large.saturating_add(1);
            return Ok(Next::Pass);
        }
        let is_from = self.search.from.as_ref().filter(|from| from.path == visit.path);
        let first = is_from.map_or(0, |from| from.line);
        let is_full = done.files >= SEARCH_FILES_MAX
            || done.bytes.saturating_add(visit.seen.size) > SEARCH_BYTES_MAX
            || done.found.len() >= self.search.limit;
        if is_full {
            done.next = Some(SearchAt { path: visit.path.clone(), line: first });
            return Ok(Next::Stop);
        }
        let Some(bytes) = contents(visit.folder, visit.name, FILE_BYTES_MAX) else {
            done.unreadable = done.unreadable.saturating_add(1);
            return Ok(Next::Pass);
        };
        if bytes.iter().take(HEAD_BYTES).any(|byte| *byte == 0) {
            done.binary = done.binary.saturating_add(1);
            return Ok(Next::Pass);
        }
        (done.files, done.bytes) =
            (done.files.saturating_add(1), done.bytes.saturating_add(bytes.len() as u64));
        Ok(self.lines(&visit.path, &bytes, first))
    }

    fn lines(&mut self, path: &InnerPath, bytes: &[u8], first: u64) -> Next {
        let mut offset = 0_u64;
        for (number, line) in (1_u64..).zip(bytes.split_inclusive(|byte| *byte == b'\n')) {
            let begin = offset;
            offset = offset.saturating_add(line.len() as u64);
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let hit = if number > first { self.search.pattern.0.find(line) } else { None };
            let Some(hit) = hit else { continue };
            if self.done.found.len() >= self.search.limit {
                self.done.next = Some(SearchAt { path: path.clone(), line: number.saturating_sub(1) });
                return Next::Stop;
            }
            let window = window(line.len(), hit.start());
            let shown_line = line.get(window.clone()).unwrap_or_default();
            self.done.found.push(Found {
                path: path.clone(),
                line: number,
                offset: begin.saturating_add(hit.start() as u64),
                text: String::from_utf8_lossy(shown_line).into_owned(),
                is_cut: window.len() < line.len(),
            });
        }
        Next::Pass
    }
}

/// What of a line is shown.
fn window(length: usize, hit: usize) -> Range<usize> {
    if length <= LINE_BYTES_MAX {
        return 0..length;
    }
    let begin = hit.saturating_sub(LEAD_BYTES);
    begin..begin.saturating_add(LINE_BYTES_MAX).min(length)
}

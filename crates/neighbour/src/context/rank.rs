//! Which texts fit a query: the words that they share, rarer ones more (BM25).

use std::collections::{BTreeMap, BTreeSet};

use super::EXCERPT_BYTES_MAX;

/// How soon a word that stands often counts no more.
const SATURATION: f64 = 1.2;

/// How much a long text has to say for each word.
const LENGTH_WEIGHT: f64 = 0.75;

/// The words of a text, how often each, and how many in all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Words {
    counts: BTreeMap<String, u32>,
    all: u32,
}

/// The words of a text, in small letters.
fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

impl Words {
    /// Those of a text. Those of its title count as if they stood in it.
    pub(super) fn of(title: &str, text: &str) -> Self {
        let mut found = Self::default();
        for word in words(title).chain(words(text)) {
            *found.counts.entry(word).or_default() += 1;
            found.all = found.all.saturating_add(1);
        }
        found
    }
}

/// How well each text fits, best first, in thousandths. Those without a word of the query do not.
pub(super) fn ranked<'a>(query: &str, texts: &[(&'a str, &Words)]) -> Vec<(&'a str, u64)> {
    let asked: BTreeSet<String> = words(query).collect();
    let count = texts.len() as f64;
    let all: f64 = texts.iter().map(|(_, words)| f64::from(words.all)).sum();
    let average = (all / count.max(1.0)).max(1.0);
    let mut scores = vec![0.0_f64; texts.len()];
    for word in &asked {
        let with: Vec<_> = texts
            .iter()
            .enumerate()
            .filter_map(|(place, (_, words))| words.counts.get(word).map(|times| (place, words.all, *times)))
            .collect();
        let number = with.len() as f64;
        let rarity = (1.0 + (count - number + 0.5) / (number + 0.5)).ln();
        for (place, length, times) in with {
            let times = f64::from(times);
            let weight = 1.0 - LENGTH_WEIGHT + LENGTH_WEIGHT * f64::from(length) / average;
            if let Some(score) = scores.get_mut(place) {
                *score += rarity * times * (SATURATION + 1.0) / (times + SATURATION * weight);
            }
        }
    }
    let mut found: Vec<(&str, u64)> = texts
        .iter()
        .zip(scores)
        .filter(|(_, score)| *score > 0.0)
        .map(|((reference, _), score)| (*reference, thousandths(score)))
        .collect();
    found.sort_by(|(a, x), (b, y)| y.cmp(x).then_with(|| a.cmp(b)));
    found
}

/// A score as a number that every machine writes alike. One that fits at all has at least one.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is above zero, and what is beyond the bound is the bound"
)]
fn thousandths(score: f64) -> u64 {
    (score * 1000.0).round().clamp(1.0, 1e15) as u64
}

/// The line of a text that has most of the words, cut to the bound.
pub(super) fn excerpt(query: &str, text: &str) -> String {
    let asked: BTreeSet<String> = words(query).collect();
    let fits = |line: &str| words(line).filter(|word| asked.contains(word)).collect::<BTreeSet<_>>().len();
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    // Of equal ones the first.
    let best = lines.fold(("", 0), |best, line| {
        let found = fits(line);
        if found > best.1 { (line, found) } else { best }
    });
    let end = best.0.floor_char_boundary(EXCERPT_BYTES_MAX);
    best.0.get(..end).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves CTX-002.
    #[test]
    fn rarer_words_and_shorter_texts_come_first() {
        let texts = [
            ("a", Words::of("a", "the node and the record")),
            ("b", Words::of("b", "the node")),
            ("c", Words::of("c", "the record, the record, the chain")),
            ("d", Words::of("d", "nothing of it")),
        ];
        let texts: Vec<_> = texts.iter().map(|(name, words)| (*name, words)).collect();
        let order = |query| ranked(query, &texts).into_iter().map(|(name, _)| name).collect::<Vec<_>>();
        assert_eq!(order("Record!"), ["c", "a"]);
        assert_eq!(order("node"), ["b", "a"]);
        assert_eq!(order("chain of the node")[0], "c");
        assert!(order("elsewhere").is_empty() && order("").is_empty());
        assert_eq!(excerpt("the record", "one\n  of the record \nthe\n"), "of the record");
        assert!(excerpt("long", &format!("long {}", "\u{e4}".repeat(900))).len() <= EXCERPT_BYTES_MAX);
    }
}

//! The guide shows what sessions really see.

#[path = "../examples/provenance/transcripts.rs"]
mod transcripts;

const PAGE: &str = include_str!("../../../docs/guide/provenance.md");

/// The blocks of the page that are not marked as another language.
fn blocks() -> Vec<String> {
    let mut blocks = Vec::new();
    let mut lines = PAGE.lines();
    while let Some(opening) = lines.find(|line| line.starts_with("```")) {
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        if opening == "```" {
            blocks.push(block.join("\n"));
        }
    }
    blocks
}

/// Proves MSG-029.
#[test]
fn the_guide_quotes_what_is_rendered() {
    let rendered: Vec<String> = transcripts::all().unwrap().into_iter().map(|(_, text)| text).collect();
    assert_eq!(blocks(), rendered);
}

//! Prints what sessions see, as the guide quotes it: `cargo run -p edgeplane-driver --example provenance`.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, reason = "printing is what this example is for")]

mod transcripts;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for (name, text) in transcripts::all()? {
        println!("{name}:\n\n```\n{text}\n```\n");
    }
    Ok(())
}

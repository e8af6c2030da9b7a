//! Prints the JSON Schema of a manifest:
//! `cargo run -p edgeplane-manifest --example print_schema > spec/manifest.schema.json`.
#![expect(clippy::print_stdout, reason = "printing is what this example is for")]

fn main() -> Result<(), serde_json::Error> {
    println!("{}", serde_json::to_string_pretty(&edgeplane_manifest::schema())?);
    Ok(())
}

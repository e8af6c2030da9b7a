//! The page of what the protocol has a name for and this version does not serve: `spec/not-served.md`.

use edgeplane_wire::catalogue::later::Later;

const OPENING: &str = "# Not served yet

<!-- Made by `cargo xtask generate` from crates/wire/src/catalogue/later.rs. A change of this file is lost. -->

The protocol has a name for each of these, and this version serves none of them. Whoever calls one hears \
[unsupported](errors/unsupported.md) (over HTTP the status 501) and not `method_not_found`: the name is taken, and what \
it will mean is known. None has parameters yet, so that nobody builds on half a method. `core/describe` lists them with \
`served: false`; the [methods](methods.md) are what is served.
";

/// The whole page.
pub(super) fn page(all: &[Later]) -> String {
    let mut page = OPENING.to_owned();
    let mut profile = "";
    for later in all {
        let of = later.name.split_once('/').map_or("", |(profile, _)| profile);
        if of != profile {
            profile = of;
            page.push_str(&format!("\n## {profile}\n\n| method | kind | what it will do |\n|---|---|---|\n"));
        }
        page.push_str(&format!("| {} | {} | {} |\n", later.name, later.effect.as_str(), later.summary));
    }
    page
}

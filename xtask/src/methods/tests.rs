//! The page tells every method, and a page that tells something else is found.

use super::*;

#[test]
fn page_tells_every_method_with_its_fields_and_errors() {
    let page = page(METHODS).unwrap();
    for method in METHODS {
        assert!(
            page.contains(&format!("\n## {}\n\n{}\n", method.name, method.summary.trim())),
            "{}",
            method.name
        );
    }
    let signal = page.split("\n## ").find(|part| part.starts_with("runtime/agent.signal\n")).unwrap();
    for line in [
        "- kind: write",
        "- who: anyone",
        "| `parts` | list of [Part](#part) | required | What to say: at most 4 MiB of JSON, data at most 64 lists and objects deep. |",
        "| `mode` | [DeliveryMode](#deliverymode) | `\"queue\"` if not given | How it meets a running turn. |",
        "| `reply_to` | [MessageId](#messageid) | optional | The message it answers. |",
    ] {
        assert!(signal.lines().any(|found| found == line), "{line} is not in {signal}");
    }
    assert!(signal.contains("[idempotency_mismatch](errors/idempotency_mismatch.md)"));
    assert!(page.contains("| `dead_lettered` | Given up. |"));
}

/// Every link within the page leads to a heading of it.
#[test]
fn links_of_the_page_lead_somewhere() {
    let page = page(METHODS).unwrap();
    let headings: Vec<String> = page
        .lines()
        .filter(|line| line.starts_with('#'))
        .map(|line| anchor(line.trim_start_matches(['#', ' '])))
        .collect();
    for link in page.split("](#").skip(1).filter_map(|rest| rest.split(')').next()) {
        assert!(headings.iter().any(|heading| heading == link), "#{link}");
    }
}

#[test]
fn drift_is_found_at_its_first_line() {
    assert_eq!(first_difference("a\nb\n", "a\nb\n"), None);
    assert_eq!(first_difference("a\nb\n", "a\nc\n"), Some(2));
    assert_eq!(first_difference("", "a\n"), Some(1));
    assert_eq!(first_difference("a\n", "a\nb\n"), Some(2));
}

#[test]
fn check_fails_for_a_page_that_is_not_what_the_catalogue_says() {
    let root = tempfile::tempdir().unwrap();
    let check = || run(root.path(), &["--check".to_owned()]).unwrap();
    std::fs::create_dir(root.path().join("spec")).unwrap();
    assert_eq!(check(), ExitCode::FAILURE);
    assert_eq!(run(root.path(), &[]).unwrap(), ExitCode::SUCCESS);
    assert_eq!(check(), ExitCode::SUCCESS);
    let path = root.path().join(PAGE_PATH);
    let changed = workspace::read(&path).unwrap().replace("Given up.", "Given away.");
    edgeplane_os::atomic::write_atomic(&path, changed.as_bytes(), 0o644).unwrap();
    assert_eq!(check(), ExitCode::FAILURE);
    assert!(run(root.path(), &["--chek".to_owned()]).is_err());
}

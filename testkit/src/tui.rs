//! A terminal program with a composer, a dialog and states that a test chooses, and the adapter that reads it.

use std::path::PathBuf;

use serde_json::Value;

use crate::{Node, manifests::terminal};

/// The adapter's file.
pub const ADAPTER: &str = include_str!("../programs/fake-tui.toml");

const PROGRAM: &str = include_str!("../programs/fake_tui.py");

/// One running program.
#[derive(Debug)]
pub struct Tui {
    /// The agent's name.
    pub name: String,
    control: PathBuf,
    log: PathBuf,
}

impl Tui {
    /// Puts the adapter among the node's own and starts the program as an agent, in a state.
    ///
    /// # Panics
    /// If that cannot be done.
    #[must_use]
    pub fn start(node: &Node, name: &str, word: &str, more: &str) -> Self {
        Self::start_with(node, name, word, ("", more))
    }

    /// The same with more fields of the driver, each after a comma.
    ///
    /// # Panics
    /// If that cannot be done.
    #[must_use]
    pub fn start_with(node: &Node, name: &str, word: &str, (driver, more): (&str, &str)) -> Self {
        let own = node.state_dir().join("adapters");
        std::fs::create_dir_all(&own).expect("a folder for adapters");
        let file = own.join("fake-tui.toml");
        if !file.exists() {
            std::fs::write(&file, ADAPTER).expect("the adapter is written");
        }
        let program = node.program("fake_tui.py", PROGRAM);
        let tui = Self {
            name: name.to_owned(),
            control: node.scratch().join(format!("{name}.control")),
            log: node.scratch().join(format!("{name}.log")),
        };
        tui.set(word);
        let words =
            [program.as_path(), &tui.control, &tui.log].map(|path| path.to_string_lossy().into_owned());
        let mut argv = vec!["/usr/bin/env", "python3"];
        argv.extend(words.iter().map(String::as_str));
        let text = terminal(name, &argv, more);
        let text = text.replace("type: terminal", &format!("type: terminal, adapter: fake-tui{driver}"));
        node.run(name, &text);
        tui
    }

    /// Puts the adapter among the node's own with hooks of a kind.
    ///
    /// # Panics
    /// If that cannot be done.
    pub fn adapter_with_hooks(node: &Node, kind: &str) {
        let own = node.state_dir().join("adapters");
        std::fs::create_dir_all(&own).expect("a folder for adapters");
        let text = ADAPTER.replacen("\n\n", &format!("\nhooks = \"{kind}\"\n\n"), 1);
        std::fs::write(own.join("fake-tui.toml"), text).expect("the adapter is written");
    }

    /// Has the program run a command as its tools would.
    ///
    /// # Panics
    /// If it cannot be told.
    pub fn run(&self, command: &str) {
        let (file, next) =
            (self.control.with_extension("control.run"), self.control.with_extension("run.next"));
        std::fs::write(&next, command).expect("the command is written");
        std::fs::rename(&next, &file).expect("the command is put in place");
    }

    /// How the commands ended that it ran, its hooks among them, oldest first: fields `ran`, `code`, `out`, `err`, `ms`.
    #[must_use]
    pub fn ran(&self) -> Vec<Value> {
        self.logged().into_iter().filter(|line| line.get("ran").is_some()).collect()
    }

    /// What it was started with beyond its own arguments, each time.
    #[must_use]
    pub fn started_with(&self) -> Vec<Vec<String>> {
        let all = self.logged();
        all.iter().filter_map(|line| serde_json::from_value(line.get("argv")?.clone()).ok()).collect()
    }

    /// Puts the program in a state: `idle`, `busy`, `dialog`, `quota`, `error`, `deaf`, `swallow`, `glyph`, `blind`,
    /// `draft`, `lies` or `restless`, which is busy and drawn anew all the time.
    ///
    /// # Panics
    /// If it cannot be told.
    pub fn set(&self, word: &str) {
        // Never seen half written.
        let next = self.control.with_extension("next");
        std::fs::write(&next, word).expect("the word is written");
        std::fs::rename(&next, &self.control).expect("the word is put in place");
    }

    /// Whether the program is in the state that it was put in last.
    #[must_use]
    pub fn has_followed(&self) -> bool {
        let followed = std::fs::read(self.control.with_extension("control.followed"));
        followed.is_ok_and(|word| std::fs::read(&self.control).is_ok_and(|wanted| wanted == word))
    }

    fn logged(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(&self.log).unwrap_or_default();
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        whole.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// What was submitted, oldest first.
    #[must_use]
    pub fn submitted(&self) -> Vec<String> {
        let texts = self.logged();
        texts.iter().filter_map(|line| line["submitted"].as_str().map(str::to_owned)).collect()
    }

    /// Keys that its dialog was given.
    #[must_use]
    pub fn answers(&self) -> usize {
        self.logged().iter().filter(|line| line.get("dialog").is_some()).count()
    }
}

//! Every template of `agent init` with the real program that it is for: tried out, applied, told something, and heard.
//!
//! Each stands at a desk of its own: HOME, PATH and variables as somebody has them who has installed the program and
//! told it where its model is. Nothing is written into the manifest but what its comments leave to that person.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on ends at once")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use edgeplane_os::wait::{Deadline, until};
use edgeplane_testkit::{
    Node, NodeOptions,
    agents::{More, Programs},
    model::{ModelServer, Rule, Script},
    wait::AGENT_PATIENCE,
};
use serde_json::{Value, json};

/// What is said, and what the model answers.
const SAID: &str = "Say who you are.";
const ANSWER: &str = "I am saffron.";

/// What must be installed.
#[derive(Clone, Copy)]
enum Needs {
    Nothing,
    /// The programs of every rig.
    Rig,
    /// Others, with the pinned node.
    WithNode(More),
    /// Others alone.
    Only(More),
}

/// A template, and what its program needs of a person.
struct Template {
    name: &'static str,
    needs: Needs,
    /// The variables that are set where the daemon is started.
    variables: fn(port: u16) -> Vec<(&'static str, String)>,
    /// Writes what the person has configured in HOME.
    configure: fn(home: &Path, port: u16),
    /// What of the manifest's comments is filled in.
    adjust: fn(manifest: String, work: &Path) -> String,
}

impl Template {
    fn new(name: &'static str) -> Self {
        Self {
            name,
            needs: Needs::Rig,
            variables: |_| Vec::new(),
            configure: |_, _| {},
            adjust: |manifest, _| manifest,
        }
    }
}

/// A person's desk, with a node.
struct Desk {
    /// Holds HOME, which the node's environment names.
    dir: tempfile::TempDir,
    node: Node,
    server: ModelServer,
    name: &'static str,
}

impl Desk {
    /// None if the program is not here.
    fn set_up(template: &Template, script: Script) -> Option<Self> {
        let what = format!("the template {}", template.name);
        let mut path = match template.needs {
            Needs::Nothing => Vec::new(),
            Needs::Rig => Programs::find_or_skip(&what)?.path(),
            Needs::WithNode(more) => {
                [Programs::find_or_skip(&what)?.path(), more.find_or_skip(&what)?].concat()
            }
            Needs::Only(more) => more.find_or_skip(&what)?,
        };
        path.extend(["/usr/local/bin", "/usr/bin", "/bin"].map(PathBuf::from));
        let server = ModelServer::start(script);
        let dir = tempfile::Builder::new().prefix("ep-desk-").tempdir().unwrap();
        for folder in ["home/tmp", "work", "agents"] {
            fs::create_dir_all(dir.path().join(folder)).unwrap();
        }
        let home = dir.path().join("home");
        (template.configure)(&home, server.port());
        let path = std::env::join_paths(path).unwrap();
        let mut env: Vec<(String, String)> = vec![
            ("HOME".to_owned(), text(&home)),
            ("TMPDIR".to_owned(), text(&home.join("tmp"))),
            ("PATH".to_owned(), path.into_string().unwrap()),
        ];
        let variables = (template.variables)(server.port());
        env.extend(variables.into_iter().map(|(name, value)| (name.to_owned(), value)));
        let node = Node::start_with(NodeOptions { env, ..NodeOptions::default() });
        let desk = Self { dir, node, server, name: template.name };
        desk.done(&["agent", "init", template.name]);
        let file = desk.dir.path().join("agents").join(format!("{}.yaml", template.name));
        let manifest = fs::read_to_string(&file).unwrap();
        fs::write(&file, (template.adjust)(manifest, &desk.dir.path().join("work"))).unwrap();
        Some(desk)
    }

    fn file(&self) -> String {
        format!("{}.yaml", self.name)
    }

    fn cli(&self, words: &[&str]) -> Command {
        let mut command = self.node.cli(words);
        command.current_dir(self.dir.path().join("agents"));
        command
    }

    fn done(&self, words: &[&str]) -> String {
        let Output { status, stdout, stderr } = self.cli(words).output().unwrap();
        let (stdout, stderr) = (String::from_utf8(stdout).unwrap(), String::from_utf8_lossy(&stderr));
        assert!(status.success(), "{words:?}: {status}\n{stdout}{stderr}\n{}", self.node.log());
        stdout
    }

    /// A trial says that it works, and leaves nothing.
    fn is_tried(&self) -> Value {
        let words = ["agent", "probe", &self.file(), "--timeout", "120s", "-o", "json"];
        let output = self.cli(&words).output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
        assert_eq!((&report["verdict"], output.status.code()), (&json!("works"), Some(0)), "{report:#}");
        report
    }

    fn is_applied(&self) {
        self.done(&["apply", "-f", &self.file(), "--wait"]);
    }

    /// Waits as long as a real program may take, and shows all that is known if it was not enough.
    fn soon(&self, what: &str, condition: impl FnMut() -> bool) {
        if until(Deadline::after(AGENT_PATIENCE), condition) {
            return;
        }
        let shown: Vec<_> =
            [&["transcript", self.name][..], &["agent", "describe", self.name], &["logs", self.name]]
                .into_iter()
                .map(|words| String::from_utf8_lossy(&self.cli(words).output().unwrap().stdout).into_owned())
                .collect();
        panic!("not in time: {what}\n{}", shown.join("\n----\n"));
    }

    /// Told something, it answers; what a terminal shows is no part of a transcript, so that is looked for in its output.
    fn answers(&self, said: &str, answer: &str) {
        self.done(&["signal", self.name, "--content", said]);
        let is_terminal = self.node.get(self.name).spec["driver"]["type"] == "terminal";
        let read = if is_terminal { ["logs", self.name] } else { ["transcript", self.name] };
        self.soon("it answers", || self.done(&read).contains(answer));
        // A screen shows an answer before it is known that the message was taken.
        self.soon("it was told", || self.done(&["transcript", self.name]).contains(said));
        self.node.verify();
    }

    /// The model was asked it once, below the header that says who speaks.
    fn was_asked_once(&self) {
        let prompts = self.server.received_prompts();
        let asked =
            prompts.iter().filter(|prompt| prompt.contains("[OPERATOR MESSAGE") && prompt.contains(SAID));
        assert_eq!(asked.count(), 1, "{prompts:#?}");
    }
}

fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

fn write(home: &Path, below: &str, content: &str) {
    let path = home.join(below);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

fn url(port: u16) -> String {
    format!("http://127.0.0.1:{port}")
}

/// The variables of programs that use OpenAI's libraries.
fn openai(port: u16) -> Vec<(&'static str, String)> {
    vec![
        ("OPENAI_API_KEY", "x".to_owned()),
        ("OPENAI_BASE_URL", format!("{}/v1", url(port))),
        ("OPENAI_MODEL", "gpt-4o-mini".to_owned()),
    ]
}

/// A program with a model: the whole way.
fn stands(template: &Template) {
    // What works without tools says nothing by which a turn could be told from a request for a title.
    let rule = if let Needs::Only(_) = template.needs { Rule::anywhere(SAID) } else { Rule::on(SAID) };
    let script = Script::new().rule(rule.says(ANSWER));
    let Some(desk) = Desk::set_up(template, script) else { return };
    let report = desk.is_tried();
    desk.is_applied();
    desk.answers(SAID, ANSWER);
    desk.was_asked_once();
    assert_eq!(desk.server.problems(), Vec::<String>::new(), "{report:#}");
}

/// Proves DRV-064.
#[test]
fn claude_code_is_as_its_template_says() {
    stands(&Template {
        variables: |port| vec![("ANTHROPIC_API_KEY", "x".to_owned()), ("ANTHROPIC_BASE_URL", url(port))],
        ..Template::new("claude-code")
    });
}

/// Proves DRV-064.
#[test]
fn codex_is_as_its_template_says() {
    stands(&Template {
        configure: |home, port| {
            let config = format!(
                "model = \"mock-model\"\nmodel_provider = \"mock\"\n[model_providers.mock]\nname = \"mock\"\n\
                 base_url = \"{}/v1\"\nwire_api = \"responses\"\n",
                url(port)
            );
            write(home, ".codex/config.toml", &config);
        },
        ..Template::new("codex")
    });
}

/// Proves DRV-064.
#[test]
fn gemini_is_as_its_template_says() {
    stands(&Template {
        variables: |port| {
            vec![
                ("GEMINI_API_KEY", "x".to_owned()),
                ("GEMINI_MODEL", "gemini-2.5-flash".to_owned()),
                ("GOOGLE_GEMINI_BASE_URL", url(port)),
            ]
        },
        ..Template::new("gemini")
    });
}

/// Proves DRV-064.
#[test]
fn opencode_is_as_its_template_says() {
    stands(&Template {
        needs: Needs::WithNode(More::Npm),
        configure: |home, port| {
            let config = json!({
                "model": "anthropic/claude-sonnet-4-5",
                "autoupdate": false,
                "provider": { "anthropic": { "options": { "baseURL": format!("{}/v1", url(port)), "apiKey": "x" } } },
            });
            write(home, ".config/opencode/opencode.json", &config.to_string());
        },
        ..Template::new("opencode")
    });
}

/// Proves DRV-064.
#[test]
fn qwen_is_as_its_template_says() {
    stands(&Template { needs: Needs::WithNode(More::Npm), variables: openai, ..Template::new("qwen") });
}

/// Proves DRV-064.
#[test]
fn goose_is_as_its_template_says() {
    stands(&Template {
        needs: Needs::WithNode(More::Npm),
        variables: |port| {
            vec![
                ("GOOSE_PROVIDER", "openai".to_owned()),
                ("GOOSE_MODEL", "mock-model".to_owned()),
                ("GOOSE_DISABLE_KEYRING", "1".to_owned()),
                ("OPENAI_API_KEY", "x".to_owned()),
                ("OPENAI_HOST", url(port)),
            ]
        },
        ..Template::new("goose")
    });
}

/// Proves DRV-064.
#[test]
fn aider_is_as_its_template_says() {
    stands(&Template {
        needs: Needs::Only(More::Aider),
        variables: |port| {
            vec![
                ("OPENAI_API_KEY", "x".to_owned()),
                ("OPENAI_API_BASE", format!("{}/v1", url(port))),
                ("AIDER_MODEL", "openai/gpt-4o-mini".to_owned()),
            ]
        },
        adjust: |manifest, work| {
            let made = Command::new("git").args(["init", "--quiet"]).arg(work).status().unwrap();
            assert!(made.success());
            manifest.replace("# cwd: /srv/project", &format!("cwd: {}", work.display()))
        },
        ..Template::new("aider")
    });
}

/// Proves DRV-064.
#[test]
fn shell_is_as_its_template_says() {
    let Some(desk) =
        Desk::set_up(&Template { needs: Needs::Nothing, ..Template::new("shell") }, Script::new())
    else {
        return;
    };
    desk.is_tried();
    desk.is_applied();
    desk.answers("echo six times seven is $((6 * 7))", "six times seven is 42");
}

/// Proves DRV-064.
#[test]
fn python_is_as_its_template_says() {
    let Some(desk) =
        Desk::set_up(&Template { needs: Needs::Nothing, ..Template::new("python") }, Script::new())
    else {
        return;
    };
    desk.is_tried();
    desk.is_applied();
    desk.answers(SAID, &format!("said: {SAID}"));
}

/// Proves DRV-064.
#[test]
fn langgraph_is_as_its_template_says() {
    stands(&Template {
        needs: Needs::Only(More::Frameworks),
        variables: openai,
        ..Template::new("langgraph")
    });
}

/// Proves DRV-064.
#[test]
fn autogen_is_as_its_template_says() {
    stands(&Template { needs: Needs::Only(More::Frameworks), variables: openai, ..Template::new("autogen") });
}

/// Proves DRV-064.
#[test]
fn crewai_is_as_its_template_says() {
    stands(&Template {
        needs: Needs::Only(More::CrewAi),
        variables: |port| {
            let mut variables = openai(port);
            variables.push(("OPENAI_MODEL_NAME", "gpt-4o-mini".to_owned()));
            variables
        },
        ..Template::new("crewai")
    });
}

//! The generated clients against a real node: the examples of their README files as they stand there, and streams that
//! go on over the daemon's death.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends at once")]
#![expect(clippy::print_stderr, reason = "what is not shown is said aloud")]

use std::{
    fs,
    io::{BufRead as _, BufReader},
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    sync::{Arc, Mutex},
    thread,
};

use edgeplane_testkit::{Node, NodeOptions, task_worker, wait::eventually};
use edgeplane_types::{Scope, TokenKind};

fn root(below: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(below)
}

/// An example of a README file: what stands there, and what it says that it prints.
struct Example {
    code: String,
    prints: Option<String>,
}

/// The blocks of a language, each with the block of text that follows it.
fn examples(readme: &Path, language: &str) -> Vec<Example> {
    let text = fs::read_to_string(readme).unwrap();
    let mut blocks: Vec<(String, String)> = Vec::new();
    let mut open: Option<(String, String)> = None;
    for line in text.lines() {
        match (open.as_mut(), line.strip_prefix("```")) {
            (None, Some(kind)) => open = Some((kind.to_owned(), String::new())),
            (Some(_), Some(_)) => blocks.push(open.take().unwrap()),
            (Some((_, block)), None) => block.push_str(&format!("{line}\n")),
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a block of {} does not end", readme.display());
    let follows = |at: usize| blocks.get(at + 1).filter(|(kind, _)| kind == "text");
    let all = blocks.iter().enumerate().filter(|(_, (kind, _))| kind == language);
    all.map(|(at, (_, code))| Example {
        code: code.clone(),
        prints: follows(at).map(|(_, text)| text.clone()),
    })
    .collect()
}

/// Runs the examples one after another against one node. Each says what it prints.
fn run_all(node: &Node, examples: &[Example], run: impl Fn(usize, &Example) -> Output) {
    for (at, example) in examples.iter().enumerate() {
        let output = run(at, example);
        let (said, complained) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{}\n{said}\n{complained}", example.code);
        let prints = example.prints.as_ref().unwrap();
        assert_eq!(&*said, prints, "{}\n{complained}", example.code);
    }
    node.verify();
}

fn has_python(what: &str) -> bool {
    let found = Command::new("python3").arg("--version").output().is_ok_and(|output| output.status.success());
    if !found {
        eprintln!("SKIPPED: {what}: there is no python3");
    }
    found
}

/// A node that also listens for HTTP, on the same port whenever its daemon begins anew.
fn listening() -> Node {
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap().to_string();
    drop(free);
    let env = vec![("EDGEPLANE_HTTP_LISTEN".to_owned(), address)];
    Node::start_with(NodeOptions { env, ..NodeOptions::default() })
}

/// What a program finds in its environment: where the node is, and by what it is known over HTTP.
fn set_environment(command: &mut Command, node: &Node) {
    let token = node.token("reader", TokenKind::Service, &[Scope::Read], &[]);
    let access = node.access(&token.token);
    let programs = access.cli.parent().unwrap().to_string_lossy().into_owned();
    let path = std::env::var("PATH").unwrap_or_default();
    command
        .env("PATH", format!("{programs}:{path}"))
        .env("EDGEPLANE_SOCKET", node.socket())
        .env("EDGEPLANE_URL", format!("http://{}", access.address))
        .env("EDGEPLANE_TOKEN_FILE", &access.token_file)
        .stdin(Stdio::null());
}

fn python(node: &Node) -> Command {
    let mut command = Command::new("python3");
    set_environment(&mut command, node);
    command.env("PYTHONDONTWRITEBYTECODE", "1").env("PYTHONPATH", root("clients/python/src"));
    command
}

/// Proves CLNT-010.
#[test]
fn examples_of_the_python_readme_do_what_they_say() {
    if !has_python("the examples of the Python client") {
        return;
    }
    let node = listening();
    let examples = examples(&root("clients/python/README.md"), "python");
    assert!(examples.len() >= 6, "{}", examples.len());
    run_all(&node, &examples, |at, example| {
        let file = node.scratch().join(format!("example_{at}.py"));
        fs::write(&file, &example.code).unwrap();
        python(&node).arg(&file).output().unwrap()
    });
}

/// The TypeScript client, built in a folder where programs find it as `edgeplane`.
struct Built {
    node: String,
    compiler: String,
    packages: String,
    folder: PathBuf,
}

impl Built {
    /// Builds it, or says loudly why that cannot be.
    fn new(folder: &Path) -> Option<Self> {
        let output = Command::new(root("scripts/typescript.sh")).output().unwrap();
        if !output.status.success() {
            let why = String::from_utf8_lossy(&output.stderr);
            assert!(
                std::env::var_os("EDGEPLANE_REQUIRE_AGENTS").is_none_or(|value| value != "1"),
                "the TypeScript compiler cannot be installed, and it is required here:\n{why}"
            );
            eprintln!("SKIPPED: the TypeScript client: its compiler cannot be installed:\n{why}");
            return None;
        }
        let said = String::from_utf8(output.stdout).unwrap();
        let mut lines = said.lines().map(str::to_owned);
        let [node, compiler, packages] = std::array::from_fn(|_| lines.next().unwrap());
        let built = Self { node, compiler, packages, folder: folder.to_owned() };
        let package = folder.join("node_modules/edgeplane");
        fs::create_dir_all(&package).unwrap();
        fs::copy(root("clients/typescript/package.json"), package.join("package.json")).unwrap();
        fs::write(folder.join("package.json"), "{ \"type\": \"module\" }").unwrap();
        let project = root("clients/typescript/tsconfig.json");
        let out = package.join("dist");
        built.compile(&["--project", &project.to_string_lossy(), "--outDir", &out.to_string_lossy()]);
        Some(built)
    }

    fn compile(&self, arguments: &[&str]) {
        let types = format!("{}/@types", self.packages);
        let mut command = Command::new(&self.node);
        command.arg(&self.compiler).args(arguments).args(["--typeRoots", &types]).current_dir(&self.folder);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }

    /// Compiles programs, strictly, so that what they say about types is true, too.
    fn programs(&self, names: &[String]) {
        let mut arguments = vec!["--strict", "--target", "es2022", "--module", "nodenext", "--types", "node"];
        arguments.extend(["--lib", "es2023,dom,dom.iterable", "--skipLibCheck"]);
        arguments.extend(names.iter().map(String::as_str));
        self.compile(&arguments);
    }

    fn run(&self, node: &Node, program: &str) -> Command {
        let mut command = Command::new(&self.node);
        set_environment(&mut command, node);
        command.arg(self.folder.join(program));
        command
    }
}

/// Proves CLNT-011.
#[test]
fn examples_of_the_typescript_readme_do_what_they_say() {
    let node = listening();
    let Some(built) = Built::new(&node.scratch()) else { return };
    let examples = examples(&root("clients/typescript/README.md"), "ts");
    assert!(examples.len() >= 5, "{}", examples.len());
    let names: Vec<String> = (0..examples.len()).map(|at| format!("example_{at}.ts")).collect();
    for (name, example) in names.iter().zip(&examples) {
        fs::write(built.folder.join(name), &example.code).unwrap();
    }
    built.programs(&names);
    run_all(&node, &examples, |at, _| built.run(&node, &format!("example_{at}.js")).output().unwrap());
}

/// A program that prints the position of each event it sees, a line each.
struct Follower {
    child: Child,
    seen: Arc<Mutex<Vec<u64>>>,
}

impl Follower {
    fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (into, lines) = (Arc::clone(&seen), BufReader::new(child.stdout.take().unwrap()).lines());
        thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                into.lock().unwrap().push(line.parse().unwrap());
            }
        });
        Self { child, seen }
    }

    fn seen(&self) -> Vec<u64> {
        self.seen.lock().unwrap().clone()
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

const ACCEPTED: &str = "message.accepted";

/// How often the daemon dies under a stream.
const DEATHS: usize = 4;

/// Lets the daemon die again and again while messages come in, and compares what a follower saw with the record.
fn sees_each_event_once(mut node: Node, start: impl Fn(&Node) -> Command) {
    let log = node.scratch().join("log");
    node.run("worker", &task_worker("worker", &log, &[], ""));
    let follower = Follower::start(start(&node));
    for death in 0..DEATHS {
        for number in 0..5 {
            node.signal("worker", &format!("{death}.{number}"), None);
        }
        let before = 5 * death + 1;
        eventually("the stream is under way", || follower.seen().len() >= before);
        node.kill_daemon();
        node.up();
    }
    let expected: Vec<u64> = node.events("worker", &[ACCEPTED]).iter().map(|event| event.pos).collect();
    assert_eq!(expected.len(), 5 * DEATHS);
    eventually("all of them were seen", || follower.seen().len() >= expected.len());
    assert_eq!(follower.seen(), expected);
    node.verify();
}

fn python_stream(client: &str) {
    if !has_python("a stream of the Python client") {
        return;
    }
    sees_each_event_once(listening(), |node| {
        let mut command = python(node);
        let code = format!(
            "import os\n\
             from edgeplane import Client\n\
             token = open(os.environ['EDGEPLANE_TOKEN_FILE']).read()\n\
             for event in {client}.follow({{'after': 0, 'types': ['{ACCEPTED}']}}):\n    \
             print(event['pos'], flush=True)\n"
        );
        command.args(["-c", &code]);
        command
    });
}

/// Proves CLNT-013.
#[test]
fn python_stream_goes_on_over_the_death_of_the_daemon() {
    python_stream("Client.unix()");
}

/// Proves CLNT-013.
#[test]
fn python_stream_over_http_goes_on_over_the_death_of_the_daemon() {
    python_stream("Client.http(os.environ['EDGEPLANE_URL'], token=token)");
}

fn typescript_stream(client: &str) {
    let node = listening();
    let Some(built) = Built::new(&node.scratch()) else { return };
    let code = format!(
        "import {{ readFileSync }} from \"node:fs\";\n\
         import {{ Client, unixClient }} from \"edgeplane/node\";\n\
         const token = readFileSync(process.env.EDGEPLANE_TOKEN_FILE!, \"utf8\");\n\
         const url = process.env.EDGEPLANE_URL!;\n\
         const all = {{ http: () => Client.http(url, {{ token }}), unix: () => unixClient(),\n  \
           socket: () => Client.webSocket(url, {{ token }}) }};\n\
         for await (const event of all.{client}().follow({{ after: 0, types: [\"{ACCEPTED}\"] }})) console.log(event.pos);\n"
    );
    fs::write(built.folder.join("follow.ts"), code).unwrap();
    built.programs(&["follow.ts".to_owned()]);
    sees_each_event_once(node, |node| built.run(node, "follow.js"));
}

/// Proves CLNT-013.
#[test]
fn typescript_stream_goes_on_over_the_death_of_the_daemon() {
    typescript_stream("unix");
}

/// Proves CLNT-013.
#[test]
fn typescript_stream_over_http_goes_on_over_the_death_of_the_daemon() {
    typescript_stream("http");
}

/// Proves CLNT-013.
#[test]
fn typescript_stream_over_a_socket_goes_on_over_the_death_of_the_daemon() {
    typescript_stream("socket");
}

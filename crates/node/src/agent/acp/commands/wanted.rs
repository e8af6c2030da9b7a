//! From what a program asks for to what the shim is told to run: program, arguments, variables, folder, each bounded.

use std::path::{Path, PathBuf};

use edgeplane_driver::acp::{Create, Variable};
use edgeplane_types::Epoch;
use edgeplane_wire::command::CommandSpec;
use serde_json::json;

use super::{Actor, Prepared};

/// Most arguments of a command, and most variables that are asked for.
const WORDS_MAX: usize = 1_024;

/// Most bytes of arguments and variables together: what is beyond belongs into a file.
const BYTES_MAX: usize = 128 << 10;

/// What the variables of EdgePlane begin with: by them its tools know who they work for.
const OWN: &str = "EDGEPLANE_";

impl Actor {
    /// What the shim is told, and what is recorded. Values of variables are in no record: they may be secrets.
    pub(super) fn prepared(&self, epoch: Epoch, create: Create, kept: u64) -> Result<Prepared, String> {
        check(&create)?;
        let has_input = self.gives_input();
        let root = self.workspace();
        let cwd = confined(&root, create.cwd.as_deref())?;
        let Create { command, args, env, .. } = create;
        let names: Vec<&str> = env.iter().map(|variable| variable.name.as_str()).collect();
        let mut details =
            json!({ "command": command, "args": args, "cwd": cwd.to_string_lossy(), "env": names });
        if has_input {
            details["input"] = true.into();
        }
        let mut variables = self.program_environment(epoch)?;
        variables.extend(env.into_iter().map(|Variable { name, value }| (name, value)));
        let env = variables.into_iter().map(|(name, value)| format!("{name}={value}").into_bytes());
        let mark = self.shared.place(self.identity.id, &self.identity.name, epoch).mark();
        let argv = std::iter::once(&command).chain(&args).map(|word| word.as_bytes().to_vec()).collect();
        let spec = CommandSpec {
            program: command.into_bytes(),
            argv,
            env: env.chain([mark.into_bytes()]).collect(),
            cwd: cwd.into_os_string().into_encoded_bytes(),
            output_bytes_max: kept,
            has_input,
        };
        Ok((spec, details))
    }
}

fn check(create: &Create) -> Result<(), String> {
    if create.command.is_empty() {
        return Err("it names no program".to_owned());
    }
    if create.args.len().max(create.env.len()) > WORDS_MAX {
        return Err(format!("it has more than {WORDS_MAX} arguments or variables"));
    }
    let variables = create.env.iter().flat_map(|variable| [&variable.name, &variable.value]);
    let words = || std::iter::once(&create.command).chain(&create.args).chain(variables.clone());
    if words().map(String::len).sum::<usize>() > BYTES_MAX {
        return Err(format!("its arguments and variables have more than {BYTES_MAX} bytes"));
    }
    if words().any(|word| word.contains('\0')) {
        return Err("a text of it holds a zero byte".to_owned());
    }
    for Variable { name, .. } in &create.env {
        if name.is_empty() || name.contains('=') {
            return Err(format!("`{}` is no name of a variable", edgeplane_driver::render::clean(name)));
        }
        if name.starts_with(OWN) {
            return Err(format!(
                "the variable `{}` is EdgePlane's own",
                edgeplane_driver::render::clean(name)
            ));
        }
    }
    Ok(())
}

/// A folder of the agent's, wherever links lead: itself if none is named.
fn confined(root: &Path, cwd: Option<&str>) -> Result<PathBuf, String> {
    let failed = |path: &Path, error: &std::io::Error| format!("cannot use `{}`: {error}", path.display());
    let whole = root.canonicalize().map_err(|error| failed(root, &error))?;
    let Some(cwd) = cwd else { return Ok(whole) };
    let path = root.join(cwd);
    let found = path.canonicalize().map_err(|error| failed(&path, &error))?;
    if !found.starts_with(&whole) {
        return Err(format!("`{cwd}` is not in `{}`", root.display()));
    }
    if !found.is_dir() {
        return Err(format!("`{cwd}` is no folder"));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves DRV-057.
    #[test]
    fn folder_is_the_agents_own_by_whatever_way() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("work");
        std::fs::create_dir_all(root.join("inner")).unwrap();
        std::fs::create_dir_all(dir.path().join("work-of-another")).unwrap();
        std::fs::write(root.join("file"), "").unwrap();
        std::os::unix::fs::symlink("/etc", root.join("out")).unwrap();
        std::os::unix::fs::symlink("inner", root.join("in")).unwrap();
        let whole = root.canonicalize().unwrap();
        assert_eq!(confined(&root, None), Ok(whole.clone()));
        for good in ["inner", "in", "out/../inner/../inner"] {
            let found = confined(&root, Some(good));
            assert!(good.starts_with("out") || found == Ok(whole.join("inner")), "{good}: {found:?}");
        }
        assert_eq!(confined(&root, whole.join("inner").to_str()), Ok(whole.join("inner")));
        for bad in ["/", "/etc", "..", "../work-of-another", "out", "file", "missing", "inner/../../.."] {
            assert!(confined(&root, Some(bad)).is_err(), "{bad}");
        }
    }
}

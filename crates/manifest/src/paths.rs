//! From where relative paths are meant.
//!
//! A manifest may name paths relative to its own folder; one that comes as an artifact names what is inside the
//! artifact relative to the folder it is unpacked to. Nothing here looks at a disk: paths are joined, not followed.

use crate::{
    AutomationManifest, AutomationTrigger, CallHookRun, ConnectorCredentials, ConnectorManifest,
    ConnectorSpec, ConnectorText, ConnectorTransport, Deployment, FetchSource, Manifest, PrepareStep,
    SecretSource, Spec,
    words::{FilePath, WordError},
};

/// From where a relative path is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Base {
    /// The manifest's folder.
    Manifest,
    /// The unpacked artifact, or the manifest's folder where there is no artifact.
    Program,
}

impl Manifest {
    /// The manifest with every path that is meant from its own folder made absolute. `folder` is that folder, itself
    /// absolute. Of an artifact's manifest, what lies inside the artifact stays relative.
    ///
    /// # Errors
    ///
    /// A joined path that is no longer a path by the rule, for example too long.
    pub fn resolved_from(&self, folder: &FilePath) -> Result<Self, WordError> {
        let is_artifact = matches!(self.spec.deployment, Deployment::Artifact(_));
        self.joined(|base| (base == Base::Manifest || !is_artifact).then_some(folder))
    }

    /// The manifest with every path that is still relative made absolute. `folder` is where the artifact was
    /// unpacked, itself absolute.
    ///
    /// # Errors
    ///
    /// A joined path that is no longer a path by the rule, for example too long.
    pub fn resolved_in_artifact(&self, folder: &FilePath) -> Result<Self, WordError> {
        self.joined(|_| Some(folder))
    }

    fn joined<'f>(&self, folder_of: impl Fn(Base) -> Option<&'f FilePath>) -> Result<Self, WordError> {
        let mut manifest = self.clone();
        each_path(&mut manifest.spec, &mut |base, path| {
            if let Some(folder) = folder_of(base).filter(|_| !path.as_str().starts_with('/')) {
                *path = join(folder, path.as_str())?;
            }
            Ok(())
        })?;
        for program in programs(&mut manifest.spec) {
            // A bare name is looked up in PATH.
            let relative = program.contains('/') && !program.starts_with('/');
            if let Some(folder) = folder_of(Base::Program).filter(|_| relative) {
                *program = join(folder, program)?.to_string();
            }
        }
        Ok(manifest)
    }

    /// The paths that are still relative, in no particular order. A node starts nothing while there is one.
    #[must_use]
    pub fn relative_paths(&self) -> Vec<String> {
        let mut manifest = self.clone();
        let mut relative = Vec::new();
        let collected = each_path(&mut manifest.spec, &mut |_, path| {
            if !path.as_str().starts_with('/') {
                relative.push(path.to_string());
            }
            Ok(())
        });
        debug_assert!(collected.is_ok(), "collecting refuses nothing");
        for program in programs(&mut manifest.spec) {
            if program.contains('/') && !program.starts_with('/') {
                relative.push(program.clone());
            }
        }
        relative
    }
}

impl ConnectorManifest {
    /// The connector with every path made absolute. `folder` is the manifest's, itself absolute.
    ///
    /// # Errors
    ///
    /// A joined path that is no longer a path by the rule, for example too long.
    pub fn resolved_from(&self, folder: &FilePath) -> Result<Self, WordError> {
        let mut manifest = self.clone();
        for path in connector_paths(&mut manifest.spec) {
            if !path.as_str().starts_with('/') {
                *path = join(folder, path.as_str())?;
            }
        }
        for program in connector_programs(&mut manifest.spec) {
            *program = join(folder, program)?.to_string();
        }
        Ok(manifest)
    }
}

impl AutomationManifest {
    /// The automation with every path made absolute. `folder` is the manifest's, itself absolute.
    ///
    /// # Errors
    ///
    /// A joined path that is no longer a path by the rule, for example too long.
    pub fn resolved_from(&self, folder: &FilePath) -> Result<Self, WordError> {
        let mut manifest = self.clone();
        if let AutomationTrigger::Webhook(hook) = &mut manifest.spec.on
            && let SecretSource::File(path) = &mut hook.secret_ref
            && !path.as_str().starts_with('/')
        {
            *path = join(folder, path.as_str())?;
        }
        Ok(manifest)
    }
}

impl ConnectorSpec {
    /// A path that is still relative, if there is one.
    #[must_use]
    pub fn relative_path(&self) -> Option<String> {
        let mut spec = self.clone();
        let path = connector_paths(&mut spec).into_iter().find(|path| !path.as_str().starts_with('/'));
        let path = path.map(|path| path.to_string());
        path.or_else(|| connector_programs(&mut spec).first().map(|program| (*program).clone()))
    }
}

/// Every path of a connector but its program's.
fn connector_paths(spec: &mut ConnectorSpec) -> Vec<&mut FilePath> {
    let mut paths = Vec::new();
    let texts = match &mut spec.transport {
        ConnectorTransport::Stdio(program) => {
            paths.extend(program.cwd.as_mut());
            program.env.values_mut().collect::<Vec<_>>()
        }
        ConnectorTransport::Http(address) => address.headers.values_mut().collect(),
    };
    let secrets = texts.into_iter().filter_map(|text| match text {
        ConnectorText::Text(_) => None,
        ConnectorText::Secret { secret_ref } => Some(secret_ref),
    });
    let mut sources: Vec<&mut SecretSource> = secrets.collect();
    match &mut spec.credentials {
        Some(ConnectorCredentials::File(path)) => paths.push(path),
        Some(ConnectorCredentials::Oauth(oauth)) => sources.push(&mut oauth.client_secret.secret_ref),
        Some(ConnectorCredentials::Env(_)) | None => {}
    }
    paths.extend(sources.into_iter().filter_map(|source| match source {
        SecretSource::File(path) => Some(path),
        SecretSource::Env(_) => None,
    }));
    paths
}

/// The first words of a connector's command and of its hooks', where they are relative paths.
fn connector_programs(spec: &mut ConnectorSpec) -> Vec<&mut String> {
    let own = match &mut spec.transport {
        ConnectorTransport::Stdio(program) => program.command.first_mut(),
        ConnectorTransport::Http(_) => None,
    };
    let hooks = spec.hooks.pre.iter_mut().chain(&mut spec.hooks.post);
    let hooks = hooks.filter_map(|hook| match &mut hook.run {
        CallHookRun::Exec(command) => command.first_mut(),
        CallHookRun::Http(_) => None,
    });
    let all = own.into_iter().chain(hooks);
    all.filter(|program| program.contains('/') && !program.starts_with('/')).collect()
}

fn join(folder: &FilePath, path: &str) -> Result<FilePath, WordError> {
    let path = path.strip_prefix("./").unwrap_or(path);
    let folder = folder.as_str().trim_end_matches('/');
    if path == "." { format!("{folder}/").parse() } else { format!("{folder}/{path}").parse() }
}

/// Hands over every path of a manifest but those of programs.
fn each_path(
    spec: &mut Spec,
    take: &mut dyn FnMut(Base, &mut FilePath) -> Result<(), WordError>,
) -> Result<(), WordError> {
    if let Some(cwd) = &mut spec.cwd {
        take(Base::Program, cwd)?;
    }
    for secret in &mut spec.secrets {
        match &mut secret.from {
            SecretSource::File(path) => take(Base::Manifest, path)?,
            SecretSource::Env(_) => {}
        }
    }
    match &mut spec.deployment {
        Deployment::Service(_) => {}
        Deployment::Artifact(artifact) => take(Base::Manifest, &mut artifact.path)?,
    }
    for step in &mut spec.prepare {
        match step {
            PrepareStep::Run { creates, .. } => {
                if let Some(path) = creates {
                    take(Base::Program, path)?;
                }
            }
            PrepareStep::Fetch { fetch, .. } => {
                let FetchSource::File(path) = &mut fetch.from;
                take(Base::Manifest, path)?;
                take(Base::Program, &mut fetch.to)?;
            }
        }
    }
    Ok(())
}

/// The first word of every command.
fn programs(spec: &mut Spec) -> Vec<&mut String> {
    let hooks = &mut spec.hooks;
    let mut commands = vec![&mut spec.command];
    commands
        .extend(spec.health.as_mut().and_then(|health| health.exec.as_mut()).map(|probe| &mut probe.command));
    for hook in [&mut hooks.pre_start, &mut hooks.post_start, &mut hooks.pre_stop] {
        commands.extend(hook.as_mut().map(|hook| &mut hook.command));
    }
    for step in &mut spec.prepare {
        match step {
            PrepareStep::Run { run, .. } => commands.push(run),
            PrepareStep::Fetch { .. } => {}
        }
    }
    commands.into_iter().filter_map(|command| command.first_mut()).collect()
}

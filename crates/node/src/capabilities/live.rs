//! The servers that are spoken to: one connector for each resource, made when it is first needed.

use std::{
    collections::{BTreeMap, HashMap},
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use edgeplane_connector::{Address, Grantor, Limits, Oauth, Program, Target, ToolServer};
use edgeplane_manifest::{
    ConnectorCredentials, ConnectorOauth, ConnectorProgram, ConnectorSpec, ConnectorText, ConnectorTransport,
    SecretSource,
};
use edgeplane_store::ResourceFilter;
use edgeplane_types::{AgentName, ErrorName, ResourceKind, ResourceUri};
use edgeplane_wire::rpc::RpcError;

use super::listening;
use crate::{
    resources::{secrets, value},
    shared::Shared,
};

/// Most connectors of a node.
const CONNECTORS_MAX: usize = 1_000;

/// A connector that is declared.
#[derive(Debug, Clone)]
pub(crate) struct Declared {
    pub(crate) name: AgentName,
    pub(crate) spec: Arc<ConnectorSpec>,
    pub(crate) connector: Arc<dyn ToolServer>,
}

/// The servers that are spoken to, by name.
#[derive(Debug, Default)]
pub(super) struct Live(Mutex<BTreeMap<String, Entry>>);

#[derive(Debug)]
struct Entry {
    /// The digest of what it was declared with.
    digest: String,
    /// The changes of resources up to which that is known to be so.
    as_of: u64,
    declared: Declared,
}

impl Live {
    /// One whose declaration has not changed since it was looked at.
    fn unchanged(&self, name: &str, as_of: u64) -> Option<Declared> {
        let live = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        live.get(name).filter(|entry| entry.as_of == as_of).map(|entry| entry.declared.clone())
    }

    /// Has one ended that is not declared as it was; the next call makes it anew. One that a call has made anew already
    /// stays.
    fn forget(&self, name: &str, digest: Option<&str>) {
        let mut live = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if live.get(name).is_some_and(|entry| Some(entry.digest.as_str()) != digest)
            && let Some(entry) = live.remove(name)
        {
            drop(tokio::spawn(async move { entry.declared.connector.stop().await }));
        }
    }

    /// Ends all.
    pub(super) async fn stop_all(&self) {
        let all = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        let ends: Vec<_> = all
            .into_values()
            .map(|entry| tokio::spawn(async move { entry.declared.connector.stop().await }))
            .collect();
        for end in ends {
            // One that panicked is over, too.
            drop(end.await);
        }
    }
}

fn no_connector(name: &str) -> RpcError {
    let shown = edgeplane_driver::render::clean(name).chars().take(80).collect::<String>();
    RpcError::new(ErrorName::NotFound, format!("no connector `{shown}`"))
        .hint("`edgeplane resource list --kind connector` shows those there are")
}

/// The connector of this name, as it is declared now.
pub(super) fn declared(shared: &Arc<Shared>, name: &str) -> Result<Declared, RpcError> {
    // Before anything is read: a change in between has it looked at again.
    let as_of = shared.record.resource_changes();
    if let Some(declared) = shared.capabilities.live.unchanged(name, as_of) {
        return Ok(declared);
    }
    let parsed = name.parse::<AgentName>().map_err(|_bad| no_connector(name))?;
    let uri = ResourceUri::new(ResourceKind::Connector, parsed.clone()).ok_or_else(|| no_connector(name))?;
    let row = shared.record.look_up(|reader| reader.resource(&uri))?;
    let row = row.ok_or_else(|| no_connector(name))?;
    let digest = row.digest.clone().ok_or_else(|| no_connector(name))?;
    let mut live = shared.capabilities.live.0.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(entry) = live.get_mut(name).filter(|entry| entry.digest == digest) {
        entry.as_of = as_of;
        return Ok(entry.declared.clone());
    }
    let held = shared.record.look_up(|reader| value::held_by(reader, &row))??;
    let spec: ConnectorSpec = serde_json::from_value(held).map_err(|error| {
        let what = format!("connector `{name}` is not declared as one: {error}");
        RpcError::new(ErrorName::Unavailable, what).hint("declare it with `edgeplane apply`")
    })?;
    let spec = Arc::new(spec);
    let (of_target, of_shared) = (Arc::clone(&spec), Surroundings::of(shared, name));
    let targeting = Arc::new(move || of_shared.target(&of_target));
    let how = (Limits::standard(), listening::asking(spec.elicitation));
    let connector = shared.neighbours.servers.make(name, targeting, how);
    let declared = Declared { name: parsed, spec, connector };
    let entry = Entry { digest, as_of, declared: declared.clone() };
    if let Some(old) = live.insert(name.to_owned(), entry) {
        drop(tokio::spawn(async move { old.declared.connector.stop().await }));
    }
    Ok(declared)
}

/// Looks at a connector whose declaration has changed.
pub(super) fn changed(shared: &Shared, uri: &ResourceUri) {
    match shared.record.look_up(|reader| reader.resource(uri)) {
        Ok(row) => {
            let digest = row.and_then(|row| row.digest);
            shared.capabilities.live.forget(&uri.path(), digest.as_deref());
        }
        Err(error) => tracing::warn!(%uri, %error, "a connector's declaration cannot be read"),
    }
}

/// Every connector that is used, by name.
pub(super) fn all(shared: &Arc<Shared>) -> Result<Vec<Declared>, RpcError> {
    let names = names(shared)?;
    // One that was ended meanwhile, or is no connector, has nothing to offer.
    let found = names.iter().filter_map(|name| declared(shared, name).ok());
    Ok(found.filter(|declared| declared.spec.enabled).collect())
}

fn names(shared: &Shared) -> Result<Vec<String>, RpcError> {
    let kind = Some(ResourceKind::Connector);
    let filter = ResourceFilter { kind, ..ResourceFilter::default() };
    let rows = shared.record.look_up(|reader| reader.resources(&filter, CONNECTORS_MAX))?;
    Ok(rows.into_iter().map(|row| row.path).collect())
}

/// Ends what programs of connectors started and a former daemon left behind.
pub(super) async fn end_left_behind(shared: &Arc<Shared>) {
    let Ok(names) = names(shared) else { return };
    let marks: Vec<String> = names.iter().map(|name| mark(shared, name)).collect();
    let ended = tokio::task::spawn_blocking(move || {
        marks.iter().map(|mark| edgeplane_connector::end_marked(mark)).sum::<usize>()
    });
    if let Ok(count @ 1..) = ended.await {
        tracing::info!(count, "processes of connectors that a former daemon left were ended");
    }
}

/// A program that is a hook of a connector: it starts where the connector's own does, and is given as little.
pub(super) fn hook_program(
    shared: &Shared,
    declared: &Declared,
    command: &[String],
) -> Result<Program, String> {
    let command = ConnectorProgram { command: command.to_vec(), env: BTreeMap::new(), cwd: None };
    Surroundings::of(shared, declared.name.as_str()).program(&command)
}

fn mark(shared: &Shared, name: &str) -> String {
    format!("{}/{name}", shared.identity.id)
}

/// What a connector is set up from.
#[derive(Debug)]
struct Surroundings {
    environment: HashMap<String, String>,
    folder: PathBuf,
    mark: String,
}

impl Surroundings {
    fn of(shared: &Shared, name: &str) -> Self {
        Self {
            environment: shared.environment.clone(),
            folder: shared.dirs.state.join("connectors").join(name),
            mark: mark(shared, name),
        }
    }

    /// Where the server is, and what it is shown, as that is now.
    fn target(&self, spec: &ConnectorSpec) -> Result<Target, String> {
        match &spec.transport {
            ConnectorTransport::Stdio(program) => self.program(program).map(Target::Program),
            ConnectorTransport::Http(address) => {
                let (bearer, oauth) = match &spec.credentials {
                    None => (None, None),
                    Some(ConnectorCredentials::Env(name)) => {
                        (Some(self.secret(&SecretSource::Env(name.clone()))?), None)
                    }
                    Some(ConnectorCredentials::File(path)) => {
                        (Some(self.secret(&SecretSource::File(path.clone()))?), None)
                    }
                    Some(ConnectorCredentials::Oauth(client)) => (None, Some(self.oauth(client)?)),
                };
                let headers = address.headers.iter();
                let headers = headers.map(|(name, text)| Ok((name.to_string(), self.text(text)?)));
                let headers = headers.collect::<Result<_, String>>()?;
                Ok(Target::Address(Address { url: address.url.clone(), bearer, oauth, headers }))
            }
        }
    }

    /// Of the daemon's own environment it gets where programs are, and nothing else that it is not given by name.
    fn program(&self, program: &ConnectorProgram) -> Result<Program, String> {
        make_private(&self.folder)?;
        let path = self.environment.get("PATH").cloned().unwrap_or_default();
        let home = self.folder.display().to_string();
        let mut environment = BTreeMap::from([("PATH".to_owned(), path.clone()), ("HOME".to_owned(), home)]);
        for (name, text) in &program.env {
            environment.insert(name.as_str().to_owned(), self.text(text)?);
        }
        let search_path = OsString::from(environment.get("PATH").unwrap_or(&path));
        let folder = program.cwd.as_ref().map_or_else(|| self.folder.clone(), |cwd| cwd.as_str().into());
        Ok(Program {
            command: program.command.clone(),
            environment: environment.into_iter().collect(),
            folder,
            search_path,
            mark: self.mark.clone(),
        })
    }

    fn text(&self, text: &ConnectorText) -> Result<String, String> {
        match text {
            ConnectorText::Text(text) => Ok(text.clone()),
            ConnectorText::Secret { secret_ref } => self.secret(secret_ref),
        }
    }

    fn oauth(&self, client: &ConnectorOauth) -> Result<Oauth, String> {
        let grantor = match (&client.token_url, &client.issuer) {
            (Some(url), _) => Grantor::At(url.clone()),
            (None, Some(issuer)) => Grantor::Issuer(issuer.clone()),
            (None, None) => {
                return Err("`credentials.oauth` names neither `tokenUrl` nor `issuer`".to_owned());
            }
        };
        let client_secret = self.secret(&client.client_secret.secret_ref)?;
        let (client_id, scopes) = (client.client_id.clone(), client.scopes.clone());
        Ok(Oauth { client_id, client_secret, scopes, grantor })
    }

    fn secret(&self, source: &SecretSource) -> Result<String, String> {
        secrets::read(&self.environment, source)
    }
}

fn make_private(folder: &Path) -> Result<(), String> {
    use std::os::unix::fs::DirBuilderExt as _;
    let mut builder = fs::DirBuilder::new();
    let made = builder.recursive(true).mode(0o700).create(folder);
    made.map_err(|error| format!("`{}`: {error}", folder.display()))
}

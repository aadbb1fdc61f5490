//! Calls of GitHub's REST API: octocrab for transport, our own rules for repetition, redirects, time and size.

use std::{sync::Arc, time::Duration};

use octocrab::{
    AuthState, Octocrab, OctocrabBuilder,
    service::middleware::{extra_headers::ExtraHeadersLayer, reqwest_connector::ReqwestConnector},
};
use reqwest::{
    Url,
    header::{AUTHORIZATION, HeaderMap, HeaderValue, USER_AGENT},
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use super::{
    super::{
        Context,
        http::{self, Http},
    },
    error::{ApiError, Kind},
    limits::Limits,
};

/// How often a GET is sent again.
const REPEATS: u32 = 2;
/// How many redirects of the API are followed (a renamed repository answers with one).
const REDIRECTS: usize = 3;
/// What an API answers in JSON is no longer than this.
const BODY: usize = 64 << 20;

/// How a call is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verb {
    Get,
    Post,
    Put,
    Patch,
    Delete,
}

/// An answer, read whole.
#[derive(Debug)]
pub(super) struct Reply {
    status: u16,
    pub(super) headers: HeaderMap,
    body: Vec<u8>,
}

impl Reply {
    /// The document, of which unknown members are ignored.
    pub(super) fn json<T: DeserializeOwned>(&self) -> Result<T, ApiError> {
        // The parser's words may quote the document, which may be anything.
        serde_json::from_slice(&self.body).map_err(|error| {
            let at = format!("line {} column {}", error.line(), error.column());
            ApiError::new(Kind::Unexpected, format!("the answer is not what GitHub's API describes ({at})"))
        })
    }
}

/// A repository of a GitHub API, with a token.
pub(super) struct Client {
    octocrab: Octocrab,
    http: Http,
    api: Url,
    owner: String,
    name: String,
    token: String,
    pub(super) limits: Limits,
    deadline: Instant,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("api", &self.api.as_str()).finish_non_exhaustive()
    }
}

impl Client {
    /// Prepares the client; connects to nothing. The time for everything starts now.
    pub(super) fn open(context: &Context, token: &str, limits: Limits) -> Result<Self, ApiError> {
        let unusable = |cause: &str| ApiError::new(Kind::Unusable, cause);
        let repository = context.repository.as_deref().unwrap_or_default();
        let (owner, name) = (repository.split_once('/'))
            .filter(|(owner, name)| is_name(owner) && is_name(name))
            .ok_or_else(|| unusable("the repository's name is not known (GITHUB_REPOSITORY)"))?;
        let authorization = (HeaderValue::from_str(&format!("Bearer {token}")).ok())
            .filter(|_| !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic()))
            .ok_or_else(|| unusable("the token is empty or holds characters that no token has"))?;
        let api = context.api_url.as_deref().unwrap_or("https://api.github.com");
        let api = (Url::parse(api.trim_end_matches('/')).ok())
            .filter(|url| matches!(url.scheme(), "http" | "https") && url.host_str().is_some() && url.query().is_none())
            .ok_or_else(|| unusable("the address of the API is not usable (GITHUB_API_URL)"))?;
        let http = Http::new(context.ca_file.as_deref()).map_err(ApiError::transport)?;
        let client = http.client(&api).map_err(ApiError::transport)?.clone();
        // Its own builder names itself as the user agent, and repeats and redirects by rules of its own.
        let agent = HeaderValue::from_static(concat!("sealmark/", env!("CARGO_PKG_VERSION")));
        let headers = ExtraHeadersLayer::new(Arc::new(vec![(USER_AGENT, agent), (AUTHORIZATION, authorization)]));
        let octocrab = OctocrabBuilder::new_empty()
            .with_service(ReqwestConnector::new(client))
            .with_layer(&headers)
            .with_auth(AuthState::None)
            .build()
            .unwrap_or_else(|never| match never {});
        Ok(Self {
            octocrab,
            http,
            api,
            owner: owner.to_owned(),
            name: name.to_owned(),
            token: token.to_owned(),
            limits,
            deadline: Instant::now() + limits.total,
        })
    }

    /// For hiding it in what GitHub says.
    pub(super) fn token(&self) -> &str {
        &self.token
    }

    /// Whether the token is a person's: it writes under a person's name, and may ask whose it is.
    pub(super) fn is_personal(&self) -> bool {
        ["ghp_", "github_pat_", "gho_", "ghu_"].iter().any(|prefix| self.token.starts_with(prefix))
    }

    /// The account that writes with this token, as its GraphQL API says: the REST one tells it to persons alone.
    pub(super) async fn viewer(&self) -> Result<Option<String>, ApiError> {
        let mut url = self.at(&["graphql"]);
        // GitHub Enterprise Server has the two side by side.
        if let Some(root) = self.api.path().trim_end_matches('/').strip_suffix("/v3") {
            url.set_path(&format!("{root}/graphql"));
        }
        let reply: Value = self.post(url, &json!({ "query": "query { viewer { login } }" })).await?.json()?;
        Ok(reply.pointer("/data/viewer/login").and_then(Value::as_str).map(str::to_owned))
    }

    /// An address of the API; a slash inside of a part is escaped.
    pub(super) fn at(&self, parts: &[&str]) -> Url {
        let mut url = self.api.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(parts);
        }
        url
    }

    /// An address below the repository.
    pub(super) fn repository(&self, parts: &[&str]) -> Url {
        self.at(&[&["repos", self.owner.as_str(), self.name.as_str()], parts].concat())
    }

    /// The same with a query.
    pub(super) fn query(&self, parts: &[&str], query: &[(&str, &str)]) -> Url {
        let mut url = self.repository(parts);
        url.query_pairs_mut().extend_pairs(query);
        url
    }

    /// Reads. Sent again at most twice after a failure that may pass.
    pub(super) async fn get(&self, url: Url) -> Result<Reply, ApiError> {
        let mut left = REPEATS;
        loop {
            let error = match self.once(Verb::Get, url.clone(), None, false).await {
                Err(error) if left > 0 => error,
                settled => return settled,
            };
            self.pause(error).await?;
            left -= 1;
        }
    }

    /// Creates; sent once.
    pub(super) async fn post(&self, url: Url, body: &Value) -> Result<Reply, ApiError> {
        self.once(Verb::Post, url, Some(body), false).await
    }

    /// Replaces; sent once.
    pub(super) async fn put(&self, url: Url, body: &Value) -> Result<Reply, ApiError> {
        self.once(Verb::Put, url, Some(body), false).await
    }

    /// Changes; sent once.
    pub(super) async fn patch(&self, url: Url, body: &Value) -> Result<Reply, ApiError> {
        self.once(Verb::Patch, url, Some(body), false).await
    }

    /// Removes; sent once.
    pub(super) async fn delete(&self, url: Url) -> Result<Reply, ApiError> {
        self.once(Verb::Delete, url, None, false).await
    }

    /// What the API redirects to, fetched without the token: the storage behind it refuses one.
    pub(super) async fn download(&self, url: Url) -> Result<Vec<u8>, ApiError> {
        let mut left = REPEATS;
        let reply = loop {
            let error = match self.once(Verb::Get, url.clone(), None, true).await {
                Ok(reply) => break reply,
                Err(error) if left > 0 => error,
                Err(error) => return Err(error),
            };
            self.pause(error).await?;
            left -= 1;
        };
        if reply.status < 300 {
            return Ok(reply.body);
        }
        let target = target(&reply.headers, &url)
            .filter(|target| target.scheme() == "https" || url.scheme() == "http")
            .ok_or_else(|| ApiError::new(Kind::Unexpected, "GitHub redirects the download to no usable address"))?;
        let call = self.http.get(target.as_str()).limit(self.limits.artifact).within(self.remaining());
        Ok(call.send().await.map_err(ApiError::transport)?.body)
    }

    /// The time that is left for a single call.
    fn remaining(&self) -> Duration {
        self.limits.request.min(self.deadline.saturating_duration_since(Instant::now()))
    }

    /// Waits, if that is allowed and there is time; gives the error back otherwise.
    async fn pause(&self, error: ApiError) -> Result<(), ApiError> {
        match error.again {
            Some(wait) if wait <= self.limits.patience => self.wait(wait).await.map_err(|_| error),
            _ => Err(error),
        }
    }

    /// Waits within the time for everything.
    pub(super) async fn wait(&self, time: Duration) -> Result<(), ApiError> {
        if Instant::now() + time >= self.deadline {
            return Err(self.late());
        }
        tokio::time::sleep(time).await;
        Ok(())
    }

    fn late(&self) -> ApiError {
        let total = self.limits.total.as_secs();
        ApiError::new(Kind::Late, format!("the {total} seconds for publishing were over"))
    }

    /// One call with the redirects that stay at the API; a `foreign` one is an answer, else a failure.
    async fn once(&self, verb: Verb, mut url: Url, body: Option<&Value>, foreign: bool) -> Result<Reply, ApiError> {
        for _ in 0..=REDIRECTS {
            let reply = self.bare(verb, &url, body).await?;
            if reply.status < 300 {
                return Ok(reply);
            }
            if !matches!(reply.status, 301 | 302 | 303 | 307 | 308) {
                return Err(ApiError::answer(reply.status, &reply.headers, &reply.body, &self.token));
            }
            let next = target(&reply.headers, &url);
            match next.filter(|next| next.origin() == self.api.origin()) {
                // The older statuses turn a write into a read.
                Some(next) if verb == Verb::Get || reply.status >= 307 => url = next,
                _ if foreign => return Ok(reply),
                _ => return Err(ApiError::new(Kind::Unexpected, "the API redirects to another place")),
            }
        }
        Err(ApiError::new(Kind::Unexpected, format!("the API redirects more than {REDIRECTS} times")))
    }

    async fn bare(&self, verb: Verb, url: &Url, body: Option<&Value>) -> Result<Reply, ApiError> {
        let allowed = self.remaining();
        if allowed.is_zero() {
            return Err(self.late());
        }
        let until = Instant::now() + allowed;
        let call = async {
            let uri = url.as_str();
            let response = match verb {
                Verb::Get => self.octocrab._get(uri).await,
                Verb::Post => self.octocrab._post(uri, body).await,
                Verb::Put => self.octocrab._put(uri, body).await,
                Verb::Patch => self.octocrab._patch(uri, body).await,
                Verb::Delete => self.octocrab._delete(uri, None::<&()>).await,
            };
            let response = response.map_err(|error| ApiError::transport(http::fault(&error, url)))?;
            let response = reqwest::Response::from(response.map(reqwest::Body::wrap));
            read(response, url, BODY.max(self.limits.artifact)).await
        };
        let host = url.origin().ascii_serialization();
        let silent = || http::HttpError::TimedOut { host, seconds: allowed.as_secs() };
        timeout_at(until, call).await.unwrap_or_else(|_| Err(ApiError::transport(silent())))
    }
}

async fn read(mut response: reqwest::Response, url: &Url, limit: usize) -> Result<Reply, ApiError> {
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(|error| ApiError::transport(http::fault(&error, url)))? {
        if body.len() + piece.len() > limit {
            let host = url.origin().ascii_serialization();
            return Err(ApiError::transport(http::HttpError::TooLarge { host, limit }));
        }
        body.extend_from_slice(&piece);
    }
    Ok(Reply { status: response.status().as_u16(), headers: std::mem::take(response.headers_mut()), body })
}

fn target(headers: &HeaderMap, from: &Url) -> Option<Url> {
    from.join(headers.get("location")?.to_str().ok()?).ok()
}

/// Whether this can be an owner's or a repository's name.
fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    !name.is_empty() && name.len() <= 100 && name.chars().all(plain) && !matches!(name, "." | "..")
}

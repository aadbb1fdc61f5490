//! Streamable HTTP: one POST per message, replies as JSON or as a stream of events, resumed where the server allows it.

use std::{
    collections::HashMap,
    io::ErrorKind,
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    time::Duration,
};

use reqwest::{
    Client, Response, Url,
    header::{HeaderMap, HeaderValue},
};
use tokio::{sync::Semaphore, task::AbortHandle, time::timeout};

use super::{
    error::{SessionError, innermost, with_causes},
    frame::{Collector, Frame, Limits},
    headers,
    inbox::{Fault, Inbox, Source},
    link::HttpTarget,
    sse::Events,
};
use crate::model::{ActId, Era, EventKind, Revision};

/// Requests under way at the same time.
const PARALLEL: usize = 6;
/// How often a stream that ended early is resumed.
const RESUMPTIONS: usize = 3;
/// The longest pause before a resumption.
const PAUSE: Duration = Duration::from_secs(2);
/// How often a message is sent again that the endpoint had no time for.
const REPEATS: usize = 3;
/// The longest pause before that.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long ending a session, or answering a request of the server, may take.
const COURTESY: Duration = Duration::from_secs(2);

/// What an address answers to a bare GET: its HTTP status, none when nothing answers within two seconds. Asked before and
/// after a server is launched, so a certificate is not looked at.
pub async fn status(url: &str) -> Option<u16> {
    provider();
    let client = Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .tls_certs_only([])
        .tls_danger_accept_invalid_certs(true)
        .timeout(COURTESY)
        .build()
        .ok()?;
    let asked = client.get(url).header("accept", "text/event-stream, application/json").send().await.ok()?;
    Some(asked.status().as_u16())
}

/// A client that keeps up to `idle` connections for later requests.
fn client(url: &Url, connect: Duration, idle: usize) -> reqwest::Result<Client> {
    let mut builder = Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .user_agent(concat!("sealmark/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(connect)
        .pool_max_idle_per_host(idle);
    if loopback(url) {
        builder = builder.no_proxy();
    }
    if url.scheme() == "http" {
        // A plain connection must not fail where no CA bundle is installed.
        builder = builder.tls_certs_only([]);
    }
    provider();
    builder.build()
}

/// reqwest panics when it finds no crypto provider.
fn provider() {
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        // One that another thread installed meanwhile is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
    }
}

/// An endpoint and the requests under way.
#[derive(Debug)]
pub(super) struct Http {
    endpoint: Arc<Endpoint>,
    tasks: HashMap<String, AbortHandle>,
}

#[derive(Debug)]
struct Endpoint {
    client: Client,
    /// Opens a connection for each request; taken once the server has closed one that it was to keep.
    single: OnceLock<Client>,
    connect: Duration,
    url: Url,
    headers: HeaderMap,
    inbox: Inbox,
    slots: Semaphore,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    session: Option<HeaderValue>,
    lost: bool,
    /// A request was answered: later ones may go out on a connection that the server has closed meanwhile.
    answered: bool,
}

/// One message on its way.
#[derive(Debug)]
pub(super) struct Post {
    pub(super) act: ActId,
    pub(super) key: String,
    pub(super) frame: Vec<u8>,
    pub(super) era: Era,
    pub(super) revision: Revision,
    /// The revision as the server spelled it, when it is none we know.
    pub(super) word: Option<String>,
    /// Whether a reply is due.
    pub(super) request: bool,
}

impl Http {
    /// Prepares the client.
    pub(super) fn open(target: &HttpTarget, inbox: &Inbox, connect: Duration) -> Result<Self, SessionError> {
        let refuse = |why: String| SessionError::Url { url: target.url.clone(), why };
        let url = Url::parse(&target.url).map_err(|error| refuse(error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(refuse(format!("its scheme is `{}`", url.scheme())));
        }
        let headers = headers::configured(&target.headers)?;
        let client =
            client(&url, connect, PARALLEL).map_err(|error| SessionError::Client { why: with_causes(&error) })?;
        let (slots, state) = (Semaphore::new(PARALLEL), Mutex::default());
        let (inbox, single) = (inbox.clone(), OnceLock::new());
        let endpoint = Arc::new(Endpoint { client, single, connect, url, headers, inbox, slots, state });
        Ok(Self { endpoint, tasks: HashMap::new() })
    }

    /// Sends a message; its reply arrives in the inbox.
    pub(super) fn post(&mut self, post: Post) {
        self.tasks.retain(|_, task| !task.is_finished());
        let key = post.key.clone();
        let task = tokio::spawn(Arc::clone(&self.endpoint).exchange(post));
        self.tasks.insert(key, task.abort_handle());
    }

    /// Sends a message that must have arrived before the next one; waits at most `within`.
    pub(super) async fn deliver(&mut self, post: Post, within: Duration) {
        // What is late is left behind: the next request shows what became of it.
        let _ = timeout(within, Arc::clone(&self.endpoint).exchange(post)).await;
    }

    /// Gives up one request.
    pub(super) fn cancel(&mut self, key: &str) {
        if let Some(task) = self.tasks.remove(key) {
            task.abort();
        }
    }

    /// Whether the endpoint could be reached so far and has not ended the session.
    pub(super) fn reachable(&self) -> bool {
        !self.endpoint.lock().lost
    }

    /// Gives up what is under way and ends the HTTP session, when there is one.
    pub(super) async fn close(mut self) {
        self.stop();
        let session = self.endpoint.lock().session.take();
        if let Some(session) = session {
            let endpoint = &self.endpoint;
            let request = endpoint.client.delete(endpoint.url.clone()).headers(endpoint.headers.clone());
            if let Ok(Ok(response)) = timeout(COURTESY, request.header(headers::SESSION, session).send()).await {
                endpoint.record(None, &response);
            }
        }
    }

    /// Gives up what is under way.
    pub(super) fn abort(mut self) {
        self.stop();
    }

    fn stop(&mut self) {
        for (_, task) in self.tasks.drain() {
            task.abort();
        }
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Endpoint {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends one message and takes in what comes back.
    async fn exchange(self: Arc<Self>, post: Post) {
        let Ok(mut slot) = self.slots.acquire().await.map(Some) else { return };
        let handshake = post.era == Era::Legacy && memchr::memmem::find(&post.frame, b"\"initialize\"").is_some();
        let mut map = self.common(post.era);
        map.insert("content-type", HeaderValue::from_static("application/json"));
        for (name, value) in headers::of_frame(&post.frame, post.era, post.revision, post.word.as_deref()) {
            name.and_then(|name| map.insert(name, value));
        }
        map.extend(self.headers.clone());
        let mut asked = 0;
        let response = loop {
            let response = match self.deliver(&post, &map).await {
                Ok(response) => response,
                Err(error) => return self.failed(&post.key, &error),
            };
            self.record(Some(post.act), &response);
            let Some(pause) = headers::too_often(response.status(), response.headers()) else { break response };
            asked += 1;
            if asked > REPEATS || pause > PATIENCE {
                // Nobody has looked at the message, so nothing can be told from this answer.
                let why = format!("the endpoint limits its rate: HTTP {}", response.status().as_u16());
                return self.inbox.fail(&post.key, Fault::NotSent(why));
            }
            tokio::time::sleep(pause).await;
        };
        self.lock().answered = true;
        if handshake
            && response.status().is_success()
            && let Some(session) = response.headers().get(headers::SESSION)
        {
            self.lock().session = Some(session.clone());
        }
        if response.status().as_u16() == 404 && self.lock().session.is_some() {
            self.lock().lost = true;
        }
        let kind = headers::media_type(response.headers());
        if response.status().is_success() && kind == "text/event-stream" {
            self.stream(&post, response, &mut slot).await;
        } else {
            self.body(&post, response, &kind).await;
        }
    }

    /// Posts the message. A kept connection that the server has closed meanwhile says nothing about the message, so that is
    /// sent once more on a connection of its own.
    async fn deliver(&self, post: &Post, map: &HeaderMap) -> reqwest::Result<Response> {
        let request = |client: &Client| client.post(self.url.clone()).headers(map.clone()).body(post.frame.clone());
        if let Some(single) = self.single.get() {
            return request(single).send().await;
        }
        let error = match request(&self.client).send().await {
            Err(error) if closed(&error) && self.lock().answered => error,
            sent => return sent,
        };
        let Ok(single) = client(&self.url, self.connect, 0) else { return Err(error) };
        request(self.single.get_or_init(|| single)).send().await.map_err(|_| error)
    }

    /// Headers of every request.
    fn common(&self, era: Era) -> HeaderMap {
        let mut map = HeaderMap::new();
        map.insert("accept", HeaderValue::from_static("application/json, text/event-stream"));
        if era == Era::Legacy
            && let Some(session) = self.lock().session.clone()
        {
            map.insert(headers::SESSION, session);
        }
        map
    }

    fn record(&self, act: Option<ActId>, response: &Response) {
        let (status, headers) = (response.status().as_u16(), headers::recorded(response.headers()));
        self.inbox.push(act, EventKind::Http { status, headers });
    }

    fn failed(&self, key: &str, error: &reqwest::Error) {
        let why = innermost(error);
        if error.is_connect() || error.is_builder() {
            self.lock().lost = true;
            self.inbox.fail(key, Fault::NotSent(why));
        } else {
            self.inbox.fail(key, Fault::Broken(why));
        }
    }

    /// A body that is one message, or none.
    async fn body(&self, post: &Post, mut response: Response, kind: &str) {
        let status = response.status();
        let coding =
            response.headers().get("content-encoding").and_then(|value| value.to_str().ok()).map(str::to_owned);
        let limits = Limits::default();
        let mut collector = Collector::new(self.inbox.tokens.clone(), limits);
        loop {
            match response.chunk().await {
                Ok(Some(piece)) => collector.push(&piece),
                Ok(None) => break,
                Err(error) => return self.failed(&post.key, &error),
            }
            if collector.runaway() {
                let kind = EventKind::Bound { what: "bytes of one body".to_owned(), limit: limits.read };
                self.inbox.push(Some(post.act), kind);
                break;
            }
        }
        let shown = if kind.is_empty() { "no content type" } else { kind };
        let shown = match coding {
            Some(coding) => format!("{shown} in the encoding {coding}, which no request accepts,"),
            None => shown.to_owned(),
        };
        match collector.take() {
            Some(frame) => {
                let place = format!("HTTP {} with {shown} that is no JSON-RPC message", status.as_u16());
                let mistyped = status.is_success() && kind != "application/json";
                let note = mistyped.then(|| format!("a reply has the content type application/json, here {shown}"));
                let paired = Some(post.key.as_str());
                let source = Source { paired, place: Some(place.clone()), note, unfinished: None };
                self.inbox.accept(frame, &source);
                if post.request {
                    self.inbox.unanswered(&post.key, place);
                } else {
                    self.inbox.settle(&post.key);
                }
            }
            None if !post.request && status.is_success() => self.inbox.settle(&post.key),
            None => self.inbox.unanswered(&post.key, format!("HTTP {} without a body", status.as_u16())),
        }
    }

    /// A stream of events, resumed when it ends before the reply.
    async fn stream(self: &Arc<Self>, post: &Post, response: Response, slot: &mut Option<impl Sized>) {
        let mut events = Events::new(self.inbox.tokens.clone(), Limits::default());
        let mut broken = self.read(post, response, &mut events, slot).await;
        let resumable = post.era == Era::Legacy && post.revision >= Revision::V2025_03_26;
        for _ in 0..RESUMPTIONS {
            let Some(last) = events.last_id().map(str::to_owned).filter(|_| resumable && self.inbox.waits(&post.key))
            else {
                break;
            };
            tokio::time::sleep(events.retry().unwrap_or_default().min(PAUSE)).await;
            let mut map = self.common(post.era);
            map.insert("accept", HeaderValue::from_static("text/event-stream"));
            if let Ok(value) = HeaderValue::from_str(post.word.as_deref().unwrap_or(post.revision.as_str())) {
                map.insert(headers::PROTOCOL, value);
            }
            map.extend(self.headers.clone());
            if let Ok(value) = HeaderValue::from_bytes(last.as_bytes()) {
                map.insert("last-event-id", value);
            }
            match self.client.get(self.url.clone()).headers(map).send().await {
                Ok(response) => {
                    self.record(Some(post.act), &response);
                    let kind = headers::media_type(response.headers());
                    if !response.status().is_success() || kind != "text/event-stream" {
                        break;
                    }
                    broken = self.read(post, response, &mut events, slot).await;
                }
                Err(error) => {
                    broken = Some(innermost(&error));
                    break;
                }
            }
        }
        match broken {
            Some(why) => self.inbox.fail(&post.key, Fault::Broken(why)),
            None if post.request => {
                self.inbox.unanswered(&post.key, "the stream of events ended before the reply".to_owned());
            }
            None => self.inbox.settle(&post.key),
        }
    }

    /// Reads one stream to its end; says why it broke.
    async fn read(
        self: &Arc<Self>,
        post: &Post,
        mut response: Response,
        events: &mut Events,
        slot: &mut Option<impl Sized>,
    ) -> Option<String> {
        let mut frames = Vec::new();
        let mut source = Source { paired: Some(&post.key), ..Source::default() };
        loop {
            let piece = match response.chunk().await {
                Ok(piece) => piece,
                Err(error) => return Some(innermost(&error)),
            };
            match &piece {
                Some(piece) => events.push(piece, &mut frames),
                None => {
                    source.unfinished = Some("blank line");
                    frames.extend(events.end());
                }
            }
            for frame in frames.drain(..) {
                self.take_in(frame, &source, post);
            }
            if !self.inbox.waits(&post.key) {
                // What a server still says on the stream of an answered request holds up no other request.
                *slot = None;
            }
            if events.runaway() {
                let limit = Limits::default().read;
                let what = "bytes of one event of a stream".to_owned();
                self.inbox.push(Some(post.act), EventKind::Bound { what, limit });
                return Some("an event without end".to_owned());
            }
            piece?;
        }
    }

    /// Takes in one event, and answers a request of the server by a POST of its own.
    fn take_in(self: &Arc<Self>, frame: Frame, source: &Source<'_>, post: &Post) {
        for answer in self.inbox.accept(frame, source) {
            self.inbox.answered(&answer);
            let mut map = self.common(post.era);
            map.insert("content-type", HeaderValue::from_static("application/json"));
            if let Ok(value) = HeaderValue::from_str(post.word.as_deref().unwrap_or(post.revision.as_str())) {
                map.insert(headers::PROTOCOL, value);
            }
            map.extend(self.headers.clone());
            let request = self.client.post(self.url.clone()).headers(map).body(answer);
            tokio::spawn(timeout(COURTESY, request.send()));
        }
    }
}

/// Whether the other side closed the connection instead of answering.
fn closed(error: &reqwest::Error) -> bool {
    let mut next: Option<&dyn std::error::Error> = Some(error);
    let mut innermost = None;
    while let Some(cause) = next {
        (innermost, next) = (Some(cause), cause.source());
    }
    let system = innermost.and_then(|cause| cause.downcast_ref::<std::io::Error>()).map(std::io::Error::kind);
    let kinds = [ErrorKind::ConnectionReset, ErrorKind::BrokenPipe, ErrorKind::ConnectionAborted];
    !error.is_connect()
        && (system.is_some_and(|kind| kinds.contains(&kind))
            // hyper's own words; it does not show its type here.
            || innermost.is_some_and(|cause| cause.to_string().contains("closed before message completed")))
}

fn loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost") || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests;

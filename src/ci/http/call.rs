//! One call: its headers and bounds, its repetitions and redirects, its answer.

use std::{collections::HashSet, time::Duration};

use reqwest::{
    Method, Url,
    header::{HeaderMap, HeaderName, HeaderValue},
};
use tokio::time::timeout;

use super::{Http, HttpError, error};

/// How long a call may take, with redirects, repetitions and its body, unless it asks for another bound.
const WITHIN: Duration = Duration::from_secs(30);
/// How many redirects are followed.
const REDIRECTS: usize = 5;
/// How often a GET is sent again.
const REPEATS: u32 = 2;
/// The longest pause that a server may ask for.
const PATIENCE: Duration = Duration::from_secs(10);
/// How much of a body is read that nobody set a limit for, and of every refusal.
const LIMIT: usize = 1024 * 1024;
/// The longest address that a redirect may have.
const LONGEST_URL: usize = 16 * 1024;

/// One call, to be sent.
#[derive(Debug)]
pub struct Call<'a> {
    http: &'a Http,
    method: Method,
    url: String,
    headers: HeaderMap,
    /// Names of headers that stay behind when a redirect leads elsewhere.
    credentials: Vec<HeaderName>,
    body: Option<Vec<u8>>,
    limit: usize,
    within: Duration,
    fault: Option<HttpError>,
}

/// A successful answer (2xx), read whole.
#[derive(Debug, Clone)]
pub struct Reply {
    /// The HTTP status.
    pub status: u16,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body.
    pub body: Vec<u8>,
}

impl Reply {
    /// A header's text, when it has one.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

impl<'a> Call<'a> {
    pub(super) fn new(http: &'a Http, method: Method, url: &str) -> Self {
        Self {
            http,
            method,
            url: url.to_owned(),
            headers: HeaderMap::new(),
            credentials: Vec::new(),
            body: None,
            limit: LIMIT,
            within: WITHIN,
            fault: None,
        }
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &'static str, value: &str) -> Self {
        match HeaderValue::from_str(value) {
            Ok(value) => {
                self.headers.insert(HeaderName::from_static(name), value);
            }
            Err(_) => self.fault = Some(HttpError::Header { name }),
        }
        self
    }

    /// Adds a header that holds a secret: it is sent to the scheme, host and port of the call alone, and no message shows it.
    #[must_use]
    pub fn credential(mut self, name: &'static str, value: &str) -> Self {
        self = self.header(name, value);
        if let Some(value) = self.headers.get_mut(name) {
            value.set_sensitive(true);
        }
        self.credentials.push(HeaderName::from_static(name));
        self
    }

    /// Sends this document.
    #[must_use]
    pub fn json(mut self, document: &serde_json::Value) -> Self {
        self = self.header("content-type", "application/json");
        self.body = Some(document.to_string().into_bytes());
        self
    }

    /// Sends these bytes.
    #[must_use]
    pub fn bytes(mut self, kind: &str, body: Vec<u8>) -> Self {
        self = self.header("content-type", kind);
        self.body = Some(body);
        self
    }

    /// Reads at most this many bytes of the body; a longer one is an error.
    #[must_use]
    pub fn limit(mut self, bytes: usize) -> Self {
        self.limit = bytes;
        self
    }

    /// Takes at most this long, with redirects, repetitions and the body.
    #[must_use]
    pub fn within(mut self, time: Duration) -> Self {
        self.within = time;
        self
    }

    /// Sends it and reads the answer.
    ///
    /// # Errors
    /// No answer, one that is not a success, or one that is too large or too late. No message holds a credential or the query
    /// of an address.
    pub async fn send(mut self) -> Result<Reply, HttpError> {
        if let Some(fault) = self.fault.take() {
            return Err(fault);
        }
        let url = Url::parse(&self.url).map_err(|error| HttpError::Url { why: error.to_string() })?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
            return Err(HttpError::Url { why: "it is no http or https address".to_owned() });
        }
        let late = HttpError::TimedOut { host: error::origin(&url), seconds: self.within.as_secs() };
        let result = timeout(self.within, self.repeat(&url)).await.unwrap_or(Err(late));
        result.map_err(|error| error.without(self.secrets()))
    }

    fn secrets(&self) -> impl Iterator<Item = &str> {
        let values = self.credentials.iter().filter_map(|name| self.headers.get(name)?.to_str().ok());
        // `Bearer TOKEN`: the word in front is no secret.
        values.map(|value| value.rsplit(' ').next().unwrap_or(value)).filter(|value| !value.is_empty())
    }

    async fn repeat(&self, url: &Url) -> Result<Reply, HttpError> {
        let mut pause = self.http.pause;
        let mut left = if self.method == Method::GET { REPEATS } else { 0 };
        loop {
            let error = match self.follow(url.clone()).await {
                Err(error) if left > 0 && error.may_pass() => error,
                settled => return settled,
            };
            let asked = error.retry_after().unwrap_or(pause);
            if asked > PATIENCE {
                return Err(error);
            }
            tokio::time::sleep(asked).await;
            pause *= 2;
            left -= 1;
        }
    }

    async fn follow(&self, mut url: Url) -> Result<Reply, HttpError> {
        let mut headers = self.headers.clone();
        let mut seen = HashSet::from([url.clone()]);
        loop {
            let mut request =
                self.http.client(&url)?.request(self.method.clone(), url.clone()).headers(headers.clone());
            if let Some(body) = &self.body {
                request = request.body(body.clone());
            }
            let response = request.send().await.map_err(|error| HttpError::of(&error, &url))?;
            if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
                return self.read(response, &url).await;
            }
            let next = target(&response, &url)?;
            if self.method != Method::GET {
                return Err(HttpError::Moved { from: error::origin(&url), to: error::origin(&next) });
            }
            if !same_origin(&url, &next) {
                for name in &self.credentials {
                    headers.remove(name);
                }
            }
            if seen.len() > REDIRECTS || !seen.insert(next.clone()) {
                return Err(HttpError::Redirects { host: error::origin(&next), limit: REDIRECTS });
            }
            url = next;
        }
    }

    async fn read(&self, mut response: reqwest::Response, url: &Url) -> Result<Reply, HttpError> {
        let (status, headers) = (response.status(), std::mem::take(response.headers_mut()));
        let limit = if status.is_success() { self.limit } else { LIMIT };
        let too_large = || HttpError::TooLarge { host: error::origin(url), limit };
        let mut body = Vec::new();
        if status.is_success() && response.content_length().is_some_and(|length| length > limit as u64) {
            return Err(too_large());
        }
        while let Some(piece) = response.chunk().await.map_err(|error| HttpError::of(&error, url))? {
            if body.len() + piece.len() > limit {
                if status.is_success() {
                    return Err(too_large());
                }
                // The status says enough.
                break;
            }
            body.extend_from_slice(&piece);
        }
        if !status.is_success() {
            return Err(HttpError::status(status.as_u16(), &headers, &body, url));
        }
        Ok(Reply { status: status.as_u16(), headers, body })
    }
}

/// Where a redirect leads.
fn target(response: &reqwest::Response, from: &Url) -> Result<Url, HttpError> {
    let astray = |why: &str| HttpError::Astray { host: error::origin(from), why: why.to_owned() };
    let location = response.headers().get("location").ok_or_else(|| astray("it names no target"))?;
    let location = location.to_str().ok().filter(|text| text.len() <= LONGEST_URL);
    let next = location.and_then(|text| from.join(text).ok()).ok_or_else(|| astray("its target is no address"))?;
    match (from.scheme(), next.scheme()) {
        (_, "https") | ("http", "http") => Ok(next),
        (_, "http") => Err(astray("it leads from https to http")),
        _ => Err(astray("its target is no http or https address")),
    }
}

fn same_origin(one: &Url, other: &Url) -> bool {
    one.scheme() == other.scheme()
        && one.host() == other.host()
        && one.port_or_known_default() == other.port_or_known_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_scheme_or_port_is_another_origin() {
        let (https, http) = (Url::parse("https://a/").unwrap(), Url::parse("http://a/").unwrap());
        assert!(!same_origin(&https, &http));
        assert!(!same_origin(&https, &Url::parse("https://a:8443/").unwrap()));
        assert!(same_origin(&https, &Url::parse("https://a:443/b?c").unwrap()));
    }
}

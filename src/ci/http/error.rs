//! Why a call failed, told apart by what helps; no message holds a credential or the query of an address.

use std::{error::Error, path::PathBuf, time::Duration};

use reqwest::{Url, header::HeaderMap};

use crate::text::excerpt;

/// How much of a refusal's own words is kept, in characters.
const SAID: usize = 200;

/// Why a call failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HttpError {
    /// The address is none.
    #[error("the address is not usable: {why}")]
    Url {
        /// What is wrong with it.
        why: String,
    },
    /// A header's value holds what no header may.
    #[error("the value of {name} holds a line break or another character that no header may hold")]
    Header {
        /// The header.
        name: &'static str,
    },
    /// The private CA cannot be used.
    #[error("the CA file {} is not usable: {why}", path.display())]
    CaFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The name has no address.
    #[error("{host} was not found: {why}")]
    Dns {
        /// Scheme, host and port.
        host: String,
        /// The resolver's words.
        why: String,
    },
    /// No connection.
    #[error("{host} cannot be reached: {why}")]
    Refused {
        /// Scheme, host and port.
        host: String,
        /// The system's words.
        why: String,
    },
    /// The certificate or the handshake.
    #[error("{host} has no trusted TLS connection: {why}")]
    Tls {
        /// Scheme, host and port.
        host: String,
        /// The library's words.
        why: String,
    },
    /// The proxy did not connect.
    #[error("the proxy did not connect to {host}: {why}")]
    Proxy {
        /// Scheme, host and port behind the proxy.
        host: String,
        /// The library's words.
        why: String,
    },
    /// Nothing, or not everything, came in time.
    #[error("{host} did not answer within {seconds} seconds")]
    TimedOut {
        /// Scheme, host and port.
        host: String,
        /// The bound.
        seconds: u64,
    },
    /// The connection ended in the middle.
    #[error("the connection to {host} broke: {why}")]
    Broken {
        /// Scheme, host and port.
        host: String,
        /// The library's words.
        why: String,
    },
    /// It answered, and not with a success.
    #[error("{host} answered HTTP {status}{}", said.as_deref().map(|said| format!(": {said}")).unwrap_or_default())]
    Status {
        /// Scheme, host and port.
        host: String,
        /// The HTTP status.
        status: u16,
        /// Its own words, on one line, cut.
        said: Option<String>,
        /// When it wants to be asked again.
        retry_after: Option<Duration>,
    },
    /// More bytes than the caller takes.
    #[error("{host} sent more than {limit} bytes")]
    TooLarge {
        /// Scheme, host and port.
        host: String,
        /// The bound in bytes.
        limit: usize,
    },
    /// Round in circles, or too far.
    #[error("{host} redirects in a circle, or more than {limit} times")]
    Redirects {
        /// Scheme, host and port of the last address.
        host: String,
        /// How many are followed.
        limit: usize,
    },
    /// A redirect that is not followed.
    #[error("a redirect of {host} is not followed: {why}")]
    Astray {
        /// Scheme, host and port.
        host: String,
        /// What is wrong with it.
        why: String,
    },
    /// What was to be written is somewhere else.
    #[error("{from} redirects to {to}, and nothing is written to another address")]
    Moved {
        /// Scheme, host and port.
        from: String,
        /// The same of the target.
        to: String,
    },
}

impl HttpError {
    /// The HTTP status, when there was an answer.
    pub fn code(&self) -> Option<u16> {
        match self {
            Self::Status { status, .. } => Some(*status),
            _ => None,
        }
    }

    /// What helps, whatever was called.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Url { .. } => "check the address",
            Self::Header { .. } => "set the variable again, without spaces and line breaks around the token",
            Self::CaFile { .. } => "let it name a readable file of PEM certificates",
            Self::Dns { .. } => "check the host's name and the runner's DNS, or set HTTPS_PROXY",
            Self::Refused { .. } => {
                "check that the runner reaches the host, and HTTPS_PROXY and NO_PROXY if there is a proxy"
            }
            Self::Tls { .. } => {
                "install the CA of that certificate in the runner, or name its PEM file in SSL_CERT_FILE"
            }
            Self::Proxy { .. } => "check HTTPS_PROXY, the proxy's password, and NO_PROXY",
            Self::TimedOut { .. } | Self::Broken { .. } => "run the job again; nothing was changed by halves",
            Self::Status { status: 429, .. } => "wait and run the job again; the platform limits its rate",
            Self::Status { status: 407, .. } => "check HTTPS_PROXY and the proxy's password",
            Self::Status { status: 500.., .. } => "run the job again; the fault is on the platform's side",
            Self::Status { .. } => "check the address and the token's rights",
            Self::TooLarge { .. } => "nothing that sealmark writes is that large: check what is stored there",
            Self::Redirects { .. } | Self::Astray { .. } => {
                "check the address; a proxy or a login page may stand before it"
            }
            Self::Moved { .. } => "let the address begin as its target does (https, the host's present name)",
        }
    }

    /// Whether the same call may succeed a moment later.
    pub(super) fn may_pass(&self) -> bool {
        match self {
            Self::Dns { .. } | Self::Refused { .. } | Self::Broken { .. } => true,
            Self::Status { status, .. } => *status == 429 || *status >= 500,
            _ => false,
        }
    }

    /// When the other side wants to be asked again.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Status { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// Told apart by its causes.
    pub(super) fn of(error: &reqwest::Error, url: &Url) -> Self {
        let host = origin(url);
        let why = innermost(error);
        if error.is_builder() || tls(error) {
            return Self::Tls { host, why };
        }
        if proxy(error) {
            return Self::Proxy { host, why };
        }
        if error.is_timeout() {
            return Self::TimedOut { host, seconds: super::CONNECT.as_secs() };
        }
        if error.is_dns() {
            return Self::Dns { host, why };
        }
        if error.is_connect() { Self::Refused { host, why } } else { Self::Broken { host, why } }
    }

    /// An answer that is no success.
    pub(super) fn status(status: u16, headers: &HeaderMap, body: &[u8], url: &Url) -> Self {
        let retry_after = headers.get("retry-after").and_then(|value| value.to_str().ok()?.trim().parse().ok());
        Self::Status { host: origin(url), status, said: said(body), retry_after: retry_after.map(Duration::from_secs) }
    }

    /// The same without these values, should the other side have repeated them.
    pub(super) fn without<'a>(mut self, secrets: impl Iterator<Item = &'a str>) -> Self {
        if let Self::Status { said: Some(said), .. } = &mut self {
            for secret in secrets {
                *said = said.replace(secret, "***");
            }
            *said = excerpt(said, SAID);
        }
        self
    }
}

/// What a refusal says of itself: the usual members of a JSON body.
fn said(body: &[u8]) -> Option<String> {
    let document: serde_json::Value = serde_json::from_slice(body).ok()?;
    let text = ["message", "error_description", "error"].iter().find_map(|name| match document.get(name)? {
        serde_json::Value::String(text) => Some(text.clone()),
        serde_json::Value::Null => None,
        other => Some(other.to_string()),
    })?;
    (!text.trim().is_empty()).then_some(text)
}

/// Scheme, host and port of an address: all that a message shows of it.
pub(super) fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}

fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error: &&'a (dyn Error + 'static)| (*error).source())
}

/// Whether TLS is at fault; it travels inside of I/O errors, which do not name it as their source.
fn tls(error: &(dyn Error + 'static)) -> bool {
    chain(error).any(|cause| {
        let mut inner = Some(cause);
        while let Some(error) = inner {
            if error.is::<rustls::Error>() {
                return true;
            }
            let wrapped = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
            inner = wrapped.map(|error| error as &(dyn Error + 'static));
        }
        false
    })
}

/// Whether a proxy is at fault: the client library shows its type of error only by its words.
fn proxy(error: &(dyn Error + 'static)) -> bool {
    chain(error).any(|cause| cause.to_string().starts_with("tunnel error"))
}

/// What the system or the other side said. The outermost error is left out, as it shows the whole address.
fn innermost(error: &(dyn Error + 'static)) -> String {
    chain(error).skip(1).last().map_or_else(|| "no cause is known".to_owned(), ToString::to_string)
}

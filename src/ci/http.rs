//! The HTTP client of the adapters: bounded in time and size, with credentials that never leave the origin they were meant for.

mod call;
mod error;

use std::{
    io::Read,
    net::IpAddr,
    path::Path,
    sync::{Arc, OnceLock},
    time::Duration,
};

use reqwest::{Certificate, Client, Method, Url};
use rustls::{
    RootCertStore,
    pki_types::{CertificateDer, pem::PemObject},
};

use crate::files;

pub use call::{Call, Reply};
pub use error::HttpError;

/// How long a connection may take, the handshake of TLS included.
const CONNECT: Duration = Duration::from_secs(10);
/// How long a connection is kept for the next call: a write must not go out on one that the server has closed meanwhile.
const KEPT: Duration = Duration::from_secs(2);
/// A file of certificates is read up to here, in bytes.
const CA_FILE: u64 = 16 << 20;
/// The pause before the first repetition; it doubles.
const PAUSE: Duration = Duration::from_secs(1);

/// A client for everything; octocrab is put on top of it for GitHub's API. Honours the proxy variables of the environment, except for this machine's own
/// addresses; trusts the system's certificates and, when there is one, a private CA.
#[derive(Debug, Clone)]
pub struct Http {
    authorities: Vec<Certificate>,
    /// By whether TLS is spoken, then by whether the address is this machine.
    clients: Arc<[[OnceLock<Client>; 2]; 2]>,
    pause: Duration,
}

impl Http {
    /// Prepares a client; connects to nothing.
    ///
    /// # Errors
    /// The file of the private CA cannot be read or holds no certificate.
    pub fn new(ca_file: Option<&Path>) -> Result<Self, HttpError> {
        provider();
        let authorities = ca_file.map_or(Ok(Vec::new()), authorities)?;
        Ok(Self { authorities, clients: Arc::default(), pause: PAUSE })
    }

    /// A GET: sent again up to twice after a transport failure, 429 or 5xx; redirects are followed.
    pub fn get(&self, url: &str) -> Call<'_> {
        Call::new(self, Method::GET, url)
    }

    /// A POST: sent once, and never to another address than this.
    pub fn post(&self, url: &str) -> Call<'_> {
        Call::new(self, Method::POST, url)
    }

    /// A PUT: sent once, and never to another address than this.
    pub fn put(&self, url: &str) -> Call<'_> {
        Call::new(self, Method::PUT, url)
    }

    /// A DELETE: sent once, and never to another address than this.
    pub fn delete(&self, url: &str) -> Call<'_> {
        Call::new(self, Method::DELETE, url)
    }

    /// What an address serves, without a credential, at most `limit` bytes.
    ///
    /// # Errors
    /// Everything that [`Call::send`] can fail of.
    pub async fn get_bytes(&self, url: &str, limit: usize) -> Result<Vec<u8>, HttpError> {
        Ok(self.get(url).limit(limit).send().await?.body)
    }

    /// The client that reaches an address, for a library with calls of its own: it follows no redirect.
    pub(super) fn client(&self, url: &Url) -> Result<&Client, HttpError> {
        let (secure, own) = (url.scheme() == "https", loopback(url));
        let slot = &self.clients[usize::from(secure)][usize::from(own)];
        if let Some(client) = slot.get() {
            return Ok(client);
        }
        let mut builder = Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .referer(false)
            .user_agent(concat!("sealmark/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT)
            .pool_idle_timeout(KEPT);
        if own {
            builder = builder.no_proxy();
        }
        builder = if secure {
            builder.tls_certs_merge(self.authorities.iter().cloned())
        } else {
            // A plain connection must not fail where no CA bundle is installed.
            builder.tls_certs_only([])
        };
        let client = builder.build().map_err(|error| HttpError::of(&error, url))?;
        Ok(slot.get_or_init(|| client))
    }
}

/// Why a call of such a library failed, from any error of its chain.
pub(super) fn fault(error: &(dyn std::error::Error + 'static), url: &Url) -> HttpError {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<reqwest::Error>() {
            return HttpError::of(error, url);
        }
        cause = error.source();
    }
    HttpError::Broken { host: error::origin(url), why: error.to_string() }
}

/// The certificates of a PEM file that can be trusted. GitLab's runner writes the whole chain of its server: one that is no
/// authority must not spoil the rest.
fn authorities(path: &Path) -> Result<Vec<Certificate>, HttpError> {
    let refuse = |why: String| HttpError::CaFile { path: path.to_owned(), why };
    let mut pem = Vec::new();
    let read = files::open(path).and_then(|file| file.take(CA_FILE).read_to_end(&mut pem));
    read.map_err(|error| refuse(error.to_string()))?;
    let usable = |der: &CertificateDer<'_>| RootCertStore::empty().add(der.clone().into_owned()).is_ok();
    let found = CertificateDer::pem_slice_iter(&pem).filter_map(Result::ok).filter(usable);
    let found: Vec<Certificate> = found.filter_map(|der| Certificate::from_der(&der).ok()).collect();
    if found.is_empty() { Err(refuse("it holds no certificate that can be trusted".to_owned())) } else { Ok(found) }
}

/// Whether an address is this machine's own: no proxy can reach that.
fn loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost") || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// reqwest panics when it finds no crypto provider.
fn provider() {
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        // One that another thread installed meanwhile is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
    }
}

#[cfg(test)]
mod tests;

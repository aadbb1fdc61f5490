//! Calls of GitLab's REST API: addresses, credentials, and what a refusal means.

use reqwest::Url;
use serde::{
    Deserialize,
    de::{DeserializeOwned, Error as _},
};

use super::super::{
    Context, Notice,
    http::{Call, Http, HttpError},
};

/// The most that a listing's page may hold, in bytes. A note has at most a million characters.
const PAGE: usize = 64 << 20;

/// Who asks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Credential<'a> {
    /// The job.
    Job(&'a str),
    /// A person or a bot.
    Personal(&'a str),
    /// Anybody: public projects.
    Nobody,
}

impl Credential<'_> {
    /// Puts it into the header that it belongs in.
    pub(super) fn sign<'c>(&self, call: Call<'c>) -> Call<'c> {
        match self {
            Self::Job(token) => call.credential("job-token", token),
            Self::Personal(token) => call.credential("private-token", token),
            Self::Nobody => call,
        }
    }
}

/// Why a call came to nothing.
#[derive(Debug)]
pub(super) enum Fault {
    /// The call failed.
    Http(HttpError),
    /// The answer is not what GitLab describes.
    Unexpected(String),
    /// The bound for everything together was reached.
    Late(u64),
}

impl From<HttpError> for Fault {
    fn from(error: HttpError) -> Self {
        Self::Http(error)
    }
}

impl Fault {
    /// The HTTP status, when there was an answer.
    pub(super) fn code(&self) -> Option<u16> {
        match self {
            Self::Http(error) => error.code(),
            Self::Unexpected(_) | Self::Late(_) => None,
        }
    }

    /// The line of the log; `refused` is the remedy for 401, 403 and 404.
    pub(super) fn notice(&self, what: &str, refused: impl FnOnce(u16) -> String) -> Notice {
        let (cause, remedy) = match self {
            Self::Http(HttpError::Header { .. }) => {
                ("the token holds a character that no token has".to_owned(), "set the variable again".to_owned())
            }
            Self::Http(error) => {
                let remedy = match error.code() {
                    Some(code @ (401 | 403 | 404)) => refused(code),
                    _ => error.hint().to_owned(),
                };
                (error.to_string(), remedy)
            }
            Self::Unexpected(cause) => {
                (cause.clone(), "check CI_API_V4_URL; a login page or a proxy may stand before it".to_owned())
            }
            Self::Late(seconds) => (
                format!("the {seconds} seconds for talking to GitLab were over"),
                "run the job again; the platform is slow".to_owned(),
            ),
        };
        Notice::Failed { what: what.to_owned(), cause, remedy }
    }
}

/// A project of a GitLab instance.
#[derive(Debug)]
pub(super) struct Project {
    http: Http,
    api: Url,
    id: String,
}

impl Project {
    /// The project with this id or path. Connects to nothing.
    pub(super) fn open(context: &Context, id: &str) -> Result<Self, Fault> {
        let api = context.api_url.as_deref().unwrap_or("https://gitlab.com/api/v4");
        let api = Url::parse(api)
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https") && url.host_str().is_some() && url.query().is_none())
            .ok_or_else(|| {
                Fault::Http(HttpError::Url { why: "CI_API_V4_URL is no http or https address".to_owned() })
            })?;
        Ok(Self { http: Http::new(context.ca_file.as_deref())?, api, id: id.to_owned() })
    }

    /// An address of the API; a slash inside of a part is escaped.
    pub(super) fn root(&self, parts: &[&str]) -> Url {
        let mut url = self.api.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(parts);
        }
        url
    }

    /// An address below the project.
    pub(super) fn at(&self, parts: &[&str]) -> Url {
        self.root(&[&["projects", self.id.as_str()], parts].concat())
    }

    /// The client.
    pub(super) fn http(&self) -> &Http {
        &self.http
    }

    /// Reads a document and what the answer's header says of the next page.
    pub(super) async fn document<T: DeserializeOwned>(
        &self,
        url: &Url,
        credential: Credential<'_>,
    ) -> Result<(T, Option<u32>), Fault> {
        let reply = credential.sign(self.http.get(url.as_str())).limit(PAGE).send().await?;
        let next = reply.header("x-next-page").and_then(|page| page.trim().parse().ok());
        let next = next.or_else(|| reply.header("link").and_then(next_page));
        Ok((parse(&reply.body)?, next))
    }
}

/// Reads an answer's document, of which unknown members are ignored.
pub(super) fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, Fault> {
    // The parser's own words may quote the document, which may be anything.
    serde_json::from_slice(body).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        Fault::Unexpected(format!("the answer is not what GitLab's API describes (line {line}, column {column})"))
    })
}

/// The number of the page that a `Link` header calls the next one.
fn next_page(link: &str) -> Option<u32> {
    let next = link.split(',').find(|part| part.contains("rel=\"next\""))?;
    let url = Url::parse(next.split('>').next()?.trim().strip_prefix('<')?).ok()?;
    url.query_pairs().find(|(name, _)| name == "page")?.1.parse().ok()
}

/// A text that may be missing or `null`.
pub(super) fn text<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Option::<String>::deserialize(deserializer).map(Option::unwrap_or_default).map_err(D::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_page_is_read_from_either_header() {
        let link = r#"<https://h/api?page=1&per_page=2>; rel="first", <https://h/api?page=3&per_page=2>; rel="next""#;
        assert_eq!(next_page(link), Some(3));
        assert_eq!(next_page(r#"<https://h/api?page=1>; rel="last""#), None);
        assert_eq!(next_page("<https://h/api?page=x>; rel=\"next\""), None);
    }
}

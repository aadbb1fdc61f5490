//! The client against servers that a test scripts.

use std::{
    sync::{Arc, Mutex},
    time::Instant,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

use super::*;

const TOKEN: &str = "glpat-very-secret";

/// A server that gives one scripted answer per request; `HOST` in it becomes its own address. Keeps the requests' heads.
struct Scripted {
    url: String,
    heads: Arc<Mutex<Vec<String>>>,
}

async fn serve(answers: Vec<String>) -> Scripted {
    serve_on(TcpListener::bind("127.0.0.1:0").await.unwrap(), answers)
}

fn serve_on(listener: TcpListener, answers: Vec<String>) -> Scripted {
    let url = format!("http://{}", listener.local_addr().unwrap());
    let heads = Arc::new(Mutex::new(Vec::new()));
    let (kept, own) = (Arc::clone(&heads), url.clone());
    tokio::spawn(async move {
        for answer in answers {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut head = Vec::new();
            // The first record of TLS has no end that this could wait for.
            while !head.windows(4).any(|end| end == b"\r\n\r\n") && head.first() != Some(&0x16) {
                let mut piece = [0; 1024];
                let count = stream.read(&mut piece).await.unwrap();
                head.extend_from_slice(&piece[..count]);
                if count == 0 {
                    break;
                }
            }
            kept.lock().unwrap().push(String::from_utf8_lossy(&head).to_lowercase());
            if answer == "HANG" {
                tokio::spawn(async move {
                    let _held = stream;
                    std::future::pending::<()>().await;
                });
                continue;
            }
            stream.write_all(answer.replace("HOST", &own).as_bytes()).await.unwrap();
            // An orderly end, so that the answer is not lost with the connection.
            stream.shutdown().await.unwrap();
            let mut rest = Vec::new();
            let _ = stream.read_to_end(&mut rest).await;
        }
    });
    Scripted { url, heads }
}

fn answer(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n{body}", body.len())
}

fn redirect(to: &str) -> String {
    answer("302 Found", &format!("location: {to}\r\n"), "")
}

fn client() -> Http {
    Http { pause: Duration::from_millis(5), ..Http::new(None).unwrap() }
}

impl Scripted {
    fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }
}

#[tokio::test]
async fn a_redirect_to_another_port_gets_no_credential() {
    let store = serve(vec![answer("200 OK", "", "report")]).await;
    let api = serve(vec![redirect(&format!("{}/blob?sig=abc", store.url))]).await;
    let call = client();
    let call = call.get(&api.url).credential("job-token", TOKEN).header("accept", "application/json");
    assert_eq!(call.send().await.unwrap().body, b"report");
    assert!(api.heads()[0].contains(TOKEN));
    assert!(!store.heads()[0].contains(TOKEN));
    assert!(store.heads()[0].contains("accept: application/json"), "only the credential stays behind");
}

#[tokio::test]
async fn a_redirect_within_the_origin_keeps_the_credential() {
    let api = serve(vec![redirect("/moved"), answer("200 OK", "", "x")]).await;
    client().get(&api.url).credential("private-token", TOKEN).send().await.unwrap();
    assert!(api.heads()[1].starts_with("get /moved") && api.heads()[1].contains(TOKEN));
}

#[tokio::test]
async fn a_credential_that_was_dropped_does_not_come_back() {
    // The way back to the first origin was chosen by another one.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let other = serve(vec![redirect(&format!("{url}/back"))]).await;
    let api = serve_on(listener, vec![redirect(&other.url), answer("200 OK", "", "x")]);
    client().get(&api.url).credential("job-token", TOKEN).send().await.unwrap();
    let with: Vec<_> = api.heads().iter().map(|head| head.contains(TOKEN)).collect();
    assert_eq!(with, [true, false]);
    assert!(!other.heads()[0].contains(TOKEN));
}

#[tokio::test]
async fn circles_and_long_ways_end() {
    let circle = serve(vec![redirect("/a"), redirect("/b"), redirect("/a")]).await;
    let error = client().get(&format!("{}/start", circle.url)).send().await.unwrap_err();
    assert!(matches!(error, HttpError::Redirects { .. }), "{error}");
    let long = serve((0..9).map(|n| redirect(&format!("/{n}"))).collect()).await;
    assert!(matches!(client().get(&long.url).send().await, Err(HttpError::Redirects { .. })));
    assert_eq!(long.heads().len(), 6, "the call and five redirects");
    let five = (0..5).map(|n| redirect(&format!("/{n}"))).chain([answer("200 OK", "", "x")]).collect();
    assert!(client().get(&serve(five).await.url).send().await.is_ok());
}

#[tokio::test]
async fn redirects_to_nowhere_are_told() {
    for to in ["file:///etc/passwd", "ftp://host/x", "http://[", &format!("/{}", "a".repeat(20_000))] {
        let error = client().get(&serve(vec![redirect(to)]).await.url).send().await.unwrap_err();
        assert!(matches!(error, HttpError::Astray { .. }), "{error}");
    }
    let error = client().get(&serve(vec![answer("302 Found", "", "")]).await.url).send().await.unwrap_err();
    assert!(error.to_string().contains("names no target"), "{error}");
}

#[tokio::test]
async fn a_get_is_sent_three_times_and_a_post_once() {
    let fault = || answer("503 Service Unavailable", "", "");
    let server = serve(vec![fault(), answer("429 Too Many Requests", "", ""), answer("200 OK", "", "x")]).await;
    assert!(client().get(&server.url).send().await.is_ok());
    let server = serve(vec![fault(), fault(), fault(), answer("200 OK", "", "x")]).await;
    assert_eq!(client().get(&server.url).send().await.unwrap_err().code(), Some(503));
    assert_eq!(server.heads().len(), 3);
    let server = serve(vec![fault(), answer("201 Created", "", "x")]).await;
    let error = client().post(&server.url).json(&serde_json::json!({"body": "x"})).send().await.unwrap_err();
    assert_eq!((error.code(), server.heads().len()), (Some(503), 1));
    let server = serve(vec![answer("404 Not Found", "", ""), answer("200 OK", "", "x")]).await;
    assert_eq!(client().get(&server.url).send().await.unwrap_err().code(), Some(404));
    assert_eq!(server.heads().len(), 1, "what cannot pass is not repeated");
}

#[tokio::test]
async fn a_long_pause_that_is_asked_for_is_not_waited_for() {
    let server = serve(vec![answer("429 Too Many Requests", "retry-after: 3600\r\n", "")]).await;
    let started = Instant::now();
    let error = client().get(&server.url).send().await.unwrap_err();
    assert_eq!(error.retry_after(), Some(Duration::from_secs(3600)));
    assert!(started.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn a_write_is_not_carried_elsewhere() {
    let server = serve(vec![redirect("https://elsewhere.invalid/notes?x=1")]).await;
    let error = client().post(&server.url).json(&serde_json::json!({})).send().await.unwrap_err();
    let expected =
        format!("{} redirects to https://elsewhere.invalid, and nothing is written to another address", server.url);
    assert_eq!(error.to_string(), expected);
}

#[tokio::test]
async fn a_body_is_bounded_with_and_without_a_length() {
    let body = "x".repeat(1000);
    let lengthless = format!("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{body}");
    for scripted in [answer("200 OK", "", &body), lengthless] {
        let server = serve(vec![scripted.clone(), scripted]).await;
        assert!(matches!(client().get_bytes(&server.url, 999).await, Err(HttpError::TooLarge { limit: 999, .. })));
        assert_eq!(client().get_bytes(&server.url, 1000).await.unwrap().len(), 1000);
    }
}

#[tokio::test]
async fn a_slow_server_is_given_up() {
    let server = serve(vec!["HANG".to_owned()]).await;
    let error = client().get(&server.url).within(Duration::from_millis(200)).send().await.unwrap_err();
    assert!(matches!(error, HttpError::TimedOut { .. }), "{error}");
}

#[tokio::test]
async fn messages_hold_neither_token_nor_query_nor_a_second_line() {
    let said = format!(r#"{{"message":"bad token {TOKEN}\n::error::x"}}"#);
    let server = serve(vec![answer("401 Unauthorized", "", &said)]).await;
    let http = client();
    let call =
        http.get(&format!("{}/x?sig=signature", server.url)).credential("authorization", &format!("Bearer {TOKEN}"));
    assert!(!format!("{call:?}").contains(TOKEN));
    let error = call.send().await.unwrap_err();
    assert!(error.to_string().contains("HTTP 401: bad token ***\\n"), "{error}");
    let gone = client().get("http://127.0.0.1:1/x?sig=signature").send().await.unwrap_err();
    for text in [error.to_string(), gone.to_string(), format!("{error:?} {gone:?}")] {
        assert!(!text.contains("signature") && !text.contains(TOKEN) && !text.contains('\n'), "{text}");
    }
    assert!(matches!(gone, HttpError::Refused { .. }), "{gone}");
}

#[tokio::test]
async fn faults_are_told_apart() {
    let http = client();
    let plain = serve((0..3).map(|_| "this is no TLS".to_owned()).collect()).await;
    let error = http.get(&plain.url.replace("http:", "https:")).send().await.unwrap_err();
    assert!(matches!(error, HttpError::Tls { .. }), "{error:?}");
    let broken = serve((0..3).map(|_| "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nabc".to_owned()).collect()).await;
    let error = http.get(&broken.url).send().await.unwrap_err();
    assert!(matches!(error, HttpError::Broken { .. }), "{error:?}");
    for url in ["", "ftp://host/", "no address"] {
        assert!(matches!(http.get(url).send().await, Err(HttpError::Url { .. })));
    }
    let error = http.get(&plain.url).credential("private-token", "a\nb").send().await.unwrap_err();
    assert_eq!(error, HttpError::Header { name: "private-token" });
}

#[test]
fn a_private_ca_must_be_one() {
    let file = tempfile::NamedTempFile::new().unwrap();
    for text in ["", "nothing", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
        std::fs::write(file.path(), text).unwrap();
        let error = Http::new(Some(file.path())).unwrap_err();
        assert!(error.to_string().contains("it holds no certificate that can be trusted"), "{error}");
    }
    let error = Http::new(Some(Path::new("/nowhere/ca.pem"))).unwrap_err();
    assert!(error.to_string().starts_with("the CA file /nowhere/ca.pem is not usable: "), "{error}");
}

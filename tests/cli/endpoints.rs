//! What can be wrong with an address: exit 4, one message with the address, the cause and the next step.

use std::{
    io::{Read, Write},
    net::TcpListener,
    thread,
};

use super::bench::{Bench, Running, free_port, one_message};

fn refused(bench: &Bench, url: &str, error: &[&str], hint: &[&str]) {
    let ended = bench.run(&["run", "--connect-timeout", "3", "--url", url]);
    assert_eq!(ended.code, Some(4), "{url}: {}", ended.stderr);
    one_message(url, &ended.stderr, error, hint, |_| false);
}

#[test]
fn an_address_that_answers_something_else() {
    let bench = Bench::new();
    for (variant, error, hint) in [
        ("404", &["no MCP endpoint", "HTTP 404"][..], &["often /mcp"][..]),
        ("401", &["wants credentials", "HTTP 401"], &["--bearer", "--header"]),
        ("403", &["wants credentials", "HTTP 403"], &["--bearer", "--header"]),
        ("500", &["failed", "HTTP 500"], &["the server's own log"]),
        ("503", &["failed", "HTTP 503"], &["the server's own log"]),
        ("html", &["web page"], &["often /mcp"]),
        ("redirect", &["redirects to /elsewhere", "HTTP 307"], &["redirects are not followed"]),
        ("bearer", &["wants credentials", "HTTP 401"], &["--bearer"]),
    ] {
        let server = Running::toy(variant);
        let place = format!("http://127.0.0.1:{}", server.port);
        refused(&bench, &server.url(), &[error, &[place.as_str()]].concat(), hint);
    }
    let server = Running::toy("plain");
    refused(&bench, &format!("http://127.0.0.1:{}/other", server.port), &["/other", "HTTP 404"], &["often /mcp"]);
    let tls = format!("https://127.0.0.1:{}/mcp", server.port);
    refused(&bench, &tls, &[&tls, "cannot be reached"], &["plain http"]);
}

#[test]
fn an_address_that_cannot_be_reached() {
    let bench = Bench::new();
    let url = format!("http://127.0.0.1:{}/mcp", free_port());
    refused(&bench, &url, &[&url, "refused"], &["--start"]);
    refused(&bench, "http://no.such.host.invalid/mcp", &["no.such.host.invalid"], &["host's name"]);
    // What may be secret in an address is in no message.
    let secret = format!("http://user:hunter2@127.0.0.1:{}/mcp?key=hunter2", free_port());
    let ended = bench.run(&["run", "--url", &secret]);
    assert_eq!(ended.code, Some(4));
    assert!(!ended.stderr.contains("hunter2"), "{}", ended.stderr);
    assert!(!ended.stdout.contains("hunter2"), "{}", ended.stdout);
}

/// Accepts connections and answers each with these bytes.
fn answering(bytes: &'static [u8]) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(bytes);
        }
    });
    port
}

#[test]
fn a_port_that_speaks_another_protocol() {
    let bench = Bench::new();
    // A TLS alert, as a TLS server answers plain text.
    let url = format!("http://127.0.0.1:{}/mcp", answering(b"\x15\x03\x03\x00\x02\x02\x0a"));
    refused(&bench, &url, &[&url, "broke before it had answered"], &["https://"]);
    let url = format!("http://127.0.0.1:{}/mcp", answering(b""));
    refused(&bench, &url, &[&url, "broke before it had answered"], &["https://"]);
    let url = format!("http://127.0.0.1:{}/mcp", answering(b"SSH-2.0-OpenSSH_9.2\r\n"));
    refused(&bench, &url, &[&url], &["does not speak HTTP"]);
    let plain = b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n";
    let url = format!("http://127.0.0.1:{}/mcp", answering(plain));
    refused(&bench, &url, &[&url, "HTTP 400"], &["https://"]);
}

#[test]
fn a_silent_address_is_given_up() {
    let bench = Bench::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://127.0.0.1:{}/mcp", listener.local_addr().unwrap().port());
    let ended = bench.run(&["run", "--connect-timeout", "2", "--url", &url]);
    assert_eq!(ended.code, Some(4));
    one_message("silent", &ended.stderr, &[&url, "within 2 s"], &["--connect-timeout"], |_| false);
}

#[test]
fn credentials_are_read_from_the_environment_and_stay_out_of_reports() {
    let bench = Bench::new();
    let server = Running::toy("bearer");
    let words =
        ["run", "--url", &server.url(), "--bearer", "${MCP_TOKEN}", "--format", "json,text,markdown", "--out-dir", "d"];
    let ended = super::bench::ended(bench.command(&words).env("MCP_TOKEN", "toy-token").output().unwrap());
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    for file in ["d/sealmark-report.json", "d/sealmark-report.txt", "d/sealmark-report.md"] {
        let text = bench.read(file);
        assert!(!text.contains("toy-token"), "{file}");
        assert!(text.contains("MCP_TOKEN") || text.contains("MCP&#95;TOKEN"), "{file}: {text}");
    }
}

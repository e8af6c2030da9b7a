//! A model's address that gives one answer to everything.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::mpsc::{self, Receiver},
    thread,
};

use serde_json::Value;

pub(crate) struct ModelService {
    /// Each request: path, headers and body.
    pub(crate) seen: Receiver<String>,
    pub(crate) environment: Vec<(&'static str, String)>,
}

impl ModelService {
    /// Serves until the test's process ends.
    pub(crate) fn new(answer: &Value) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let key = "key-of-the-test".to_owned();
        let environment = match answer["form"].as_str().unwrap() {
            "openai" => vec![("OPENAI_BASE_URL", format!("{base}/v1")), ("OPENAI_API_KEY", key)],
            "anthropic" => vec![("ANTHROPIC_BASE_URL", base), ("ANTHROPIC_API_KEY", key)],
            form => panic!("no form {form}"),
        };
        let status = answer["status"].as_u64().unwrap_or(200);
        let body = answer["body"].to_string();
        let response = format!(
            "HTTP/1.1 {status} Any\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        );
        let (sender, seen) = mpsc::channel();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                sender.send(read_request(&stream)).unwrap();
                stream.write_all(response.as_bytes()).unwrap();
            }
        });
        Self { seen, environment }
    }
}

fn read_request(stream: &TcpStream) -> String {
    let mut reader = BufReader::new(stream);
    let mut request = String::new();
    let mut body_bytes = 0;
    loop {
        let mut line = String::new();
        assert!(reader.read_line(&mut line).unwrap() > 0, "the request ended in its head: {request}");
        if line == "\r\n" {
            break;
        }
        if let Some(number) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            body_bytes = number.trim().parse().unwrap();
        }
        request.push_str(&line);
    }
    let mut body = vec![0; body_bytes];
    reader.read_exact(&mut body).unwrap();
    // The path alone, as the other scripted node has it.
    let request = request.replacen("POST ", "", 1).replacen(" HTTP/1.1\r\n", "\n", 1);
    request + std::str::from_utf8(&body).unwrap()
}

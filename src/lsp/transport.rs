//! The protocol's frames on two streams: what an editor may make the server hold is bounded, and bad frames end the connection in words.

use lsp_server::{Connection, Message};
use std::io::{self, BufRead, Read, Write};
use std::sync::{Arc, OnceLock};
use std::thread;

/// The longest message taken, in bytes: far above any program, far below the memory of a machine.
const LONGEST: u64 = 64 << 20;
/// The longest line of a header, in bytes, and the most lines.
const LINE: u64 = 4096;
const LINES: usize = 32;

fn bad<T>(why: impl Into<String>) -> io::Result<T> {
    Err(io::Error::new(io::ErrorKind::InvalidData, why.into()))
}

/// One line of a header without its end; `None` where the input ends before it.
fn line(input: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut bytes = vec![];
    input.by_ref().take(LINE).read_until(b'\n', &mut bytes)?;
    if bytes.is_empty() {
        return Ok(None);
    }
    if bytes.pop() != Some(b'\n') {
        return bad("a line of a header has no end");
    }
    String::from_utf8(bytes).map(|s| Some(s.trim_end().to_owned())).or_else(|_| bad("a header is not text"))
}

/// How many bytes the next message has; `None` at the end of the input.
fn header(input: &mut impl BufRead) -> io::Result<Option<u64>> {
    let mut length = None;
    for i in 0..LINES {
        let Some(line) = line(input)? else {
            return if i == 0 { Ok(None) } else { bad("the input ends within a header") };
        };
        if line.is_empty() {
            return length.map_or_else(|| bad("a header has no Content-Length"), |n| Ok(Some(n)));
        }
        let Some((name, value)) = line.split_once(':') else { return bad("a line of a header has no colon") };
        if name.trim().eq_ignore_ascii_case("content-length") {
            let Ok(n) = value.trim().parse::<u64>() else { return bad("a Content-Length is not a number") };
            if n > LONGEST {
                return bad(format!("a message of {n} bytes is longer than {LONGEST}"));
            }
            length = Some(n);
        }
    }
    bad("a header has too many lines")
}

/// The next message; `None` at the end of the input. A whole frame whose text is not a message is passed over: there is no
/// request to answer, and the frames behind it can be read.
pub fn read(input: &mut impl BufRead) -> io::Result<Option<Message>> {
    while let Some(length) = header(input)? {
        // Memory follows what arrives, not what is announced.
        let mut body = vec![];
        input.by_ref().take(length).read_to_end(&mut body)?;
        if (body.len() as u64) < length {
            return bad("the input ends within a message");
        }
        if let Ok(message) = serde_json::from_slice(&body) {
            return Ok(Some(message));
        }
    }
    Ok(None)
}

/// Serves one editor over two streams until it leaves.
///
/// # Errors
/// A broken connection, or a frame that cannot be read.
pub fn over(
    mut input: impl BufRead + Send + 'static,
    mut output: impl Write + Send + 'static,
    serve: impl FnOnce(&Connection) -> Result<(), super::Failed>,
) -> Result<(), super::Failed> {
    let (server, Connection { sender, receiver }) = Connection::memory();
    let failed = Arc::new(OnceLock::new());
    let said = Arc::clone(&failed);
    // Not joined: after an error of the server it may wait for an editor that says nothing more.
    thread::Builder::new().name("reader".into()).spawn(move || {
        loop {
            match read(&mut input) {
                Ok(Some(message)) => {
                    let last = matches!(&message, Message::Notification(n) if n.method == "exit");
                    if sender.send(message).is_err() || last {
                        return;
                    }
                }
                Ok(None) => return,
                Err(why) => return drop(said.set(why)),
            }
        }
    })?;
    let writer = thread::Builder::new().name("writer".into()).spawn(move || receiver.into_iter().try_for_each(|m| m.write(&mut output)))?;
    let served = serve(&server);
    drop(server);
    let written = writer.join().unwrap_or_else(|_| bad("the writer ended"));
    if let Some(why) = failed.get() {
        return Err(why.to_string().into());
    }
    served?;
    Ok(written?)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn frame(body: &str) -> String {
        format!("Content-Length: {}\r\n\r\n{body}", body.len())
    }

    const NOTE: &str = r#"{"jsonrpc":"2.0","method":"initialized","params":{}}"#;

    #[test]
    fn frames_are_read_one_by_one() {
        let other = format!("content-type: text\r\nCONTENT-LENGTH:{}\n\n{NOTE}", NOTE.len());
        let text = frame(NOTE) + &frame("{no message") + &frame("\"\u{e9}\"") + &other;
        let mut input = text.as_bytes();
        for _ in 0..2 {
            assert!(matches!(read(&mut input).unwrap(), Some(Message::Notification(n)) if n.method == "initialized"));
        }
        assert!(read(&mut input).unwrap().is_none());
    }

    #[test]
    fn bad_frames_are_errors() {
        let long = format!("Content-Length: {}\r\n\r\n", LONGEST + 1);
        let endless = "x".repeat(1 << 20);
        let many = "a: b\r\n".repeat(1000);
        for (text, why) in [
            ("Content-Length: 18446744073709551615\r\n\r\n", "longer than"),
            ("Content-Length: 99999999999999999999999\r\n\r\n", "not a number"),
            ("Content-Length: -5\r\n\r\n", "not a number"),
            ("Content-Length: \r\n\r\n", "not a number"),
            (long.as_str(), "longer than"),
            ("Content-Length: 60000000\r\n\r\n{}", "within a message"),
            ("Content-Length: 5\r\n", "within a header"),
            ("\r\n", "no Content-Length"),
            ("hello\r\n", "no colon"),
            ("hello", "has no end"),
            (endless.as_str(), "has no end"),
            (many.as_str(), "too many lines"),
        ] {
            let said = read(&mut text.as_bytes()).unwrap_err().to_string();
            assert!(said.contains(why), "{why}: {said}");
        }
    }
}

//! `dpm certify`: the certificate of a program, made without any private data.

use super::{Certify, Exit, complain, files, inputs, print_json, progress, usage, verdict};
use crate::analyze::{self, Analysis, certificate_text};
use crate::pipeline::{self, Checked};
use crate::privacy::certificate::Certificate;
use crate::source::{Diagnostics, render};
use crate::verify::signed_text;
use ed25519_dalek::pkcs8::DecodePrivateKey;
use ed25519_dalek::{Signer, SigningKey};
use serde_json::json;
use std::path::Path;

/// Larger files do not contain a key.
const LARGEST_KEY: u64 = 1 << 20;

pub fn certify(args: &Certify) -> Exit {
    if args.order.iter().any(|o| !(*o > 1.0 && o.is_finite())) {
        return usage("--order wants a finite number above 1");
    }
    if args.delta.iter().any(|d| !(*d > 0.0 && *d < 1.0)) {
        return usage("--delta wants a number between 0 and 1");
    }
    let checked = match inputs::program(&args.program.file, &args.program.public.public) {
        Ok(c) => c,
        Err(exit) => return exit,
    };
    let (analysis, certificate, diagnostics) = match certified(&checked, &args.program.public.public, &args.order, &args.delta) {
        Ok(found) => found,
        Err(exit) => return exit,
    };
    let exit = verdict(&diagnostics);
    let Some(certificate) = certificate.filter(|_| exit == Exit::Done) else {
        if args.program.json {
            print_json(&render::json(&checked.sources, &diagnostics));
        } else {
            complain(&checked.sources, &diagnostics);
        }
        return if exit == Exit::Done { Exit::Bug } else { exit };
    };
    complain(&checked.sources, &diagnostics);
    let mut read = files::read(&args.program, &checked);
    read.extend(args.sign.clone());
    let output = match files::output(args.output.as_deref(), &read) {
        Ok(output) => output,
        Err(exit) => return exit,
    };
    let mut value = certificate.to_json();
    if let Some(path) = &args.sign
        && !sign(path, &mut value, &certificate.digest())
    {
        return Exit::Input;
    }
    if analysis.is_some_and(|a| a.releases.is_empty()) {
        match checked.program.tables.iter().any(|t| t.private) {
            true => say_line!("warning: this program releases nothing, so the certificate is that of no release"),
            false => say_line!("this program costs nothing: it reads no private rows"),
        }
    }
    let written = output.map_or(Exit::Done, |output| output.json(&value, 0));
    if written != Exit::Done {
        return written;
    }
    if args.program.json {
        print_json(&value);
    } else {
        show!("{}", certificate_text(&certificate));
    }
    exit
}

/// Signs the digest of a certificate or plan with the key in a file; says so if there is no such key.
pub fn sign(path: &Path, certificate: &mut serde_json::Value, digest: &str) -> bool {
    let pem = match pipeline::bytes(path, LARGEST_KEY) {
        Ok(bytes) => String::from_utf8(bytes).unwrap_or_default(),
        Err(why) => {
            say_line!("error: {}", inputs::unreadable(path, why));
            return false;
        }
    };
    let Ok(key) = SigningKey::from_pkcs8_pem(&pem) else {
        say_line!("error: {} does not contain an Ed25519 private key (PKCS#8, PEM)", path.display());
        return false;
    };
    let hex = |bytes: &[u8]| bytes.iter().map(|b| format!("{b:02x}")).collect::<String>();
    let value = key.sign(signed_text(digest).as_bytes()).to_bytes();
    if let Some(place) = certificate.get_mut("signature") {
        *place = json!({"algorithm": "ed25519", "key": hex(key.verifying_key().as_bytes()), "value": hex(&value)});
    }
    true
}

/// Public data, analysis, refusal of holes, certificate.
fn certified(
    checked: &Checked,
    public: &[String],
    orders: &[f64],
    deltas: &[f64],
) -> Result<(Option<Analysis>, Option<Certificate>, Diagnostics), Exit> {
    let bound = inputs::public(&checked.program, public)?;
    let (analysis, mut diagnostics) = progress::with_spinner("certifying", || pipeline::analyze(checked, &bound, false));
    let mut certificate = None;
    if let Some(analysis) = &analysis {
        diagnostics.extend(analyze::holes(analysis));
        certificate = progress::with_spinner("certifying", || pipeline::certify(checked, analysis, orders, deltas));
    }
    Ok((analysis, certificate, diagnostics))
}

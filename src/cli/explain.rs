//! `dpm explain NAME`: a page on a term, error code, rule, mechanism, distribution, function or keyword.

use super::Exit;

pub fn explain(name: &str) -> Exit {
    if name.is_empty() {
        show!("{}", crate::explain::index());
        return Exit::Done;
    }
    match crate::explain::page(name) {
        Some(page) => {
            show!("{page}");
            Exit::Done
        }
        None => {
            let names = crate::explain::names();
            let near = crate::source::suggest::did_you_mean(name, names.iter().map(String::as_str));
            match near {
                Some(n) => say_line!("error: there is no page on `{name}`; did you mean `{n}`?"),
                None => say_line!("error: there is no page on `{name}`; `dpm explain` lists all"),
            }
            Exit::Usage
        }
    }
}

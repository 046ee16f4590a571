//! Pages for `dpm explain`.
pub fn page(_: &str) -> Option<String> {
    None
}
pub fn index() -> String {
    String::new()
}
pub fn names() -> Vec<String> {
    vec![]
}

//! Pages (to come).

use super::Page;

pub fn pages() -> Vec<Page> {
    vec![]
}

//! The web page: static files without data, embedded in the binary.

use axum::Router;
use axum::response::IntoResponse as _;
use axum::routing::get;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};

/// The files' paths. They need no token; the data that the page loads does.
pub(super) const PATHS: &[&str] = &["/", "/page.js", "/style.css"];

const FILES: &[(&str, &str, &[u8])] = &[
    ("/", "text/html; charset=utf-8", include_bytes!("../../clients/web/dist/index.html")),
    (
        "/page.js",
        "text/javascript; charset=utf-8",
        include_bytes!("../../clients/web/dist/page.js"),
    ),
    ("/style.css", "text/css; charset=utf-8", include_bytes!("../../clients/web/dist/style.css")),
];

/// Only the page's own scripts run, and they call only this coop.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                      img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

pub(super) fn router() -> Router {
    FILES.iter().fold(Router::new(), |router, &(path, content_type, body)| {
        let headers = [
            (CONTENT_TYPE, content_type),
            (CONTENT_SECURITY_POLICY, POLICY),
            (X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (X_FRAME_OPTIONS, "DENY"),
            (CACHE_CONTROL, "no-cache"),
        ];
        router.route(path, get(async move || (headers, body).into_response()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_public_paths_are_exactly_the_files() {
        let files: Vec<_> = FILES.iter().map(|(path, _, _)| *path).collect();
        assert_eq!(files, PATHS);
    }
}

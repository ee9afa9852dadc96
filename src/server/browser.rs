//! What browsers are told and asked so that pages of other sites neither call coop nor read what it
//! answers, also where they send no Origin.

use axum::extract::Request;
use axum::response::Response;
use http::header::{HeaderName, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderValue, Method};

use super::page;
use crate::error::{Code, Error};

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const SEC_FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
const SEC_FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// Checks that a request that a browser sends without an Origin comes from coop's own page or from
/// the user. A link of another site may open the page itself. Other clients send no such header.
pub(super) fn check_site(request: &Request) -> Result<(), Error> {
    let headers = request.headers();
    let is = |name: &HeaderName, word: &str| headers.get(name).is_some_and(|value| value == word);
    let site = headers.get(&SEC_FETCH_SITE);
    let is_own = site.is_none_or(|site| site == "same-origin" || site == "none");
    let opens_the_page = request.method() == Method::GET
        && page::PATHS.contains(&request.uri().path())
        && is(&SEC_FETCH_MODE, "navigate")
        && is(&SEC_FETCH_DEST, "document");
    if is_own || opens_the_page {
        return Ok(());
    }
    Err(Error::new(
        Code::Forbidden,
        "a page of another site may not load this; allow its origin with --allow-origin, and \
         call with CORS",
    ))
}

/// Tells the browser not to guess content types, and not to give responses to pages of other sites.
pub(super) fn protect(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(RESOURCE_POLICY, HeaderValue::from_static("same-origin"));
    response
}

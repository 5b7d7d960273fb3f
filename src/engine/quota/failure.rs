//! A failed request to the model.

/// A request to the model that failed, as pi tells it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelFailure {
    /// The words of pi and of the provider.
    pub message: String,
    /// The status of the provider's response, where pi hands it on.
    pub status: Option<u16>,
    /// The headers of that response, in lower case.
    pub headers: Vec<(String, String)>,
}

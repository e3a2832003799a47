//! Which certificates are trusted.

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};

/// Why certificates cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrustError {
    /// The file cannot be read, or holds no certificate.
    #[error("{}: expected certificates in PEM format", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: Box<dyn Error + Send + Sync>,
    },
    /// TLS could not be set up.
    #[error("could not set up TLS")]
    Tls(#[from] rustls::Error),
}

/// Checks the PEM file `ca`; fails if [`client_config`] would.
pub fn check_certificates(ca: &Path) -> Result<(), TrustError> {
    add_certificates(ca, &mut RootCertStore::empty())
}

/// A configuration that trusts the certificates of the system (or of `SSL_CERT_FILE`), and those in the PEM file `ca`.
///
/// Fails if `ca` cannot be read or holds no certificate.
pub fn client_config(ca: Option<&Path>) -> Result<ClientConfig, TrustError> {
    let mut roots = RootCertStore::empty();
    // Without any, only plain HTTP works, and servers that `ca` covers.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if let Some(path) = ca {
        add_certificates(path, &mut roots)?;
    }
    Ok(ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth())
}

/// Adds the certificates in the PEM file at `path`.
fn add_certificates(path: &Path, roots: &mut RootCertStore) -> Result<(), TrustError> {
    let wrong = |source| TrustError::File { path: path.to_owned(), source };
    let certificates = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| wrong(error.into()))?;
    if certificates.is_empty() {
        return Err(wrong(io::Error::other("found none").into()));
    }
    for certificate in certificates {
        roots.add(certificate).map_err(|error| wrong(error.into()))?;
    }
    Ok(())
}
